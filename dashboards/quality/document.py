"""How well a campaign was annotated: what the quality page and its files hold."""

from typing import Any

from annotation.filters import Filters
from annotation.filters.report import filtered_report
from annotation.models import Campaign
from annotation.quality import QualityReport
from annotation.quality.tables import as_json
from dashboards.documents.plain import plain

VERSION = 1


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the report; `annotators` has a dict for every annotator.

    Without filters those who gave no judgment have a line, too.
    """
    report = filtered_report(campaign, filters)
    found = as_json(campaign, report) | _beside(report)
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
