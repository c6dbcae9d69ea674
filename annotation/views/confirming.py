"""The page on which a person checks what files hold, corrects the choices, and stores it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from annotation.access import signed_in
from annotation.forms.columns import CHANGED, is_changed
from annotation.forms.preview import download
from annotation.imports import background
from annotation.uploads import OutdatedError, waiting
from annotation.uploads.waiting import ExpiredError, Sent
from core.messages import messages_of, sentences, translated
from metaeval.messages import Message


class Confirmation(ABC):
    """One request for the page of files that wait, under `token`.

    Choices are kept with the files: another choice is another token, so that only what was shown is
    stored. Large files are checked and stored by a worker. `expired` and `outdated` are sentences.
    """

    expired: ClassVar[Message]
    outdated: ClassVar[Message] = background.OUTDATED

    def __init__(self, request: HttpRequest, token: str) -> None:
        self.request, self.token, self.user = request, token, signed_in(request)
        self.data = request.POST if request.method == "POST" else None
        self.is_changed = False

    @property
    @abstractmethod
    def doors(self) -> tuple[str, ...]:
        """The kinds of imports that the page shows."""

    @property
    @abstractmethod
    def home(self) -> str:
        """The address of the page that takes files."""

    @property
    def back(self) -> str:
        """The address from which the same files can be sent again."""
        return self.home

    @abstractmethod
    def read(self, sent: Sent) -> Any:
        """Read and check files; None if their words are no longer valid."""

    @abstractmethod
    def look(self, checked: Any) -> Any:
        """Return what the page shows of files that were checked; it has a `report`."""

    @abstractmethod
    def forms(self, sent: Sent, look: Any) -> Sequence[BaseForm]:
        """Return the forms of all choices, bound if they were sent."""

    @abstractmethod
    def chosen(self, sent: Sent) -> Sent:
        """Return the files with the choices of the forms, which are valid."""

    @abstractmethod
    def store(self, checked: Any) -> HttpResponse:
        """Store what was checked. Raises ValidationError or OutdatedError."""

    @abstractmethod
    def page(self, sent: Sent, look: Any) -> HttpResponse:
        """Show files and forms."""

    def values(self, sent: Sent) -> Mapping[str, Any] | None:
        """Return what a worker must know beside the files."""
        return None

    def confirmed(self, row: Any, look: Any) -> Mapping[str, Any] | None:
        """Return the same with what was shown, which must still be what is stored."""
        return None

    def respond(self) -> HttpResponse:
        """Show what was found in files, and store it or read it anew."""
        try:
            return self._respond(waiting.recall(self.token, self.user.pk, *self.doors))
        except ExpiredError:
            messages.error(self.request, translated(self.expired))
            return redirect(self.home)

    def _respond(self, sent: Sent) -> HttpResponse:
        values = self.values(sent) or {}
        row = background.of_files(self.user, self.token, sent, values)
        if row is not None and any(row.choices.get(name) != each for name, each in values.items()):
            row = background.check_again(row, values)  # it was checked for another test set
        if row is not None and row.state != row.State.CHECKED:
            return redirect(row)
        checked = None
        if row is None and (checked := self.read(sent)) is None:
            return redirect(self.back)
        look = background.shown(row) if row else self.look(checked)
        forms = self.forms(sent, look)
        if self.data is not None and ("change" in self.data or any(map(is_changed, forms))):
            if "change" not in self.data:
                messages.warning(self.request, CHANGED)
            self.is_changed = True
            if not [form for form in forms if not form.is_valid()]:  # all show their errors
                return self.again(self.chosen(sent), row)
        elif self.data is not None and not look.report.errors:
            if row is not None:
                return redirect(background.confirm(row, self.confirmed(row, look)))
            try:
                return self.store(checked)
            except ValidationError as error:
                messages.error(self.request, sentences(messages_of(error)[:5]))
            except OutdatedError:
                messages.error(self.request, translated(self.outdated))
            return redirect(self.back)
        if "problems" in self.request.GET:
            return download(look.report)
        response = self.page(sent, look)
        response.status_code = 422 if look.report.errors or self.is_changed else 200
        response.is_preview = True  # type: ignore[attr-defined]  # its links have the token
        return response

    def again(self, sent: Sent, row: Any) -> HttpResponse:
        """Read the files again with other choices."""
        kept = waiting.keep(sent, self.user.pk)
        if row is not None:
            background.cancel(row)
        waiting.forget(self.token, self.user.pk)
        return redirect(f"{self.request.path}?check={kept}")
