"""Which parameters of an address an output takes; any other is refused, not ignored.

Every output (a page, its data, a figure, a file) is a view under `takes`. A parameter that it takes
acts; one that it does not take, that stands there twice, or whose value does not fit gives 400
with a sentence: as a page, as JSON, or as plain text for other files.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, Self

from django.core.paginator import EmptyPage, Page, PageNotAnInteger, Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.http.response import HttpResponseBase

from annotation.filters import FilterError, Filters
from annotation.filters.choice import LISTS
from annotation.filters.chosen import check
from annotation.models import Campaign
from annotation.web.errors import refuse

TITLE = "This address cannot be answered"
View = Callable[..., HttpResponseBase]


@dataclass(frozen=True)
class Parameters:
    """The names that an output takes; those of `repeated` may occur several times."""

    names: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset(LISTS)

    def check(self, query: QueryDict) -> None:
        """Raise FilterError for the first parameter that is not taken, or is there twice."""
        for name, values in query.lists():
            if name not in self.names:
                raise FilterError(f"{name} is not taken here; {self.sentence}")
            if len(set(values)) > 1 and name not in self.repeated:
                raise FilterError(f"{name} is given {len(values)} times, and one value is taken")

    @property
    def sentence(self) -> str:
        """What is taken, in words."""
        if not self.names:
            return "this address takes no parameter"
        return f"this address takes {', '.join(sorted(self.names))}"

    def and_others(self, *names: str, repeated: Iterable[str] = ()) -> Self:
        """Return these and others besides."""
        others = frozenset((*names, *repeated))
        return type(self)(self.names | others, self.repeated | frozenset(repeated))


ALL = Parameters(frozenset(field.name for field in fields(Filters)))
# Raw judgments have all scales, both forms of a score and no interval, and compare no metrics.
OF_METRICS = frozenset(("scores", "scale", "humans", "outliers"))
JUDGMENTS = Parameters(ALL.names - OF_METRICS - {"unit"})
NOTHING = Parameters()
SECRET, INCLUDED = "secret", "included"


def takes(parameters: Parameters | Callable[..., Parameters]) -> Callable[[View], View]:
    """Let a view answer addresses with these parameters alone, and refuse what raises FilterError.

    Where they differ by address, they are a function of what varies in it, such as `fmt`. The view
    has that function as `takes`.
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
    """Return the filters of an address, which a campaign can answer. Raises FilterError."""
    filters = Filters.from_query(request.GET)
    check(campaign, filters)
    return filters


def wants_secret(query: Mapping[str, str]) -> bool:
    """Return whether a campaign file is to hold the secret. Raises FilterError."""
    if (value := query.get(SECRET)) not in (None, INCLUDED):
        raise FilterError(f"{SECRET} is {value!r}, and only {INCLUDED!r} is taken")
    return SECRET in query


def refused(request: HttpRequest, error: FilterError, fmt: str = "") -> HttpResponseBase:
    """400 with the sentence: as a page, for data as JSON, for other files as text."""
    sentence = f"{error}."
    if fmt == "json":
        return JsonResponse({"error": sentence}, status=400)
    if fmt and fmt != "html":
        return HttpResponse(sentence + "\n", "text/plain; charset=utf-8", status=400)
    return refuse(request, 400, TITLE, sentence)


def page_of(request: HttpRequest, rows: Any, size: int) -> Page[Any]:
    """Return the page that `page=` names, the first without it.

    Raises FilterError for what is no number, and Http404 behind the last page.
    """
    asked = request.GET.get("page") or "1"
    try:
        return Paginator(rows, size).page(asked)
    except PageNotAnInteger as error:
        raise FilterError(f"page must be a whole number from 1, not {asked!r}") from error
    except EmptyPage as error:
        raise Http404 from error
