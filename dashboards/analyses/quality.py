"""How well a campaign was annotated: what the quality page and its files hold."""

from typing import Any

from annotation.models import Campaign
from annotation.quality import QualityReport, quality_report
from annotation.quality.tables import as_json
from dashboards.filters import Filters
from dashboards.judgments import read_judgments
from dashboards.plain import plain

VERSION = 1


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the report; `annotators` has a dict for every annotator.

    Without filters those who gave no judgment have a line, too.
    """
    notes: tuple[str, ...] = ()
    if filters.chooses_judgments or filters.documents:
        judgments, notes = read_judgments(campaign, filters, with_excluded=True)
        report = quality_report(campaign, judgments)
    else:
        report = quality_report(campaign)
    found = as_json(campaign, report) | _beside(report)
    found["warnings"] = [*notes, *found["warnings"]]
    document: dict[str, Any] = plain(found)
    return document


def _beside(report: QualityReport) -> dict[str, Any]:
    """What the page shows besides."""
    clocks = report.clocks
    return {
        "clocks": vars(clocks) if clocks else None,
        "has_bad_references": report.has_bad_references,
        "has_repeats": report.has_repeats,
        "has_gold": report.has_gold,
    }
