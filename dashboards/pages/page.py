"""Show a page: access, filters, the newest document, its formats and its figures.

A page of a campaign shows one document, a page of a study one per campaign. A reader's choices are
in the address: `Filters` and `Page.ask` change what is computed, `Page.choose` what is shown of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.request import QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import Resolver404, URLPattern, get_script_prefix, path, resolve, reverse
from django.utils import translation
from django.views.decorators.http import require_safe

from annotation.access import campaign_for_reader, researcher_required, visible_campaigns
from annotation.filters import Filters
from annotation.filters.chosen import check, fitted
from annotation.filters.form import filter_choices
from annotation.models import Campaign
from annotation.web.parameters import OF_METRICS, Parameters, takes
from dashboards.charts import files as figures
from dashboards.charts.files import Draws
from dashboards.documents import kinds, results
from dashboards.documents.head import units_among
from dashboards.pages import papertable
from dashboards.pages.answers import (
    cells,
    data_query,
    data_response,
    empty,
    is_unfinished,
    no_document,
    parameters,
    public,
    require_measures,
)
from dashboards.panel.choice import PooledChoice
from dashboards.papers import latex
from dashboards.trust.marks import INTERVALS, PARTS
from dashboards.trust.shown import comments, judged, pooled, with_trust, worst_of
from metaeval.messages import Message

# The type of a page: the document of an analysis, or the part that a reader chose.
D = TypeVar("D")
View = Callable[..., HttpResponseBase]
PRINTED = ("pdf", "png")


def _nothing(*_: Any) -> dict[str, Any]:
    return {}


def _everything(document: Any, query: QueryDict) -> Any:
    return document


def _rows(document: Any) -> Sequence[Any]:
    rows: Sequence[Any] = document.rows
    return rows


@dataclass(frozen=True)
class Page(Generic[D]):
    """One page: its address and tab, the analysis behind it, its template, and its CSV.

    Attributes
    ----------
    columns
        Attributes of the objects that `rows` returns from the document.
    context
        Adds to the template's context, from the request, the page's subject (a campaign, or a
        study's name) and the document. Must be cheap, because it runs in the web process.
    ask, choose
        Return the question to the analysis (`kinds.compute`) beyond the filters, and the part of a
        document that the reader chose, perhaps of another class. Both raise FilterError.
    slower, complete, part
        An analysis of the same question, the function that adds its document once it exists, and
        what that document is called.
    tab
        The page of the navigation that this one belongs to, if not itself.
    tables, joins
        The document as LaTeX, by default the rows of the CSV, and whether other statistics can
        join its first table (`dashboards.papers.shaping.joined`).
    figures
        Functions that draw each figure.
    statistics, statistic
        The page's own statistics by key, if it has any, and the default one.
    takes, repeated, on_page
        Parameters that `ask`, `choose` and `context` read, those that may be repeated, and those
        that only the page has, not its data.
    verify
        Raises FilterError for a value that a campaign lacks.
    has_scores, has_unit, without
        Whether the reader can choose the form of human scores and the compared systems; whether
        there are intervals, and so a unit; other filters without effect on the page.
    """

    name: str
    title: Message
    kind: str
    template: str
    columns: Sequence[str]
    rows: Callable[[D], Sequence[Any]] = field(default=_rows)
    context: Callable[[HttpRequest, Any, D], dict[str, Any]] = field(default=_nothing)
    ask: Callable[[QueryDict], str] = field(default=lambda query: "")
    choose: Callable[[Any, QueryDict], D] = field(default=_everything)
    slower: str = ""
    complete: Callable[[Any, results.Completion[Any]], Any] | None = None
    part: Message = PARTS[INTERVALS]
    tab: str = ""
    tables: Callable[[D], Sequence[latex.Table]] | None = None
    joins: bool = False
    figures: Draws = field(default_factory=dict)
    statistics: Mapping[str, Message | str] = field(default_factory=dict)
    statistic: str = ""
    takes: Sequence[str] = ()
    repeated: Sequence[str] = ()
    on_page: Sequence[str] = ()
    verify: Callable[[Campaign, Any], Any] = field(default=_nothing)
    has_scores: bool = True
    without: Sequence[str] = ()
    has_unit: bool = True

    @property
    def has_table(self) -> bool:
        """Whether there is a table for a paper; templates would call `tables`."""
        return self.tables is not None

    @property
    def parameters(self) -> Callable[..., Parameters]:
        """Parameters of each address of the page: itself, with `fmt` its data, or a `figure`."""
        without = [*self.without, *(() if self.has_scores else OF_METRICS)]
        without += [] if self.has_unit else ["unit"]
        return parameters(self.kind, self.takes, self.repeated, self.on_page, without)

    def latest(self, query: QueryDict, campaign: Campaign, filters: Filters) -> results.Result[Any]:
        """Return the newest document for an address of a campaign, with the verdict."""
        question = self.ask(query)
        found = results.latest(_named(self.kind, question), campaign, filters)
        if self.complete is not None:
            second = results.latest(_named(self.slower, question), campaign, filters)
            found = results.completed(found, second, self.complete, self.part)
        return with_trust(found, campaign, filters)

    def of_study(self, **others: Any) -> "StudyPage[Any]":
        """Return the page of a study; `others` are the attributes that differ."""
        same = {each.name: getattr(self, each.name) for each in fields(Page)}
        return StudyPage(**same | {"figures": {}} | others)


def _named(kind: str, question: str) -> str:
    """Return an analysis with its question, as `kinds.compute` takes them."""
    return f"{kind}:{question}" if question else kind


@dataclass(frozen=True)
class StudyPage(Page[D]):
    """A page of a study; `combine` turns campaigns and their documents into one document.

    With `is_pooled`, a worker computes one document of all campaigns (`PooledChoice`) instead. The
    page has its own figures, not those of a campaign; its `context` gets the study's name.
    """

    combine: Callable[[Sequence[Campaign], Sequence[Any]], Any] = field(default=_nothing)
    is_pooled: bool = False


@dataclass(frozen=True)
class _Shown(Generic[D]):
    """A request's newest result.

    Data are at `files` with an extension, figures below it. `subject` is the campaign or the
    study's name, `about` the context of templates on it.
    """

    page: Page[D]
    filters: Filters
    campaigns: Sequence[Campaign]
    result: results.Result[Any]
    query: QueryDict
    filename: str
    files: str
    subject: Campaign | str
    about: dict[str, Any]

    @cached_property
    def document(self) -> D | None:
        """The part of the result that the reader chose, computed only where it is needed."""
        found = self.result.document
        return None if found is None else self.page.choose(found, self.query)

    @cached_property
    def context(self) -> dict[str, Any]:
        """What the templates of all pages need."""
        page, filters = self.page, self.filters
        choices = filter_choices(
            self.query,
            self.campaigns,
            filters,
            has_scores=page.has_scores,
            has_unit=page.has_unit,
        )
        return self.about | {
            "tab": page.tab or page.name,
            "page": page,
            "filters": filters,
            "filter_choices": choices,
            "query": data_query(self.query, page.on_page),
            "files": self.files,
            "has_csv": _has_csv(self.files),
            "result": self.result,
            "document": self.document,
            "empty": empty(self.campaigns),
        }


def _has_csv(files: str) -> bool:
    """Return whether the numbers of a page are at an address of their own: not those of files."""
    try:
        name = resolve(f"{files}.csv").url_name or ""
    except Resolver404:
        return False
    return name.endswith("-data")


def view(page: Page[Any], *, is_table: bool = False) -> View:
    """Return the view of a page; with `fmt` its data as json, csv or tex.

    With `is_table` it shows the page's table for a paper (`dashboards.pages.papertable`).
    """
    answer = papertable.answer if is_table else _answer

    @researcher_required
    @require_safe
    @takes(papertable.parameters(page.parameters) if is_table else page.parameters)
    def show(request: HttpRequest, slug: str, fmt: str = "", figure: str = "") -> HttpResponseBase:
        if isinstance(page, StudyPage):
            return answer(request, _of_study(request, page, slug), fmt, figure)
        return answer(request, _of_campaign(request, page, slug), fmt, figure)

    show.__doc__ = f"{page.title}: the page; with an extension its data, or one of its figures."
    return show


def routes(page: Page[Any]) -> list[URLPattern]:
    """Return the addresses of a page: itself, its data, its figures, its table for a paper."""
    is_of_study = isinstance(page, StudyPage)
    address = f"{'studies' if is_of_study else 'campaigns'}/<slug:slug>/{page.name}"
    name, shown = f"study-{page.name}" if is_of_study else page.name, view(page)
    return [
        path(f"{address}/", shown, name=name),
        path(f"{address}.<str:fmt>", shown, name=f"{name}-data"),
        path(f"{address}/figures/<slug:figure>.<str:fmt>", shown, name=f"{name}-figure"),
        *(table_routes(page, address, name) if page.tables else ()),
    ]


def table_routes(page: Page[Any], address: str, name: str) -> list[URLPattern]:
    """Return the addresses of a page's table for a paper."""
    shown = view(page, is_table=True)
    return [
        path(f"{address}/table/", shown, name=f"{name}-table"),
        path(f"{address}/table.<str:fmt>", shown, name=f"{name}-table-file"),
    ]


def study_campaigns(request: HttpRequest, slug: str) -> list[Campaign]:
    """The campaigns of a study that the user may read; 404 where they may read none."""
    visible = visible_campaigns(request.user).filter(study=slug)
    campaigns = campaigns_in_order(visible.exclude(status=Campaign.Status.DRAFT))
    if not campaigns and not visible.exists():
        raise Http404
    return campaigns


def campaigns_in_order(rows: QuerySet[Campaign]) -> list[Campaign]:
    """Return the campaigns of a study in the order of its columns: the longest outputs first."""
    order = ("test_set__source_language", "-length_ratio", "name")
    return list(rows.select_related("test_set").order_by(*order))


def _of_campaign(request: HttpRequest, page: Page[D], slug: str) -> _Shown[D]:
    campaign = campaign_for_reader(request, slug)
    filters = kinds.filters_of(page.kind).from_query(request.GET)
    check(campaign, filters)
    require_measures(request.GET, [campaign])
    page.verify(campaign, filters)
    result = page.latest(request.GET, campaign, filters)
    return _Shown(
        page,
        filters,
        [campaign],
        result,
        request.GET,
        filters.file_name(f"{slug}-{page.name}"),
        request.path.removesuffix("/"),
        campaign,
        {"campaign": campaign, "section": "campaigns"},
    )


def _of_study(request: HttpRequest, page: StudyPage[D], slug: str) -> _Shown[D]:
    campaigns = study_campaigns(request, slug)
    # A study's own address shows its first page, so the files of a page need its name.
    files = f"{get_script_prefix()}studies/{slug}/{page.name}"
    return _of_all(request, page, campaigns, slug, files, {"study": slug})


def show_all(
    request: HttpRequest,
    page: StudyPage[Any],
    campaigns: Sequence[Campaign],
    name: str,
    about: dict[str, Any],
    fmt: str = "",
    figure: str = "",
) -> HttpResponseBase:
    """Answer with a page of any campaigns, its data at the address that has this name."""
    files = reverse(name).removesuffix("/")
    return _answer(request, _of_all(request, page, campaigns, name, files, about), fmt, figure)


def _of_all(
    request: HttpRequest,
    page: StudyPage[D],
    campaigns: Sequence[Campaign],
    name: str,
    files: str,
    about: dict[str, Any],
) -> _Shown[D]:
    filters = kinds.filters_of(page.kind).from_query(request.GET)
    require_measures(request.GET, campaigns)
    if page.is_pooled and isinstance(filters, PooledChoice):
        result = pooled(_named(page.kind, page.ask(request.GET)), campaigns, filters)
    else:
        found = [
            page.latest(request.GET, campaign, fitted(campaign, campaigns, filters))
            for campaign in campaigns
        ]
        result = results.together(found, lambda documents: _combined(page, campaigns, documents))
    return _Shown(
        page,
        filters,
        campaigns,
        result,
        request.GET,
        filters.file_name(f"{name}-{page.name}"),
        files,
        name,
        {"campaigns": campaigns, "section": "studies", **about},
    )


def _combined(page: StudyPage[Any], campaigns: Sequence[Campaign], documents: Sequence[Any]) -> Any:
    combined = replace(page.combine(campaigns, documents), units=units_among(documents))
    return judged(combined, worst_of([document.trust for document in documents]))


def _answer(request: HttpRequest, shown: _Shown[Any], fmt: str, figure: str) -> HttpResponseBase:
    result, page = shown.result, shown.page
    if fmt:
        return _file(request, shown, fmt, figure)
    if request.headers.get("If-None-Match") == result.tag:
        return HttpResponseNotModified()
    context = {**shown.context}
    if shown.document:
        context["figures"] = figures.figures(
            page.figures, shown.document, f"{shown.files}/", context["query"]
        )
        context |= page.context(request, shown.subject, shown.document)
    response = render(request, page.template, context)
    # For the page's script, which asks whether there are newer numbers.
    response["ETag"] = result.tag
    return response


def _file(request: HttpRequest, shown: _Shown[Any], fmt: str, figure: str) -> HttpResponseBase:
    """Answer with the document or a figure; 202 with Retry-After while a part is missing."""
    result, is_study = shown.result, isinstance(shown.page, StudyPage)
    if shown.document is None or is_unfinished(result, of_one_state=is_study):
        return no_document(result)
    if figure:
        return _figure(request, shown, shown.document, fmt, figure)
    as_of = result.as_of.isoformat(timespec="seconds") if result.as_of else None
    if fmt == "tex":
        return _latex(shown, shown.document, as_of)
    page, filters = shown.page, shown.filters.as_json()
    document = public(shown.document, as_of=as_of, is_fresh=result.is_fresh, filters=filters)
    rows = page.rows(shown.document)
    return data_response(fmt, shown.filename, page.columns, rows, document)


def _figure(
    request: HttpRequest, shown: _Shown[D], document: D, fmt: str, name: str
) -> HttpResponseBase:
    # Figures for papers are in English like all files.
    with translation.override("en" if fmt in PRINTED else translation.get_language()):
        found: Mapping[str, figures.Figure] = figures.figures(shown.page.figures, document, "", "")
    if name not in found:
        raise Http404
    return figures.response(request, found[name], fmt, shown.filename)


def _latex(shown: _Shown[D], document: D, as_of: str | None) -> HttpResponse:
    words = "; ".join(map(str, shown.filters.words))
    about = f"{shown.filename}, as of {as_of}"
    known, over = public(document), getattr(document, "over", None)
    notes = [about, words and f"filters: {words}", known.get("intervals_note")]
    lines = "".join(f"% {' '.join(str(note).split())}\n" for note in notes if note)
    tables = shown.page.tables(document) if shown.page.tables else [_plain_table(shown, document)]
    return latex.response(
        with_units(tables, over), shown.filename, head=lines + comments(known.get("trust"))
    )


def with_units(tables: Sequence[latex.Table], over: Message | str | None) -> list[latex.Table]:
    """Return tables, with the unit of intervals in the caption of the first."""
    return [
        replace(each, caption=[each.heading, over]) if place == 0 else each
        for place, each in enumerate(tables)
    ]


def _plain_table(shown: _Shown[D], document: D) -> latex.Table:
    """The rows of the CSV."""
    page = shown.page
    rows = cells(page.rows(document), page.columns)
    return latex.plain_table(str(page.title), shown.filename, page.columns, rows)
