"""Pages of the meta-evaluation: a campaign's table, a study's tables; each also as data."""

from typing import Any

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render

from annotation.access import researcher_required
from annotation.exports import table_response
from annotation.models import Campaign
from annotation.quality import quality_report
from annotation.quality.tables import HEADER, annotator_row, as_json
from dashboards.averages import STATISTICS, study_tables
from dashboards.cached import correlations, is_quick
from dashboards.selectors import RAW, Z
from metrics.registry import METRICS
from metrics.runs import refusals_for

COLUMNS = (
    "campaign",
    "scores",
    "key",
    "label",
    "metric",
    "signature",
    "is_turned",
    "n",
    "n_missing",
    "tau",
    "r_segment",
    "n_systems",
    "r_system",
    "r_hybrid",
    "r_limit",
)


def _scores(request: HttpRequest) -> str:
    """The human scores that the reader asks for; z unless they say raw."""
    scores = request.GET.get("scores", Z)
    if scores not in (Z, RAW):
        raise Http404
    return scores


@researcher_required
def campaign(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """Every metric against the humans of one campaign."""
    row = get_object_or_404(Campaign.objects.select_related("test_set"), slug=slug)
    scores = _scores(request)
    if not (fmt or "now" in request.GET or is_quick(row, scores)):
        return _later(request, "dashboards/_campaign_head.html", {"campaign": row})
    table, as_of = correlations(row, scores)
    if fmt:
        document = result_document(row, scores)
        return table_response(fmt, f"{slug}-correlations", COLUMNS, document["rows"], document)
    seen = {measure.metric for measure in table.rows}
    missing = [info for name, (info, _) in METRICS.items() if name not in seen]
    refusals = refusals_for(row.test_set, list(row.systems.all())) if missing else {}
    context = {
        "campaign": row,
        "table": table,
        "as_of": as_of,
        "scores": scores,
        "best": _maxima(table.rows),
        "signatures": list(dict.fromkeys(measure.signature for measure in table.rows)),
        "startable": [info for info in missing if info.name not in refusals],
        "refused": [refusals[info.name] for info in missing if info.name in refusals],
        "section": "campaigns",
        "tab": "correlations",
    }
    return render(request, "dashboards/correlations.html", context)


def _later(request: HttpRequest, head: str, context: dict[str, Any]) -> HttpResponse:
    """Answer at once with the page's head; its script asks for the rest while it is computed."""
    query = request.GET.copy()
    query["now"] = "1"
    context |= {"head": head, "address": f"{request.path}?{query.urlencode()}"}
    context |= {"tab": "correlations", "section": "campaigns"}
    return render(request, "dashboards/later.html", context)


def _maxima(rows: Any) -> dict[str, float]:
    names = ("tau", "r_segment", "r_system", "r_hybrid", "r_limit")
    return {
        name: max((v for row in rows if (v := getattr(row, name)) == v), default=float("nan"))
        for name in names
    }


def result_document(row: Campaign, scores: str) -> dict[str, Any]:
    """Return a campaign's table with everything needed to quote it."""
    table, as_of = correlations(row, scores)
    return {
        "campaign": row.slug,
        "direction": row.test_set.direction,
        "length_ratio": str(row.length_ratio),
        "origin": row.origin,
        "human_scores": table.source,
        "n_outputs": table.n_outputs,
        "n_judged": table.n_judged,
        "n_hybrids": table.n_hybrids,
        "seed": table.seed,
        "segment_grouping": "none",
        "as_of": as_of,
        "warnings": list(table.warnings),
        "rows": [
            {"campaign": row.slug, "scores": scores, **measure.values()} for measure in table.rows
        ],
    }


@researcher_required
def studies(request: HttpRequest) -> HttpResponse:
    """All studies with their campaigns."""
    rows = (
        Campaign.objects.exclude(study="").values("study").annotate(n=Count("pk")).order_by("study")
    )
    return render(request, "dashboards/studies.html", {"studies": rows, "section": "studies"})


def _study(slug: str) -> list[Campaign]:
    rows = Campaign.objects.filter(study=slug).exclude(status=Campaign.Status.DRAFT)
    campaigns = list(
        rows.select_related("test_set").order_by(
            "test_set__source_language", "-length_ratio", "name"
        )
    )
    if not campaigns and not Campaign.objects.filter(study=slug).exists():
        raise Http404
    return campaigns


@researcher_required
def study(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """Every metric over the campaigns of a study, and averaged."""
    campaigns, scores = _study(slug), _scores(request)
    if fmt:
        documents = [result_document(row, scores) for row in campaigns]
        rows = [row for document in documents for row in document["rows"]]
        averages = study_tables({row: correlations(row, scores)[0] for row in campaigns})
        document = {
            "study": slug,
            "campaigns": documents,
            "averages": {
                table.statistic: {row.key: _plain(row.average) for row in table.rows}
                for table in averages
            },
        }
        return table_response(fmt, f"{slug}-correlations", COLUMNS, rows, document)
    if "now" not in request.GET and not all(is_quick(row, scores) for row in campaigns):
        return _later(request, "dashboards/_study_head.html", {"study": slug})
    results = {row: correlations(row, scores)[0] for row in campaigns}
    context = {
        "study": slug,
        "campaigns": campaigns,
        "tables": study_tables(results),
        "statistics": STATISTICS,
        "warnings": [
            f"{row.name}: {warning}" for row, table in results.items() for warning in table.warnings
        ],
        "scores": scores,
        "section": "studies",
        "tab": "correlations",
    }
    return render(request, "dashboards/study.html", context)


def _plain(value: float) -> float | None:
    return None if value != value else value


@researcher_required
def study_quality(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """Quality of every campaign of a study, as in tables 2–5 of Cheng et al. 2023."""
    reports = [(row, quality_report(row)) for row in _study(slug)]
    if fmt:
        rows = [
            annotator_row(row, person) for row, report in reports for person in report.annotators
        ]
        document = {"study": slug, "campaigns": [as_json(row, report) for row, report in reports]}
        return table_response(fmt, f"{slug}-quality", HEADER, rows, document)
    context = {"study": slug, "reports": reports, "section": "studies", "tab": "quality"}
    return render(request, "dashboards/study_quality.html", context)
