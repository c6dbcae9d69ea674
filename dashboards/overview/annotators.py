"""Each annotator at a glance: how they use the scale, whether they drift, what looks odd."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Item
from annotation.quality import AnnotatorQuality, JudgmentColumns, Verdict
from annotation.quality.columns import Floats
from metaeval.judgments import Drift, drift
from metaeval.judgments.controls import WorkerFlags, graham_filters

QUANTILES = {"min": 0, "q05": 5, "q25": 25, "median": 50, "q75": 75, "q95": 95, "max": 100}
# Graham's scripts look into more than eight equal scores in a row.
LONGEST_RUN = 8
# Somebody below this share of the usual time can hardly have read.
FAST_SHARE = 1 / 3
ROLLING = 10
POINTS = 20
GRAHAM = {
    Item.Kind.TARGET.value: "SYSTEM",
    Item.Kind.DOCUMENT.value: "SYSTEM",
    Item.Kind.REF.value: "REF",
    Item.Kind.BAD_REF.value: "BAD_REF",
    Item.Kind.TRAP.value: "BAD_REF",
}


def quantiles(values: Floats) -> dict[str, float] | None:
    """Five numbers and the ends of the middle nine tenths; None without a value."""
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    found = np.percentile(known, list(QUANTILES.values()))
    return dict(zip(QUANTILES, found.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Trends:
    """Drift of z-scores and of seconds, on outputs; None where there is nothing to test."""

    z: Drift | None
    seconds: Drift | None

    @property
    def warnings(self) -> list[str]:
        """The drift of both, in words."""
        named = {"z-scores": self.z, "Seconds an item": self.seconds}
        return [
            f"{name}: {warning.message}"
            for name, found in named.items()
            if found is not None
            for warning in found.warnings
        ]

    def of(self, label: str) -> dict[str, Any]:
        """Both trends of one annotator as plain values."""
        return {"z": _trend(self.z, label), "seconds": _trend(self.seconds, label)}


def trends(columns: JudgmentColumns, z: Floats, labels: Mapping[int, str]) -> Trends:
    """Test for drift over the judgments of outputs, each annotator's in their own order."""
    own = columns.is_target
    names = [labels[pk] for pk in columns.annotator[own].tolist()]
    return Trends(_drift(z[own], names), _drift(columns.seconds[own], names))


def _drift(values: Floats, names: Sequence[str]) -> Drift | None:
    return None if np.isnan(values).all() else drift(values, names)


def _trend(found: Drift | None, label: str) -> dict[str, Any] | None:
    if found is None or label not in found.annotators:
        return None
    at = found.annotators.index(label)
    names = ("tau", "pvalue", "adjusted", "first", "last", "is_drifting")
    return {name: getattr(found, name)[at].item() for name in names}


def rolling(values: Floats) -> list[list[float]]:
    """Return [place, mean of the values around it]: at most `POINTS` windows side by side.

    A window holds at least `ROLLING` values; places count from 1.
    """
    known = np.flatnonzero(~np.isnan(values))
    windows = max(1, min(POINTS, len(known) // ROLLING))
    return [
        [float(np.mean(part)) + 1.0, float(np.mean(values[part]))]
        for part in np.array_split(known, windows)
        if len(part)
    ]


def longest_runs(columns: JudgmentColumns) -> WorkerFlags | None:
    """Graham's filters over the raw scores, control items as their degraded kind."""
    kinds = np.array([GRAHAM.get(kind, "REPEAT") for kind in columns.kind.tolist()])
    if not len(kinds):
        return None
    return graham_filters(
        columns.score,
        columns.annotator,
        kinds.tolist(),
        reference_rules=False,
        max_run=LONGEST_RUN,
    )


def signs(person: AnnotatorQuality, flags: WorkerFlags | None, usual_seconds: float) -> list[str]:
    """Return what to look into, in words: a sign is where an inspection starts, no verdict."""
    found = [f"fails {name}" for name in person.checks.failed]
    if flags is not None and person.pk in flags.workers:
        found += _graham(flags, flags.workers.index(person.pk))
    if person.n > 1 and person.sd == 0:
        found.append("gives one score to everything")
    if person.r_without <= 0:
        found.append("does not agree with the others (r ≤ 0)")
    if person.times is not None and person.times.median < FAST_SHARE * usual_seconds:
        found.append("takes less than a third of the usual time")
    return found


def _graham(flags: WorkerFlags, at: int) -> list[str]:
    found = []
    if flags.flag_scores[at]:
        found.append("rates control items as high as outputs")
    if flags.flag_sequence[at]:
        found.append(f"{int(flags.longest_run[at])} equal scores in a row")
    return found


def is_suspect(person: AnnotatorQuality, found: Sequence[str]) -> bool:
    """Whether somebody should look: a failed check, or two signs."""
    return person.checks.verdict == Verdict.FAILS or len(found) > 1
