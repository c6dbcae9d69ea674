"""What a report says, as plain values: the documents of the pages, warnings first, methods."""

from dataclasses import replace
from typing import Any

from annotation.filters import Filters
from annotation.filters.chosen import read_judgments
from annotation.filters.report import filtered_report
from annotation.models import Campaign, Output
from annotation.quality import QualityReport
from dashboards.bundle.content import Content, read_content
from dashboards.bundle.manifest import campaign_facts
from dashboards.charts.scatter import points
from dashboards.charts.systems import ranking
from dashboards.correlations.agreement import CampaignCorrelations, correlate
from dashboards.documents.stored import settled
from dashboards.report.drawing import drawing
from dashboards.scatter import document as scatter
from dashboards.systems import document as systems
from dashboards.trust import verdict
from dashboards.trust.systems import marked
from metaeval.replication import plain, versions

# Worst disagreements shown with their texts, on each side.
N_SHOWN = 3
# Systems side by side in one table of a page.
N_COLUMNS = 6


def parts(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return everything but the PDF."""
    content = read_content(campaign, filters)
    table = _correlations(correlate(campaign, filters))
    trust = verdict.compute(campaign, filters)
    scores = systems.compute(campaign, systems.SystemsChoice(**vars(filters)))
    ranked = marked(scores | {"trust": trust})
    quality = filtered_report(campaign, filters)
    best = _best(table)
    chosen = scatter.ScatterChoice(**vars(filters), metric=best) if best else None
    against = scatter.compute(campaign, chosen) if chosen else None
    warnings = [*quality.warnings, *table["warnings"], *ranked["warnings"]]
    warnings += against["warnings"] if against else []
    return {
        "trust": trust,
        "facts": campaign_facts(_chosen(content, filters)),
        "filters": filters.as_json(),
        "filter_words": filters.words,
        "percent": campaign.percent,
        "study": campaign.study,
        "is_simulated": campaign.is_simulated,
        "target_language": campaign.test_set.target_language,
        "source_language": campaign.test_set.source_language,
        "warnings": list(dict.fromkeys(warnings)),
        "quality": _quality(quality),
        "correlations": table,
        "systems": ranked,
        "metric_tables": metric_tables(ranked),
        "scatter": _scatter(against),
        "figures": _figures(ranked, against),
        "versions": versions(),
        "signatures": list(dict.fromkeys(row["signature"] for row in table["rows"]))
        or list(dict.fromkeys(column["signature"] for column in ranked["columns"])),
    }


def _chosen(content: Content, filters: Filters) -> Content:
    """The content with those judgments alone that the filters choose."""
    judgments, _ = read_judgments(content.campaign, filters, with_excluded=True)
    return replace(content, judgments=judgments)


def _correlations(table: CampaignCorrelations) -> dict[str, Any]:
    return {
        "n_outputs": table.n_outputs,
        "n_hybrids": table.n_hybrids,
        "seed": table.seed,
        "warnings": list(table.warnings),
        "rows": [vars(settled(row)) for row in table.rows],
    }


def _best(table: dict[str, Any]) -> str:
    """The measure of the highest τ, which the scatter plot shows."""
    known = [row for row in table["rows"] if row["tau"] is not None]
    return str(max(known, key=lambda row: row["tau"])["key"]) if known else ""


def metric_tables(ranked: dict[str, Any]) -> list[dict[str, Any]]:
    """The metrics' scores in tables of a few systems each, in the human order.

    The last table has the agreement with the human ranking besides.
    """
    cells = [systems.by_name(column["rows"]) for column in ranked["columns"]]
    names = ranked["systems"]
    starts = range(0, len(names), N_COLUMNS) if cells else ()
    return [
        {
            "systems": (shown := names[start : start + N_COLUMNS]),
            "has_agreement": start + N_COLUMNS >= len(names),
            "lines": [
                {key: column[key] for key in ("label", "is_turned", "tau", "accuracy")}
                | {"cells": [own.get(name) for name in shown]}
                for column, own in zip(ranked["columns"], cells, strict=True)
            ],
        }
        for start in starts
    ]


def _quality(report: QualityReport) -> dict[str, Any]:
    people = [
        {
            "label": each.label,
            "is_excluded": each.excluded_at is not None,
            "n": each.n,
            "mean": each.mean,
            "sd": each.sd,
            "seconds": each.times.mean if each.times else None,
            "r": each.r_without,
            "r_with": each.r_with,
        }
        for each in report.annotators
    ]
    agreement = {}
    for name, each in (("with traps", report.with_traps), ("without traps", report.without_traps)):
        if each is not None:
            figures = each.figures.items()
            agreement[name] = {
                **{key: [one.statistic, one.interval] for key, one in figures},
                "basis": {key: one.basis for key, one in figures},
                "n": each.n,
                "n_units": each.n_units,
            }
    traps = report.traps
    found = {
        "judgments": report.n_judgments,
        "seconds": report.times.mean if report.times else None,
        "seconds_cut": report.times.mean_cut if report.times else None,
        "traps": [traps.zero, traps.low, traps.high] if traps else None,
        "people": people,
        "tested": report.tested.sentence,
        "agreement": agreement,
    }
    return dict(plain(found))


def _scatter(document: dict[str, Any] | None) -> dict[str, Any] | None:
    """The scatter's statistics without its points, with the texts of the worst disagreements."""
    if document is None or document["problem"]:
        return None
    rows = document["rows"]
    sides = ("metric higher", "metric lower")
    shown = [row for side in sides for row in [r for r in rows if r["side"] == side][:N_SHOWN]]
    found = Output.objects.select_related("segment").in_bulk([row["output"] for row in shown])
    worst = []
    for row in shown:
        output = found[row["output"]]
        texts = {"source": output.segment.source, "output": output.text}
        worst.append(row | {"texts": texts})
    return {name: document[name] for name in ("metric", "n", "statistics")} | {"worst": worst}


def _figures(ranked: dict[str, Any], against: dict[str, Any] | None) -> list[dict[str, str]]:
    specs = [ranking(ranked), points(against) if against and not against["problem"] else None]
    drawn = [(spec, drawing(spec)) for spec in specs if spec]
    return [{"svg": svg, "description": spec["description"]} for spec, svg in drawn if svg]
