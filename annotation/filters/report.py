"""The quality of a campaign's judgments, under a reader's filters."""

from dataclasses import replace

from annotation.filters.choice import Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign
from annotation.quality import QualityReport, quality_report


def filtered_report(campaign: Campaign, filters: Filters) -> QualityReport:
    """Return the report on the judgments that filters choose; its warnings begin with what is out.

    Who gave none of them has no line, unless nothing is left out. Raises FilterError.
    """
    if not filters.leaves_something_out and not filters.scale and not filters.unit:
        return quality_report(campaign)
    judgments, notes = read_judgments(campaign, filters, with_excluded=True)
    report = quality_report(campaign, judgments, scale=filters.scale)
    return replace(report, warnings=[*notes, *report.warnings])
