"""Refuse parameters of an address that a view does not take, instead of ignoring them.

Every page, data file, figure and file is a view decorated with `takes`. A parameter that the view
does not take, that is repeated, or whose value is not allowed gives status 400 and a message: as a
page, as JSON, or as plain text for other files.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, Self

from django.core.paginator import EmptyPage, Page, PageNotAnInteger, Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _

from annotation.filters import FilterError, Filters
from annotation.filters.choice import LISTS, quoted
from annotation.filters.chosen import check
from annotation.models import Campaign
from annotation.web.errors import refuse
from core.messages import as_json
from metaeval.messages import Message, message

TITLE = _("This address is not valid")
View = Callable[..., HttpResponseBase]


@dataclass(frozen=True)
class Parameters:
    """The names that an output takes; those of `repeated` may occur several times."""

    names: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset(LISTS)

    def check(self, query: QueryDict) -> None:
        """Raise FilterError for the first parameter that is not taken, or is repeated."""
        for name, values in query.lists():
            if name not in self.names:
                raise FilterError(self._unknown(name))
            if len(set(values)) > 1 and name not in self.repeated:
                raise FilterError(
                    message(
                        "address.repeated",
                        "The parameter {name} has {n} values, and only one is allowed.",
                        name=quoted(name),
                        n=len(values),
                    )
                )

    def _unknown(self, name: str) -> Message:
        if not self.names:
            return message(
                "address.no-parameters",
                "This address takes no parameters, and {name} was given.",
                name=quoted(name),
            )
        return message(
            "address.unknown-parameter",
            "This address does not take the parameter {name}. It takes {known}.",
            name=quoted(name),
            known=sorted(self.names),
        )

    def and_others(self, *names: str, repeated: Iterable[str] = ()) -> Self:
        """Return these names and others."""
        others = frozenset((*names, *repeated))
        return type(self)(self.names | others, self.repeated | frozenset(repeated))


ALL = Parameters(frozenset(field.name for field in fields(Filters)))
# Raw judgments have all scales, both forms of a score and no intervals, and compare no metrics.
OF_METRICS = frozenset(("scores", "scale", "humans", "outliers"))
JUDGMENTS = Parameters(ALL.names - OF_METRICS - {"unit"})
NOTHING = Parameters()
SECRET, INCLUDED = "secret", "included"


def takes(parameters: Parameters | Callable[..., Parameters]) -> Callable[[View], View]:
    """Refuse other parameters, and answer FilterError with status 400.

    If the parameters depend on the address, they are a function of its variable parts, such as
    `fmt`. The decorated view has that function as `takes`.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                known(**kwargs).check(request.GET)
                return view(request, *args, **kwargs)
            except FilterError as error:
                return refused(request, error, kwargs.get("fmt", ""))

        def known(**at: Any) -> Parameters:
            return parameters if isinstance(parameters, Parameters) else parameters(**at)

        answer.takes = known  # type: ignore[attr-defined]
        return answer

    return decorate


def read_filters(request: HttpRequest, campaign: Campaign) -> Filters:
    """Return the filters of an address, checked against a campaign. Raises FilterError."""
    filters = Filters.from_query(request.GET)
    check(campaign, filters)
    return filters


def wants_secret(query: Mapping[str, str]) -> bool:
    """Return whether a campaign file should include the secret. Raises FilterError."""
    if (value := query.get(SECRET)) not in (None, INCLUDED):
        raise FilterError(
            message(
                "address.secret",
                "{name} must be “{known}”. It is “{value}”.",
                name=SECRET,
                known=INCLUDED,
                value=quoted(value),
            )
        )
    return SECRET in query


def refused(request: HttpRequest, error: FilterError, fmt: str = "") -> HttpResponseBase:
    """Answer 400 with the error: as a page, for data as JSON, for other files as text."""
    if fmt == "json":
        return JsonResponse({"error": str(error), "message": as_json(error.message)}, status=400)
    if fmt and fmt != "html":
        return HttpResponse(f"{error}\n", "text/plain; charset=utf-8", status=400)
    return refuse(request, 400, TITLE, error.message)


def page_of(request: HttpRequest, rows: Any, size: int) -> Page[Any]:
    """Return the page that `page=` names, the first without it.

    Raises FilterError if it is not a number, and Http404 after the last page.
    """
    asked = request.GET.get("page") or "1"
    try:
        return Paginator(rows, size).page(asked)
    except PageNotAnInteger as error:
        raise FilterError(
            message(
                "address.page",
                "page must be a whole number, 1 or more. It is “{value}”.",
                value=quoted(asked),
            )
        ) from error
    except EmptyPage as error:
        raise Http404 from error
