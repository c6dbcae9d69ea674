"""List studies, and show any campaigns as a study by address."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotation.access import researcher_required, visible_campaigns
from annotation.filters import FilterError, Filters
from annotation.filters.chosen import fitted
from annotation.models import Campaign
from annotation.web.parameters import Parameters, page_of, takes
from dashboards.charts.style import Spec, figure
from dashboards.comparisons.document import Comparison, Pair, Shown
from dashboards.documents import results
from dashboards.documents.head import StudyDocument
from dashboards.downloads import DOCUMENT, REPORT
from dashboards.pages.page import routes, show_all, study_campaigns, table_routes, view
from dashboards.papers import latex
from dashboards.papers.averages import warnings_of
from dashboards.quality.document import Quality
from dashboards.quality.page import QUALITY
from dashboards.significance.page import SIGNIFICANCE, grid, lines, tables
from dashboards.significance.pairs import LABELS, QUESTION, choose, darker, outlined, panel
from dashboards.trust.shown import worst_of
from extensions.studies.metrics import PRINTED, STUDY
from extensions.studies.system_page import study_systems
from extensions.studies.wmt_page import study_wmt
from metaeval.messages import Message, message

# The most columns of a screen.
MOST_COLUMNS = 12
PER_PAGE = 20
MATRIX = replace(STUDY, template="studies/matrix.html", repeated=(*STUDY.repeated, "campaign"))


@researcher_required
@takes(Parameters(frozenset({"page"})))
def studies(request: HttpRequest) -> HttpResponse:
    """List all studies."""
    campaigns = visible_campaigns(request.user).exclude(study="")
    rows = campaigns.values("study").annotate(n=Count("pk")).order_by("study")
    context = {"page": page_of(request, rows, PER_PAGE), "section": "studies"}
    return render(request, "studies/list.html", context)


@researcher_required
@require_safe
@takes(MATRIX.parameters)
def matrix(request: HttpRequest, fmt: str = "", figure: str = "") -> HttpResponseBase:
    """Show the campaigns of the address, or a published table, as a study's first page."""
    visible = visible_campaigns(request.user).exclude(status=Campaign.Status.DRAFT)
    chosen = _chosen(request, visible.select_related("test_set"))
    filters = Filters.from_query(request.GET)
    if filters.words and not chosen:
        raise FilterError(
            message(
                "study.no-filters",
                "Filters need a campaign: published tables have no judgments to filter.",
            )
        )
    studies: dict[str, list[tuple[Campaign, bool]]] = {}
    rows = visible.only("slug", "name", "study").order_by("name")
    for row in rows:
        studies.setdefault(row.study, []).append((row, row in chosen))
    about = {
        "n_offered": len(rows),
        "alone": studies.pop("", []),
        "by_study": [
            (study, offered, sum(is_chosen for _, is_chosen in offered))
            for study, offered in sorted(studies.items())
        ],
    }
    return show_all(request, MATRIX, chosen, "matrix", about, fmt, figure)


def _chosen(request: HttpRequest, visible: QuerySet[Campaign]) -> list[Campaign]:
    """Return the campaigns of the address in its order; 404 for one that the user must not see."""
    slugs = list(dict.fromkeys(request.GET.getlist("campaign")))
    if len(slugs) > MOST_COLUMNS:
        raise FilterError(
            message("study.too-many-columns", "Choose at most {most} campaigns.", most=MOST_COLUMNS)
        )
    known = {row.slug: row for row in visible.filter(slug__in=slugs)}
    if len(known) < len(slugs):
        raise Http404
    return [known[slug] for slug in slugs]


@dataclass(frozen=True, kw_only=True)
class QualityOfStudy(StudyDocument):
    """The campaigns of a study below each other, as in tables 2-5 of Cheng et al. 2023."""

    campaigns: Sequence[Quality]


def combine_quality(campaigns: Sequence[Campaign], documents: Sequence[Quality]) -> QualityOfStudy:
    """Combine the documents."""
    return QualityOfStudy(study=campaigns[0].study if campaigns else "", campaigns=documents)


def quality_context(request: HttpRequest, study: str, document: QualityOfStudy) -> dict[str, Any]:
    """Return every document with its campaign."""
    slugs = [each.campaign for each in document.campaigns]
    campaigns = {
        row.slug: row for row in Campaign.objects.filter(slug__in=slugs).select_related("test_set")
    }
    return {"lines": [(campaigns[each.campaign], each) for each in document.campaigns]}


STUDY_QUALITY = QUALITY.of_study(
    template="studies/quality.html",
    rows=lambda document: [row for each in document.campaigns for row in each.annotators],
    context=quality_context,
    combine=combine_quality,
)


