"""Compute the verdict on a campaign's numbers under a reader's filters, for all pages."""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from django.db.models import Count, Max

from annotation.filters import IN, RAW, Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign, Output, Reference
from annotation.protocols import Layout
from annotation.quality import JudgmentColumns, quality_report
from annotation.quality.columns import Floats, Integers
from annotation.quality.current import CHUNK
from core.caching import Cache, memo
from core.text import seconds_to_read
from dashboards.documents.computing import as_stored
from dashboards.documents.reasons import (
    CampaignTrust,
    Reason,
    Severity,
    Verdict,
    fields_of,
    verdict_of,
)
from dashboards.panel.choice import general
from dashboards.panel.human import human_scores
from dashboards.trust import amount, judging
from dashboards.trust.agreement import agreement
from metaeval.arrays import positions
from metaeval.judgments.controls import reading_speeds
from metaeval.messages import message

# Estimate the least seconds in which texts can be read.

# Enough for the times of some 500,000 outputs.
BYTES = 8 * 2**20
_cache: Cache[tuple[Integers, Floats]] = Cache(BYTES)


def least_seconds(campaign: Campaign, columns: JudgmentColumns) -> Floats:
    """Return, per judgment, the least seconds for its output and the text shown beside it.

    nan where a judgment is not of an output. Where systems are shown together, the shown text is
    read once for all of them and not counted.
    """
    outputs, seconds = _known(campaign)
    return np.asarray(np.append(seconds, np.nan)[positions(outputs, columns.output)])


def _known(campaign: Campaign) -> tuple[Integers, Floats]:
    """Return outputs and their cached times. Texts never change: comparing counts is enough."""
    outputs = Output.objects.filter(system__campaigns=campaign)
    references = Reference.objects.filter(segment__test_set=campaign.test_set)
    there = [each.aggregate(Count("pk"), Max("pk")) for each in (outputs, references)]
    of = (campaign.pk, campaign.shown_text, campaign.judging.layout)
    key = (*of, *(n for each in there for n in each.values()))
    found = _cache.get(key)
    if found is None:
        found = _by_output(campaign)
        _cache.put(key, found, sum(each.nbytes for each in found))
    return found


def _by_output(campaign: Campaign) -> tuple[Integers, Floats]:
    test_set = campaign.test_set
    own = _seconds(test_set.target_language)
    shown = {} if campaign.judging.layout == Layout.TOGETHER else _shown(campaign)
    rows = Output.objects.filter(system__campaigns=campaign).order_by()
    outputs, seconds = array("q"), array("d")
    for pk, segment, text in rows.values_list("pk", "segment_id", "text").iterator(CHUNK):
        outputs.append(pk)
        seconds.append(own(text) + shown.get(segment, 0.0))
    return np.array(outputs), np.array(seconds)


def _shown(campaign: Campaign) -> dict[int, float]:
    """Return seconds for the shown text of every segment; of several references the shortest."""
    segments, test_set = campaign.test_set.segments.order_by(), campaign.test_set
    if campaign.shown_text == campaign.ShownText.SOURCE:
        seconds = _seconds(test_set.source_language)
        read = segments.exclude(beside__is_source=True)  # a recording or picture is not read
        return {pk: seconds(text) for pk, text in read.values_list("pk", "source")}
    seconds, texts = _seconds(test_set.target_language), dict[int, list[str]]()
    for pk, text in segments.values_list("pk", "references__text"):
        texts.setdefault(pk, []).append(text or "")
    return {pk: _least(seconds, each) for pk, each in texts.items()}


def _least(seconds: Callable[[str], float], texts: Sequence[str]) -> float:
    return min(seconds(text) for text in texts)


def _seconds(language: str) -> Callable[[str], float]:
    return lambda text: seconds_to_read(text, language)


VERSION = 6
DOCUMENT = CampaignTrust
# Nobody answers faster: shorter times were not measured.
GAP_SECONDS = 0.05


def compute(campaign: Campaign, filters: Filters) -> CampaignTrust:
    """Return verdict and reasons, with the number of systems, segments and documents.

    Control items count even where the filters exclude them, because they show who read the texts.
    """
    human = human_scores(campaign, general(filters))
    counted = amount.amount_of(human)
    reasons = _published() if campaign.has_published_scores else []
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
