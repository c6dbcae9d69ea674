"""One annotator on the quality page: habits, clocks, agreement, control items."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

import metaeval
from annotation.models import Item
from annotation.protocols.base import Scale
from annotation.quality.agreement import Likely
from annotation.quality.columns import Floats, JudgmentColumns
from annotation.quality.verdict import LOW, Checks, check
from metaeval.arrays import mean
from metaeval.judgments import spread
from metaeval.judgments.controls import AnnotationTimes, ControlTest, TrapLevels, annotation_times

CUT_SECONDS = 600


@dataclass(frozen=True)
class Clocks:
    """Mean seconds per item: paid (the server's time, capped), and active (the browser's report).

    `doubted` counts missing and impossible reports, which the mean of active times does not use.
    """

    paid: float
    active: float
    doubted: int


@dataclass(frozen=True)
class AnnotatorQuality:
    """One annotator: `r_with` and `r_without` are one-vs-rest Pearson with and without traps.

    Excluded annotators have everything except agreement.
    """

    pk: int
    label: str
    is_simulated: bool
    excluded_at: datetime | None
    n: int
    mean: float
    sd: float
    times: AnnotationTimes | None
    clocks: Clocks | None
    traps: TrapLevels | None
    r_with: float
    r_without: float
    checks: Checks
    likely: Likely | None

    @property
    def bad_references(self) -> ControlTest | None:
        """The paired test on bad references."""
        return self.checks.bad_references


def annotator_quality(
    own: JudgmentColumns,
    person: Mapping[str, object],
    *,
    r_with: float,
    r_without: float,
    scale: Scale | None,
    likely: Likely | None,
) -> AnnotatorQuality:
    """Describe one annotator from their own judgments; excluded annotators too."""
    use = spread(own.score)
    traps = own.score[own.is_kind(Item.Kind.TRAP)]
    excluded = person["excluded_at"]
    return AnnotatorQuality(
        pk=int(str(person["pk"])),
        label=str(person["label"]),
        is_simulated=bool(person["is_simulated"]),
        excluded_at=excluded if isinstance(excluded, datetime) else None,
        n=use.n,
        mean=use.mean,
        sd=use.sd,
        times=times_of(own.seconds),
        clocks=clocks_of(own),
        traps=trap_levels(traps, scale) if scale else None,
        r_with=r_with,
        r_without=r_without,
        checks=check(own, scale=scale),
        likely=likely,
    )


def trap_levels(scores: Floats, scale: Scale) -> TrapLevels | None:
    """Count traps by score in percent of the scale, or None without any."""
    if not len(scores):
        return None
    percent = 100 * (scores - scale.low) / (scale.high - scale.low)
    return metaeval.judgments.controls.trap_levels(percent, low=100 * LOW)


def times_of(seconds: Floats) -> AnnotationTimes | None:
    """Return times on the server, or None if none is known."""
    known = seconds[~np.isnan(seconds)]
    return annotation_times(known, cap=CUT_SECONDS) if len(known) else None


def clocks_of(columns: JudgmentColumns) -> Clocks | None:
    """Return paid and active times, or None if nothing was measured here."""
    doubted = columns.doubted
    if np.isnan(columns.paid).all():
        return None
    return Clocks(mean(columns.paid), mean(columns.active[~doubted]), int(doubted.sum()))
