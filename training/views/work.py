"""Pages of jobs and of translations: the list, cancelling, resuming."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.access import researcher_required
from annotation.models import listed
from annotation.web.live import render_live
from annotation.web.parameters import Parameters, page_of, takes
from core.messages import messages_of, sentences
from training.models import TrainingJob, Translation

Row = TypeVar("Row", TrainingJob, Translation)
View = Callable[..., HttpResponseBase]
PER_PAGE = 50


@dataclass(frozen=True)
class WorkPages(Generic[Row]):
    """The pages of jobs or of translations.

    `rows` are those that a user may see, `tab` is the name of the list. `ended` is the notice for
    a row that cannot be cancelled any more.
    """

    rows: Callable[[Any], QuerySet[Row]]
    ended: Promise
    tab: str
    cancelling: Callable[[Row], bool]
    resuming: Callable[[Row], None]
    more: Callable[[Any], Mapping[str, object]] = lambda page: {}

    def list(self) -> View:
        """Return the view of all rows."""

        def work_list(request: HttpRequest) -> HttpResponse:
            """Show all rows, newest first; htmx requests only the table."""
            page = page_of(request, listed(self.rows(request.user)), PER_PAGE)
            context = {
                "section": "server",
                "tab": self.tab,
                "page": page,
                "is_live": any(row.is_active for row in page),
                **self.more(page),
            }
            return render_live(request, f"training/{self.tab}.html", context)

        taken = takes(Parameters(frozenset({"page"})))(work_list)
        guarded = researcher_required(require_GET(taken))
        guarded.takes = taken.takes  # type: ignore[attr-defined]
        return guarded

    def cancel(self) -> View:
        """Return the view that cancels."""
        return self._post(self._cancel, "Cancel; what was saved stays.")

    def resume(self) -> View:
        """Return the view that resumes what ended early."""
        return self._post(self._resume, "Resume with a worker, from what was saved.")

    def _post(self, do: Callable[[HttpRequest, Row], None], about: str) -> View:
        def change(request: HttpRequest, pk: int) -> HttpResponse:
            row = get_object_or_404(self.rows(request.user), pk=pk)
            do(request, row)
            return redirect(row)

        change.__doc__ = about
        return researcher_required(require_POST(change))

    def _cancel(self, request: HttpRequest, row: Row) -> None:
        if self.cancelling(row):
            messages.success(request, _("Cancelled %(name)s.") % {"name": row})
        else:
            messages.info(request, str(self.ended))

    def _resume(self, request: HttpRequest, row: Row) -> None:
        try:
            self.resuming(row)
            notice = _("%(name)s will continue as soon as a worker is free.")
            messages.success(request, notice % {"name": row})
        except ValidationError as error:
            messages.error(request, sentences(messages_of(error)))
