"""Show campaigns and published columns side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from decimal import Decimal, InvalidOperation
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotation.access import researcher_required, visible_campaigns
from annotation.filters import FilterError, Filters
from annotation.filters.chosen import fitted
from annotation.filters.form import filter_choices, own_parameters
from annotation.models import Campaign
from annotation.web.parameters import ALL, takes
from core import numbers
from dashboards.comparisons.selection import one_of
from dashboards.documents import results
from dashboards.pages.answers import data_response, is_unfinished, no_document, public
from dashboards.pages.page import Page, with_units
from dashboards.papers import latex
from dashboards.papers.latex import Cell, Table, estimate, number, texts
from dashboards.published import published
from dashboards.trust.shown import comments, with_trust
from extensions.comparison.differences import (
    CORRELATIONS,
    Across,
    Column,
    Comparison,
    Head,
    Row,
    sections,
    side_by_side,
)
from extensions.comparison.document import Side
from metaeval.messages import Message, message

SECTIONS = {
    "correlations": ("Metric", "{statistic}, with 95% intervals."),
    "systems": ("System", "Mean human score of each system, with 95% intervals."),
    "quality": ("Statistic", "Judgments, times, traps and agreement, with 95% intervals."),
}


def latex_tables(
    columns: Sequence[Head], lines: Mapping[str, Sequence[Across]], statistic: Message
) -> list[Table]:
    """Return one table per section with lines; Δ is the difference from the first column."""
    return [
        _table(section, columns, found, statistic)
        for section in SECTIONS
        if (found := lines[section])
    ]


def _table(
    section: str, columns: Sequence[Head], lines: Sequence[Across], statistic: Message
) -> Table:
    first, caption = SECTIONS[section]
    heads = [Cell(columns[0].label), *(Cell(one.label, span=2) for one in columns[1:])]
    under = ["", *(name for _ in columns[1:] for name in ("", "Δ"))]
    sources = [f"{one.label}: {one.source}" for one in columns if one.source]
    return Table(
        [caption.format(statistic=statistic), "Δ: difference from the first column."],
        f"compare-{section}",
        "lr" + "rr" * (len(columns) - 1),
        [[Cell(""), *heads], texts(first, *under)],
        [_line(line) for line in lines],
        sources,
    )


def _line(line: Across) -> list[Cell]:
    base, *others = line.cells
    cells = [Cell(str(line.label)), _value(base, line.places)]
    for one in others:
        cells += [_value(one, line.places), _change(one, line.places)]
    return cells


def _value(one: Row, places: int) -> Cell:
    return estimate(one.value, one.low, one.high, places)


def _change(one: Row, places: int) -> Cell:
    if one.difference is None:
        return Cell("–")
    text = number(one.difference, places).text
    sign = "" if text.startswith("−") else "+"
    ends = numbers.interval((one.difference_low, one.difference_high), places)
    return Cell(f"{sign}{text} {ends}".rstrip())


MOST_COLUMNS = 6
DATA = [each.name for each in fields(Row)]
PAGE: Page[Any] = Page(
    "compare",
    message("page.compare", "Compare"),
    "compare",
    "comparison/page.html",
    DATA,
    statistics=CORRELATIONS,
)
# What the form shows of every campaign.
OFFERED = ("slug", "name", "study", "length_ratio", "test_set__source_language",
           "test_set__target_language")  # fmt: skip
PARAMETERS = ALL.and_others("study", "length", "of", repeated=("campaign", "published"))


@researcher_required
@require_safe
@takes(PARAMETERS)
def compare(request: HttpRequest, fmt: str = "") -> HttpResponseBase:
    """Show campaigns and published tables side by side; with `fmt` as json, csv or tex."""
    filters = Filters.from_query(request.GET)
    campaigns = _campaigns(request)
    tables = _published(request)
    if len(campaigns) + len(tables) > MOST_COLUMNS:
        raise FilterError(
            message(
                "compare.too-many-columns",
                "Choose at most {most} campaigns and published tables.",
                most=MOST_COLUMNS,
            )
        )
    if filters.words and not campaigns:
        raise FilterError(
            message(
                "compare.no-filters",
                "Filters need a campaign: published tables have no judgments to filter.",
            )
        )
    asked = [fitted(campaign, campaigns, filters) for campaign in campaigns]
    of = one_of(request.GET, "of", list(CORRELATIONS))
    found = [
        with_trust(results.latest("compare", campaign, each), campaign, each)
        for campaign, each in zip(campaigns, asked, strict=True)
    ]
    columns = [
        Column(one.slug, one.name, result.document)
        for one, result in zip(campaigns, found, strict=True)
    ] + [Column(one.key, f"{one.title}, {one.label}", published=one) for one in tables]
    result = _together(found, columns)
    if fmt:
        return _data(result, columns, fmt, of, filters)
    if request.headers.get("If-None-Match") == result.tag:
        return HttpResponseNotModified()
    context = {
        "page": PAGE,
        "filters": filters,
        "query": f"?{request.GET.urlencode()}" if request.GET else "",
        "filter_choices": filter_choices(request.GET, campaigns, filters) if campaigns else None,
        "result": result,
        "document": result.document,
        "files": request.path.removesuffix("/"),
        "columns": columns,
        "others": own_parameters(request.GET),
        "section": "studies",
        "tab": "compare",
        **_offers(request, campaigns, tables),
    }
    if result.document:
        context |= _tables(result.document.rows, of)
    response = render(request, PAGE.template, context)
    response["ETag"] = result.tag
    return response


def _campaigns(request: HttpRequest) -> list[Campaign]:
    """Return the chosen campaigns in their order, or those of a study (of one length ratio).

    404 for a campaign that does not exist or that the user must not see; FilterError for both.
    """
    for name in ("study", "length"):
        if request.GET.get("campaign") and request.GET.get(name):
            raise FilterError(
                message(
                    "compare.campaign-and-study",
                    "campaign and {parameter} cannot be combined.",
                    parameter=name,
                )
            )
    if request.GET.get("length") and not request.GET.get("study"):
        raise FilterError(message("compare.length-needs-study", "length needs a study."))
    visible = visible_campaigns(request.user).select_related("test_set")
    slugs = list(dict.fromkeys(request.GET.getlist("campaign")))
    if slugs:
        by_slug = {row.slug: row for row in visible.filter(slug__in=slugs)}
        if len(by_slug) < len(slugs):
            raise Http404
        return [by_slug[slug] for slug in slugs]
    study = request.GET.get("study")
    if not study:
        return []
    rows = visible.filter(study=study).exclude(status=Campaign.Status.DRAFT)
    if not visible.filter(study=study).exists():
        raise Http404
    if ratio := request.GET.get("length", ""):
        rows = rows.filter(length_ratio=_ratio(ratio))
    return list(rows.order_by("test_set__source_language", "-length_ratio", "name")[:MOST_COLUMNS])


def _ratio(text: str) -> Decimal:
    try:
        ratio = Decimal(text)
    except InvalidOperation:
        ratio = Decimal("NaN")
    if not ratio.is_finite():
        raise FilterError(
            message(
                "compare.length", "length must be a ratio such as 0.8, not “{value}”.", value=text
            )
        )
    return ratio


def _published(request: HttpRequest) -> list[Any]:
    keys = [key for key in dict.fromkeys(request.GET.getlist("published")) if key]
    unknown = [key for key in keys if key not in published()]
    if unknown:
        raise FilterError(
            message(
                "compare.no-table",
                "published: these tables do not exist: {tables}.",
                tables=unknown,
            )
        )
    return [published()[key] for key in keys]


def _together(
    found: Sequence[results.Result[Side]], columns: Sequence[Column]
) -> results.Result[Comparison]:
    """Return one result of all columns; without any column there is no document."""
    if not columns:
        return results.Result(None, None, is_fresh=True)
    return results.together(found, lambda documents: side_by_side(columns, documents))


def _data(
    result: results.Result[Comparison],
    columns: Sequence[Column],
    fmt: str,
    of: str,
    filters: Filters,
) -> HttpResponseBase:
    if columns and is_unfinished(result, of_one_state=True):
        return no_document(result)
    document = result.document or Comparison()
    name = filters.file_name("comparison")
    if fmt == "tex":
        lines = sections(document.rows, of)
        found = latex_tables(document.columns, lines, CORRELATIONS[of])
        return latex.response(with_units(found, document.over), name, head=comments(document.trust))
    as_of = result.as_of.isoformat(timespec="seconds") if result.as_of else None
    data = public(document, as_of=as_of, is_fresh=result.is_fresh, filters=filters.as_json())
    return data_response(fmt, name, DATA, document.rows, data)


def _offers(
    request: HttpRequest, campaigns: Sequence[Campaign], tables: Sequence[Any]
) -> dict[str, Any]:
    """Return the choices of the form: campaigns, published columns, length ratios of a study."""
    rows = visible_campaigns(request.user).exclude(status=Campaign.Status.DRAFT)
    study = request.GET.get("study", "")
    ratios = rows.filter(study=study).order_by("-length_ratio") if study else rows.none()
    chosen, shown = {one.pk for one in campaigns}, {one.key for one in tables}
    return {
        "offered": [
            (row, row.pk in chosen)
            for row in rows.select_related("test_set").only(*OFFERED).order_by("study", "name")
        ],
        "offered_tables": [(one, one.key in shown) for one in published().values()],
        "study": study,
        "ratios": list(dict.fromkeys(ratios.values_list("length_ratio", flat=True))),
    }


def _tables(rows: Sequence[Row], of: str) -> dict[str, Any]:
    """Return lines for the three tables of the page; correlations of the chosen statistic only."""
    return {**sections(rows, of), "statistic": CORRELATIONS[of]}


urlpatterns = [
    path("compare/", compare, name="compare"),
    path("compare.<str:fmt>", compare, name="compare-data"),
]
