"""Compute the verdict on a campaign's numbers under a reader's filters, for all pages."""

from dataclasses import replace

import numpy as np

from annotation.filters import IN, RAW, Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign
from annotation.quality import JudgmentColumns, quality_report
from annotation.quality.columns import Floats
from core.caching import memo
from dashboards.documents.reasons import (
    CampaignTrust,
    Reason,
    Severity,
    Verdict,
    fields_of,
    verdict_of,
)
from dashboards.documents.stored import as_stored
from dashboards.panel.choice import general
from dashboards.panel.human import human_scores
from dashboards.trust import amount, judging
from dashboards.trust.agreement import agreement
from dashboards.trust.reading import least_seconds
from metaeval.judgments.controls import reading_speeds
from metaeval.messages import message

VERSION = 5
DOCUMENT = CampaignTrust
# Nobody answers faster: shorter times were not measured.
GAP_SECONDS = 0.05


def compute(campaign: Campaign, filters: Filters) -> CampaignTrust:
    """Return verdict and reasons, with the number of systems, segments and documents.

    Control items count even where the filters exclude them, because they show who read the texts.
    """
    human = human_scores(campaign, general(filters))
    counted = amount.amount_of(human)
    reasons = _published() if campaign.published_scores.exists() else []
    reasons += judging.reasons_of(evidence) if (evidence := evidence_of(campaign, filters)) else []
    reasons += amount.reasons_of(counted)
    if not counted.n_systems:
        reasons = []
    verdict = verdict_of(reasons) if counted.n_systems else Verdict.NOTHING
    return CampaignTrust(
        campaign=campaign.slug, name=campaign.name, **fields_of(verdict, reasons), **vars(counted)
    )


def evidence_of(campaign: Campaign, filters: Filters) -> judging.Evidence | None:
    """Read everything that the checks of the judgments need; None without judgments."""
    return _evidence(campaign, general(filters).of(campaign))


@memo
def _evidence(campaign: Campaign, filters: Filters) -> judging.Evidence | None:
    chosen = replace(filters, traps=IN)
    everybody, _ = read_judgments(campaign, chosen, with_excluded=True)
    report = quality_report(campaign, everybody, scale=chosen.scale)
    excluded = [one.pk for one in report.annotators if one.excluded_at is not None]
    columns = everybody.select(~np.isin(everybody.annotator, excluded))
    if not len(columns):
        return None
    rated = _timed(campaign, columns.select(columns.is_target))
    labels = {one.pk: one.label for one in report.annotators}
    lines = agreement(campaign, rated)
    least = least_seconds(campaign, rated)
    return judging.Evidence(
        report,
        as_stored(lines[0]) if lines else None,
        speeds_of(rated, least, labels),
        filters.scores == RAW,
        int((~np.isnan(rated.seconds)).sum()),
    )


def too_fast(campaign: Campaign) -> set[str]:
    """Return the labels of annotators, not excluded, who were faster than texts can be skimmed."""
    columns, _ = read_judgments(campaign, replace(general(Filters()).of(campaign), traps=IN))
    rated = _timed(campaign, columns.select(columns.is_target))
    labels = dict(campaign.annotators.values_list("pk", "label"))
    speeds = speeds_of(rated, least_seconds(campaign, rated), labels)
    return {one.label for one in speeds if one.is_impossible}


def _timed(campaign: Campaign, rated: JudgmentColumns) -> JudgmentColumns:
    """Drop the times of an imported log that were not measured."""
    if campaign.origin != Campaign.Origin.IMPORTED:
        return rated
    return replace(rated, seconds=without_gaps(rated.seconds))


def without_gaps(seconds: Floats) -> Floats:
    """Return the times of an imported log, with nan for those that no answer can take.

    Appraise writes one moment as start and end of an answer that came with its whole document.
    """
    return np.where(seconds < GAP_SECONDS, np.nan, seconds)


def speeds_of(rated: JudgmentColumns, least: Floats, labels: dict[int, str]) -> list[judging.Speed]:
    """Return the times of all annotators with enough timed judgments of outputs."""
    people = rated.annotator.tolist()
    found = reading_speeds(rated.seconds, least, people, fewest=judging.TIMED)
    columns = (found.counts, found.seconds, found.least, found.is_impossible)
    return [
        judging.Speed(labels[pk], *numbers)
        for pk, *numbers in zip(found.annotators, *(c.tolist() for c in columns), strict=True)
    ]


def _published() -> list[Reason]:
    return [
        Reason(
            "judgments_missing",
            Severity.LIMITS,
            message(
                "trust.judgments-missing",
                "The human scores were published without their judgments, so agreement, control "
                "items and times cannot be checked here.",
            ),
            message(
                "trust.judgments-missing-advice",
                "Rely on what the publisher reports about agreement and control items.",
            ),
            "quality",
        )
    ]
