"""Describe annotators: their use of the scale, drift, and signs of careless work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign, Item
from annotation.quality import AnnotatorQuality, JudgmentColumns, QualityReport, Verdict
from annotation.quality.columns import Floats, scale_of
from annotation.quality.current import NOTHING
from dashboards.quality.document import CHECKS
from metaeval.judgments import Drift, Spread, drift, spread
from metaeval.judgments.controls import WorkerFlags, graham_filters
from metaeval.messages import Message, message

# Graham's scripts report more than eight equal scores in a row.
LONGEST_RUN = 8
# An annotator below this share of the usual time can hardly have read the texts.
FAST_SHARE = 1 / 3
GRAHAM = {
    Item.Kind.TARGET.value: "SYSTEM",
    Item.Kind.DOCUMENT.value: "SYSTEM",
    Item.Kind.REF.value: "REF",
    Item.Kind.BAD_REF.value: "BAD_REF",
    Item.Kind.TRAP.value: "BAD_REF",
}
DRIFT = ("tau", "pvalue", "adjusted", "first", "last", "is_drifting")
DRIFTING = (
    message("drift.z-scores", "z-scores"),
    message("drift.seconds", "Seconds per item"),
)
SPREAD = ("mean", "sd", "min", "q05", "q25", "median", "q75", "q95", "max")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One annotator. Spreads of raw and z-scores, and drift of z-scores and seconds, on outputs.

    `signs` are reasons for an inspection, not a verdict.
    """

    campaign: str
    annotator: str
    is_simulated: bool
    is_excluded: bool
    n: int
    n_outputs: int
    raw_mean: float | None
    raw_sd: float | None
    raw_min: float | None
    raw_q05: float | None
    raw_q25: float | None
    raw_median: float | None
    raw_q75: float | None
    raw_q95: float | None
    raw_max: float | None
    z_mean: float | None
    z_sd: float | None
    z_min: float | None
    z_q05: float | None
    z_q25: float | None
    z_median: float | None
    z_q75: float | None
    z_q95: float | None
    z_max: float | None
    seconds_mean: float | None
    seconds_mean_cut: float | None
    seconds_median: float | None
    seconds_active_mean: float | None
    traps_n: int | None
    traps_low_share: float | None
    r_without_traps: float | None
    z_drift_tau: float | None
    z_drift_pvalue: float | None
    z_drift_adjusted: float | None
    z_drift_first: float | None
    z_drift_last: float | None
    z_drift_is_drifting: bool | None
    seconds_drift_tau: float | None
    seconds_drift_pvalue: float | None
    seconds_drift_adjusted: float | None
    seconds_drift_first: float | None
    seconds_drift_last: float | None
    seconds_drift_is_drifting: bool | None
    verdict: str
    signs: Sequence[Message]
    is_suspect: bool


@dataclass(frozen=True, eq=False)
class _Work:
    """Values computed over all annotators together; drift is None where it cannot be tested."""

    columns: JudgmentColumns
    z: Floats
    drifts: Mapping[str, Drift | None]
    flags: WorkerFlags | None
    usual_seconds: float


def describe(
    campaign: Campaign, report: QualityReport, columns: JudgmentColumns, z: Floats, *, scale: str
) -> tuple[list[Row], list[Message]]:
    """Return a row for every annotator of a report, and warnings on drift.

    `columns` are the judgments that count, `z` their z-scores.
    """
    own, labels = columns.is_target, {one.pk: one.label for one in report.annotators}
    names = [labels[pk] for pk in columns.annotator[own].tolist()]
    documents = columns.select(own).unit.tolist()
    drifts = {
        "z": _drift(z[own], names, documents),
        "seconds": _drift(columns.seconds[own], names, documents),
    }
    asked = scale_of(campaign, scale)
    # On a scale of few points, runs of one score are not a sign of carelessness.
    flags = longest_runs(columns) if asked and asked.is_percent else None
    usual = report.times.median if report.times else float("nan")
    work = _Work(columns, z, drifts, flags, usual)
    warnings = [
        message("drift.warning", "{values}: {warning}", values=values, warning=warning.message)
        for values, found in zip(DRIFTING, drifts.values(), strict=True)
        for warning in (found.warnings if found else ())
    ]
    return [_row(campaign, one, work) for one in report.annotators], warnings