@researcher_required
@require_safe
@takes(lambda **at: REPORT.parameters("html"))
def study_report(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show the reports of all campaigns of a study on one page for printing.

    Answer 202 without any report until all are computed.
    """
    campaigns = study_campaigns(request, slug)
    filters = Filters.from_query(request.GET)
    asked = [(each, fitted(each, campaigns, filters)) for each in campaigns]
    found = [(campaign, results.latest("report", campaign, own)) for campaign, own in asked]
    failed = [
        message("study.report-failed", "{campaign}: {error}", campaign=each.name, error=r.message)
        for each, r in found
        if not r.document and r.message
    ]
    missing = [each.name for each, r in found if not r.document and not r.message]
    is_whole = not (failed or missing)
    documents = [r.document for _, r in found if r.document is not None and is_whole]
    shown = {"documents": documents, "study": slug, "missing": missing, "failed": failed}
    answer = render(request, DOCUMENT, shown)
    if failed:
        answer.status_code = 500
    elif missing:
        answer.status_code, answer["Retry-After"] = 202, "2"
        answer["Refresh"] = "5"  # browsers ignore Retry-After
    return answer


# The most pairs of all campaigns, and metrics of each, on a page (of 100 KiB).
PAIRS, MOST = 2_000, 30


@dataclass(frozen=True, kw_only=True)
class SignificanceOfStudy(StudyDocument):
    """The comparisons of the campaigns; `rows` are the pairs of all campaigns."""

    campaigns: Sequence[Comparison | Shown]
    statistic: str = ""
    statistic_label: Message | None = None
    test_label: Message | None = None
    correction_label: Message | str | None = None
    rows: Sequence[Pair] = ()


def combine_significance(
    campaigns: Sequence[Campaign], documents: Sequence[Comparison]
) -> SignificanceOfStudy:
    """Combine the comparisons."""
    return SignificanceOfStudy(
        study=campaigns[0].study if campaigns else "",
        campaigns=documents,
        statistic=documents[0].statistic if documents else "",
        statistic_label=documents[0].statistic_label if documents else None,
        warnings=warnings_of(documents),
    )


def choose_of_study(document: SignificanceOfStudy, query: QueryDict) -> SignificanceOfStudy:
    """Apply the choices of the address to every campaign."""
    shown = [choose(each, query) for each in document.campaigns if isinstance(each, Comparison)]
    compared = [each for each in shown if each.rows]
    return replace(
        document,
        campaigns=shown,
        test_label=compared[0].test_label if compared else None,
        correction_label=shown[0].correction_label if shown else None,
        trust=worst_of([each.trust for each in shown]),
        rows=[row for each in shown for row in lines(each)],
    )


def significance_context(
    request: HttpRequest, study: str, document: SignificanceOfStudy
) -> dict[str, Any]:
    """Return a heat map per campaign, with as many metrics as fit the page."""
    shown = [each for each in document.campaigns if isinstance(each, Shown)]
    most = most_of(len(shown))
    maps = []
    for each in shown:
        rows = enumerate(grid(each)[:most], 1)
        maps.append((each, [(metric, cells[: most - n]) for n, (metric, cells) in rows]))
    return {
        "maps": maps,
        "most": most,
        "is_cut": any(len(each.metrics) > most for each in shown),
        "step_labels": LABELS,
    }


def most_of(n: int) -> int:
    """Return how many metrics of each of `n` campaigns fit the page."""
    fitting = (size for size in range(MOST, 2, -1) if n * size * (size - 1) <= 2 * PAIRS)
    return next(fitting, 2)


def study_tables(document: SignificanceOfStudy) -> list[latex.Table]:
    """Return a table of p per campaign."""
    return [
        table
        for each in document.campaigns
        if isinstance(each, Shown) and each.rows
        for table in tables(each)
    ]


def _rows(document: SignificanceOfStudy) -> Sequence[Pair]:
    """Return the pairs of all campaigns, with metrics against the baselines where shown."""
    return document.rows


def heat_maps(document: SignificanceOfStudy) -> Spec | None:
    """Draw the campaigns of a study in two columns."""
    shown = [each for each in document.campaigns if isinstance(each, Shown) and each.rows]
    if not shown or document.statistic_label is None:
        return None
    outlines = outlined(document.correction_label) if document.correction_label else None
    return figure(
        document.statistic_label,
        [QUESTION, darker(document.test_label), outlines, document.over],
        concat=[{"title": each.name, **panel(each)} for each in shown],
        columns=2,
    )


STUDY_SIGNIFICANCE = SIGNIFICANCE.of_study(
    figures={"heatmaps": heat_maps},
    template="studies/significance.html",
    context=significance_context,
    choose=choose_of_study,
    tables=study_tables,
    takes=("statistic", "grouping", "test", "correction", "scope", "bounds"),
    rows=_rows,
    on_page=(),
    combine=combine_significance,
)


urlpatterns = [
    path("studies/", studies, name="studies"),
    path("studies/<slug:slug>/", view(STUDY), name="study"),
    path("studies/<slug:slug>/correlations.<str:fmt>", view(STUDY), name="study-data"),
    path(
        "studies/<slug:slug>/correlations/figures/<slug:figure>.<str:fmt>",
        view(STUDY),
        name="study-figure",
    ),
    *table_routes(STUDY, "studies/<slug:slug>/correlations", "study"),
    *routes(PRINTED),
    path("matrix/", matrix, name="matrix"),
    path("matrix.<str:fmt>", matrix, name="matrix-data"),
    path("matrix/figures/<slug:figure>.<str:fmt>", matrix, name="matrix-figure"),
    *routes(STUDY_SIGNIFICANCE),
    path("studies/<slug:slug>/quality/", view(STUDY_QUALITY), name="study-quality"),
    path("studies/<slug:slug>/quality.<str:fmt>", view(STUDY_QUALITY), name="study-quality-data"),
    path("studies/<slug:slug>/systems/", study_systems, name="study-systems"),
    path("studies/<slug:slug>/systems.<str:fmt>", study_systems, name="study-systems-data"),
    path("studies/<slug:slug>/wmt/", study_wmt, name="study-wmt"),
    path("studies/<slug:slug>/wmt.<str:fmt>", study_wmt, name="study-wmt-data"),
    path("studies/<slug:slug>/report.html", study_report, name="study-report"),
]
