"""The state of a campaign: progress, time, traps, agreement, annotators, drift.

Everything but the progress depends on the judgments that the filters choose.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.filters import IN, Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign, Item
from annotation.models.assignment import wanted
from annotation.protocols.base import Scale
from annotation.quality import (
    AnnotatorQuality,
    JudgmentColumns,
    QualityReport,
    quality_report,
    standardise,
)
from annotation.quality.agreement import N_RESAMPLES
from annotation.quality.columns import Floats, scale_of
from annotation.quality.people import CUT_SECONDS, times_of, trap_levels
from annotation.quality.reach import Tested
from dashboards.documents.head import CampaignDocument, Ends, ends, head
from dashboards.overview import annotators
from dashboards.overview.annotators import Row
from dashboards.panel.human import HumanScores, human_scores
from dashboards.trust.agreement import AgreementLine, agreement
from metaeval.judgments import rolling_means
from metaeval.judgments.controls import pass_rate
from metaeval.messages import Message

VERSION = 6
# Charts of more annotators than this are unreadable; the tables have all of them.
CHARTED = 16


@dataclass(frozen=True)
class Progress:
    """The progress of the whole campaign, whatever the filters; these limit `outputs_judged`."""

    ratings: int
    wanted: int
    is_complete: bool
    outputs: int
    outputs_judged: int
    human_scores: Message


@dataclass(frozen=True)
class Times:
    """Seconds per item; `mean_cut` excludes items above the `cap`, `mean_clipped` clips them.

    `paid` and `active` are means of the other clocks, without the `doubted` implausible reports of
    browsers.
    """

    n: int
    mean: float | None
    median: float | None
    mean_cut: float | None
    mean_clipped: float | None
    n_above: int
    cap: int
    paid: float | None
    active: float | None
    active_n: int
    active_median: float | None
    doubted: int | None


@dataclass(frozen=True)
class Traps:
    """Traps by score: 0, up to 20, above; the share of the first two with its interval."""

    n: int
    zero: int
    low: int
    high: int
    share_low: float | None
    interval: Ends | None


@dataclass(frozen=True)
class Series:
    """Rolling means of one annotator's z-scores or seconds (`value`) as (place in order, mean)."""

    annotator: str
    value: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class Overview(CampaignDocument):
    """The document; `suspects` are the annotators who should be reviewed."""

    progress: Progress
    n_judgments: int
    times: Times | None
    traps: Traps | None
    agreement: Sequence[AgreementLine]
    n_resamples: int = N_RESAMPLES
    seed: int
    rows: Sequence[Row]
    tested: Tested
    series: Sequence[Series]
    drift_warnings: Sequence[Message]
    suspects: Sequence[str]


DOCUMENT = Overview


def compute(campaign: Campaign, filters: Filters) -> Overview:
    """Return the overview, with a row for every annotator."""
    everybody, notes = read_judgments(campaign, filters, with_excluded=True)
    report, human = (
        quality_report(campaign, everybody, scale=filters.scale),
        # Judgments of human translations and outliers count as progress, too.
        human_scores(campaign, replace(filters, humans=IN, outliers=IN)),
    )
    people = report.annotators
    counted = [one.pk for one in people if one.excluded_at is None]
    columns = everybody.select(np.isin(everybody.annotator, counted))
    z = standardise(columns, campaign.z_pool).z if len(columns) else np.empty(0)
    rows, drift_warnings = annotators.describe(campaign, report, columns, z, scale=filters.scale)
    by_size = sorted(people, key=lambda one: (-one.n, one.label))[:CHARTED]
    scale = scale_of(campaign, filters.scale)
    return Overview(
        **head(campaign, human),
        progress=_progress(campaign, human),
        n_judgments=len(columns),
        times=_times(report, columns),
        traps=_traps(columns, scale) if scale else None,
        agreement=agreement(campaign, columns),
        seed=campaign.seed,
        rows=rows,
        tested=report.tested,
        series=_series([one for one in by_size if one.pk in counted], columns, z),
        warnings=list(dict.fromkeys([*notes, *report.warnings])),
        drift_warnings=drift_warnings,
        suspects=[row.annotator for row in rows if row.is_suspect],
    )


def _progress(campaign: Campaign, human: HumanScores) -> Progress:
    done, total, is_complete = wanted(campaign)
    outputs = campaign.outputs.count()
    return Progress(done, total, is_complete, outputs, human.n, human.source)


def _times(report: QualityReport, columns: JudgmentColumns) -> Times | None:
    if report.times is None:
        return None
    found, clocks = report.times, report.clocks
    active = times_of(columns.active[~columns.doubted])
    return Times(
        n=found.n,
        mean=found.mean,
        median=found.median,
        mean_cut=found.mean_dropped,
        mean_clipped=found.mean_clipped,
        n_above=found.n_above,
        cap=CUT_SECONDS,
        paid=clocks.paid if clocks else None,
        active=clocks.active if clocks else None,
        active_n=active.n if active else 0,
        active_median=active.median if active else None,
        doubted=clocks.doubted if clocks else None,
    )


def _traps(columns: JudgmentColumns, scale: Scale) -> Traps | None:
    scores = columns.score[columns.is_kind(Item.Kind.TRAP)]
    found = trap_levels(scores, scale)
    if found is None:
        return None
    rate = pass_rate(found.zero + found.low, found.n)
    return Traps(found.n, found.zero, found.low, found.high, rate.statistic, ends(rate.interval))


def _series(
    people: Sequence[AnnotatorQuality], columns: JudgmentColumns, z: Floats
) -> list[Series]:
    """Return rolling means of outputs in each annotator's own order."""
    return [
        Series(one.label, name, rolling_means(values[own]))
        for one in people
        for own in [(columns.annotator == one.pk) & columns.is_target]
        for name, values in (("z", z), ("seconds", columns.seconds))
        if (own & ~np.isnan(values)).any()
    ]