def _drift(values: Floats, names: Sequence[str], documents: Sequence[int]) -> Drift | None:
    """Test for drift in the order of each annotator's judgments, over documents."""
    if np.isnan(values).all():
        return None
    labels = [None if each == NOTHING else each for each in documents]
    return drift(values, names, documents=labels)


def _row(campaign: Campaign, one: AnnotatorQuality, work: _Work) -> Row:
    columns = work.columns
    own = (columns.annotator == one.pk) & columns.is_target
    found = signs(one, work.flags, work.usual_seconds)
    times, traps = one.times, one.checks.traps
    return Row(
        campaign=campaign.slug,
        annotator=one.label,
        is_simulated=one.is_simulated,
        is_excluded=one.excluded_at is not None,
        n=one.n,
        n_outputs=int(own.sum()),
        **_spread("raw", spread(columns.score[own])),
        **_spread("z", spread(work.z[own])),
        seconds_mean=times.mean if times else None,
        seconds_mean_cut=times.mean_dropped if times else None,
        seconds_median=times.median if times else None,
        seconds_active_mean=one.clocks.active if one.clocks else None,
        traps_n=traps.n if traps else None,
        traps_low_share=traps.statistic if traps else None,
        r_without_traps=one.r_without,
        **_trend("z", work.drifts["z"], one.label),
        **_trend("seconds", work.drifts["seconds"], one.label),
        verdict=one.checks.verdict.value,
        signs=found,
        is_suspect=is_suspect(one, found),
    )


def _spread(name: str, found: Spread) -> dict[str, Any]:
    return {f"{name}_{part}": getattr(found, part) for part in SPREAD}


def _trend(name: str, found: Drift | None, label: str) -> dict[str, Any]:
    if found is None or label not in found.annotators:
        return {f"{name}_drift_{part}": None for part in DRIFT}
    at = found.annotators.index(label)
    return {f"{name}_drift_{part}": getattr(found, part)[at].item() for part in DRIFT}


def longest_runs(columns: JudgmentColumns) -> WorkerFlags | None:
    """Apply Graham's filters to the raw scores, with control items as degraded outputs."""
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


def signs(
    person: AnnotatorQuality, flags: WorkerFlags | None, usual_seconds: float
) -> list[Message]:
    """Return the reasons for an inspection."""
    found = [
        message("sign.fails", "fails {check}", check=CHECKS.get(str(name), name))
        for name in person.checks.failed
    ]
    if flags is not None and person.pk in flags.workers:
        found += _graham(flags, flags.workers.index(person.pk))
    if person.n > 1 and person.sd == 0:
        found.append(message("sign.one-score", "gives the same score to everything"))
    if person.r_without <= 0:
        found.append(message("sign.disagrees", "does not agree with the others (r ≤ 0)"))
    if person.times is not None and person.times.median < FAST_SHARE * usual_seconds:
        found.append(message("sign.fast", "takes less than a third of the usual time"))
    return found


def _graham(flags: WorkerFlags, at: int) -> list[Message]:
    found = []
    if flags.flag_scores[at]:
        found.append(message("sign.controls-high", "rates control items as high as outputs"))
    if flags.flag_sequence[at]:
        n = int(flags.longest_run[at])
        found.append(message("sign.run", "gives {n} equal scores in a row", n=n))
    return found


def is_suspect(person: AnnotatorQuality, found: Sequence[Message]) -> bool:
    """Return whether an annotator should be reviewed: a failed check, or two signs."""
    return person.checks.verdict == Verdict.FAILS or len(found) > 1
