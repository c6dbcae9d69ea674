"""The judgments of a replication bundle: human scores, times, traps and agreement."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.agreement import krippendorff_alpha, one_vs_rest_pearson
from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.controls import annotation_times, trap_levels
from metaeval.standardize import z_scores
from metaeval.textfiles import Table

Row = dict[str, Any]
NOTHING = -1


@dataclass(frozen=True, eq=False)
class JudgmentFile:
    """The judgments that count, in the annotators' orders; ``output`` is NOTHING for controls."""

    people: tuple[str, ...]
    annotator: tuple[str, ...]
    kind: tuple[str, ...]
    system: tuple[str, ...]
    segment: tuple[str, ...]
    item: IntArray
    output: IntArray
    score: FloatArray
    seconds: FloatArray
    is_target: BoolArray


def read_judgments(path: str | Path, annotators: str | Path) -> JudgmentFile:
    """Read judgments.tsv and annotators.tsv of a bundle; excluded annotators are left out."""
    people = Table(annotators, ["annotator", "is_excluded"])
    excluded = {
        people.text(n, row, "annotator"): people.number(n, row, "is_excluded") > 0
        for n, row in people.rows
    }
    names = ["annotator", "kind", "item", "output", "score", "seconds", "is_target"]
    table = Table(path, [*names, "system", "segment"])
    kept = [(n, row) for n, row in table.rows if not excluded[table.text(n, row, "annotator")]]

    def texts(name: str) -> tuple[str, ...]:
        return tuple(row[table.columns[name]].strip() for _, row in kept)

    def numbers(name: str) -> FloatArray:
        return np.array([table.number(n, row, name) for n, row in kept], dtype=np.float64)

    outputs = numbers("output")
    return JudgmentFile(
        tuple(name for name, is_out in excluded.items() if not is_out),
        texts("annotator"),
        texts("kind"),
        texts("system"),
        texts("segment"),
        numbers("item").astype(np.int64),
        np.where(np.isnan(outputs), NOTHING, outputs).astype(np.int64),
        numbers("score"),
        numbers("seconds"),
        numbers("is_target") > 0,
    )


def human_rows(judged: JudgmentFile, *, form: str, pool: str) -> list[Row]:
    """Return the mean human score of every judged output, as z-scores or raw."""
    values = judged.score
    if form == "z" and len(values):
        is_pool = np.array(judged.kind) == "target" if pool == "targets" else None
        values = z_scores(judged.score, judged.annotator, pool=is_pool).z
    wanted = judged.is_target & (judged.output >= 0) & ~np.isnan(values)
    outputs, first, place = np.unique(judged.output[wanted], return_index=True, return_inverse=True)
    counts = np.bincount(place, minlength=len(outputs))
    means = np.bincount(place, weights=values[wanted], minlength=len(outputs)) / np.maximum(
        counts, 1
    )
    rows = np.flatnonzero(wanted)[first]
    return [
        {"system": judged.system[row], "segment": judged.segment[row], "n": int(n),
         "human": float(mean)}
        for row, n, mean in zip(rows, counts, means, strict=True)
    ]  # fmt: skip


def quality_rows(judged: JudgmentFile) -> list[Row]:
    """Return times, traps, and agreement with and without traps, as name and value."""
    kinds = np.array(judged.kind)
    found: Row = {"judgments": len(judged.score)}
    if (timed := ~np.isnan(judged.seconds)).any():
        times = annotation_times(judged.seconds[timed])
        found |= {"seconds": times.mean, "seconds_cut": times.mean_cut}
    traps, targets = kinds == "trap", kinds == "target"
    if traps.any() and (judged.score >= 0).all():
        levels = trap_levels(judged.score[traps])
        found |= {"traps_zero": levels.zero, "traps_low": levels.low, "traps_high": levels.high}
    if traps.any():
        found |= _agreement(judged, targets | traps, "with_traps")
    found |= _agreement(judged, targets, "without_traps")
    return [{"statistic": name, "value": value} for name, value in found.items()]


def _agreement(judged: JudgmentFile, chosen: BoolArray, suffix: str) -> Row:
    if not chosen.any():
        return {}
    codes = {name: code for code, name in enumerate(judged.people)}
    annotator = np.array([codes[name] for name in judged.annotator])[chosen]
    z = z_scores(judged.score[chosen], annotator.tolist()).z
    standard = _ratings(judged, chosen, annotator, z)
    raw = _ratings(judged, chosen, annotator, judged.score[chosen])
    one = one_vs_rest_pearson(standard, annotators=list(judged.people))
    return {
        f"one_vs_rest_{suffix}": one.statistic,
        f"alpha_z_{suffix}": krippendorff_alpha(standard).statistic,
        f"alpha_raw_{suffix}": krippendorff_alpha(raw).statistic,
    }


def _ratings(
    judged: JudgmentFile, chosen: BoolArray, annotator: IntArray, values: FloatArray
) -> FloatArray:
    """Annotators x units, an output once in however many items it is shown; means of repeats."""
    output, item = judged.output[chosen], judged.item[chosen]
    units, column = np.unique(np.where(output >= 0, output, -1 - item), return_inverse=True)
    size, cell = len(judged.people) * len(units), annotator * len(units) + column
    defined = ~np.isnan(values)
    sums = np.bincount(cell[defined], weights=values[defined], minlength=size)
    counts = np.bincount(cell[defined], minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counts > 0, sums / counts, np.nan)
    return np.asarray(means.reshape(len(judged.people), len(units)))
