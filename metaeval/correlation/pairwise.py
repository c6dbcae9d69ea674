"""Statistics of pairs of outputs or systems: Kendall-like, acc_eq with ties, accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray, as_pair, at_least, one_of
from metaeval.correlation.coefficients import Scores, system_sides
from metaeval.correlation.measure import Measure
from metaeval.correlation.ties import MAX_POOLED_CELLS, PairTable, pair_table
from metaeval.messages import Message, data_error, message, plural
from metaeval.results import (
    ConstantInputWarning,
    MissingDataWarning,
    Notes,
    StatisticResult,
    TooFewWarning,
    UndefinedGroupWarning,
)
from metaeval.rounding import round_to_ties
from metaeval.scores.matrix import ScoreMatrix, align


@dataclass(frozen=True, kw_only=True, eq=False)
class KendallLike(StatisticResult):
    """WMT's Kendall-like tau; ``n`` counts pairs, ``metric_ties`` those the metric ties.

    ``discordant`` includes the metric ties.
    """

    concordant: int
    discordant: int
    metric_ties: int
    threshold: float
    grouping: str


def kendall_like(
    human: ScoreMatrix,
    metric: ScoreMatrix,
    *,
    threshold: float = 25.0,
    grouping: str = "item",
) -> KendallLike:
    """WMT's daRR statistic (C - D) / (C + D), pooled over items.

    A pair of outputs counts if the human scores differ and by at least ``threshold`` (25 points
    of raw DA in WMT17-20); it is concordant if the metric prefers the same output, and
    discordant otherwise, *metric ties included* (Bojar et al. 2017). For metrics that tie often
    this punishes ties; see `acc_eq`.

    Parameters
    ----------
    human, metric
        `ScoreMatrix`, matched by names; cells missing on either side take no part.
    threshold
        Smallest human difference that counts. Human ties never count (mt-metrics-eval takes
        them as discordant when the threshold is 0).
    grouping
        ``item`` (WMT): pairs within a segment; ``none``: all pairs; ``system``: within a system.
        Always pooled, never averaged over groups.

    Warns
    -----
    ConstantInputWarning, TooFewWarning
        The metric is constant in every group, or no pair counts: nan.

    Examples
    --------
    >>> human = ScoreMatrix([[90, 10], [50, 80], [20, 75]], "ABC", ["s1", "s2"])
    >>> metric = human.with_values([[3, 1], [2, 1], [1, 5]])
    >>> result = kendall_like(human, metric)
    >>> result.concordant, result.discordant, round(result.statistic, 3)
    (4, 1, 0.6)
    """
    at_least("threshold", threshold, 0)
    notes = Notes()
    table = _pair_table(human, metric, grouping, notes)
    counted = (np.abs(table.human) >= threshold) & (table.human != 0.0)
    notes.exclude("pair-below-threshold", int((~counted).sum()))
    product = np.sign(table.human[counted]) * np.sign(table.metric[counted])
    n, concordant = len(product), int((product > 0).sum())
    is_constant = table.constant == "metric" and _is_constant(table, notes)
    if not n:
        notes.warn(
            TooFewWarning(
                message(
                    "pairs.below-threshold",
                    "No two human scores differ by {threshold} points or more, so the statistic is "
                    "undefined.",
                    threshold=threshold,
                )
            )
        )
    return KendallLike(
        n=n,
        **notes.fields,
        statistic=(2 * concordant - n) / n if n and not is_constant else np.nan,
        method="WMT Kendall-like tau",
        concordant=concordant,
        discordant=n - concordant,
        metric_ties=int((product == 0).sum()),
        threshold=threshold,
        grouping=grouping,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AccEq(StatisticResult):
    """Pairwise accuracy with ties; ``tau`` = 2 statistic - 1 is tau_eq (tau23).

    ``epsilon`` is the metric difference up to which a pair counts as tied. ``n`` counts pairs.
    """

    epsilon: float
    tau: float
    grouping: str
    n_groups: int
    is_calibrated: bool


def acc_eq(
    human: ScoreMatrix,
    metric: ScoreMatrix,
    *,
    grouping: str = "item",
    epsilon: float | None = None,
) -> AccEq:
    """Share of pairs ranked as the humans do, ties included (Deutsch et al. 2023, acc23).

    A pair agrees if both sides tie or both prefer the same output; the metric ties if the
    difference is at most ``epsilon``. Without an epsilon it is calibrated: every threshold (0 and
    each metric difference) is tried and the smallest that maximises the statistic is kept. All
    are tried exactly; mt-metrics-eval by default samples a tenth of the pairs without a seed.

    Parameters
    ----------
    human, metric
        `ScoreMatrix`, matched by names.
    grouping
        ``item`` (default): mean over segments of the accuracy among its systems; ``system``;
        or ``none`` for all pairs (at most 8,000 cells).
    epsilon
        Fixed threshold in the metric's units.

    Warns
    -----
    UndefinedGroupWarning
        Groups with fewer than two scores are excluded.
    ConstantInputWarning
        One side is constant in every group: nan. The share would be that of the other's ties.

    Examples
    --------
    >>> human = ScoreMatrix([[1, 5], [1, 3], [2, 1]], "ABC", ["s1", "s2"])
    >>> metric = human.with_values([[0.50, 0.9], [0.51, 0.7], [0.8, 0.2]])
    >>> result = acc_eq(human, metric)
    >>> round(result.statistic, 9), round(result.epsilon, 2)
    (1.0, 0.01)
    """
    notes = Notes()
    table = _pair_table(human, metric, grouping, notes)
    if epsilon is not None:
        at_least("epsilon", epsilon, 0)
    if not table.n_groups:
        notes.warn(
            TooFewWarning(
                message(
                    "pairs.no-group", "No group has two scored outputs, so acc_eq is undefined."
                )
            )
        )
        value, used = np.nan, np.nan
    elif _is_constant(table, notes):
        value, used = np.nan, np.nan if epsilon is None else epsilon
    elif epsilon is None:
        value, used = table.calibrate()
    else:
        value, used = table.accuracy(epsilon), epsilon
    return AccEq(
        n=len(table.human),
        **notes.fields,
        statistic=value,
        method="acc_eq with tie calibration" if epsilon is None else "acc_eq",
        epsilon=used,
        tau=2.0 * value - 1.0,
        grouping=grouping,
        n_groups=table.n_groups,
        is_calibrated=epsilon is None,
    )


def pairwise_accuracy(
    human: Scores | Mapping[str, Scores], metric: Scores | Mapping[str, Scores]
) -> StatisticResult:
    """Share of system pairs that the metric ranks as the humans do (Kocmi et al. 2021).

    Parameters
    ----------
    human, metric
        Vectors of system scores, two `ScoreMatrix` (averaged per system over the cells that both
        have, matched by name), or mappings language pair -> either, whose system pairs are pooled.

    Notes
    -----
    A tie on both sides agrees, a tie on one side does not. ``n`` counts system pairs.

    Warns
    -----
    ConstantInputWarning
        One side gives all systems of every language pair the same score: nan.

    Examples
    --------
    >>> pairwise_accuracy([1, 2, 3], [1, 3, 2]).statistic.__round__(3)
    0.667
    """
    notes = Notes()
    signs = [np.zeros((2, 0))]
    for name, (x, y) in _language_pairs(human, metric).items():
        both = np.array(_system_scores(name, x, y, notes))
        upper, lower = np.triu_indices(both.shape[1], 1)
        signs.append(np.sign(both[:, upper] - both[:, lower]))
    ours, theirs = np.concatenate(signs, axis=1)
    if not len(ours):
        notes.warn(
            TooFewWarning(
                message(
                    "pairs.no-two-systems",
                    "No language pair has two systems, so pairwise accuracy is undefined.",
                )
            )
        )
    elif not (ours.any() and theirs.any()):
        notes.warn(ConstantInputWarning(_constant("human" if theirs.any() else "metric")))
    return StatisticResult(
        n=len(ours),
        **notes.fields,
        statistic=float((ours == theirs).mean()) if ours.any() and theirs.any() else np.nan,
        method="pairwise system accuracy",
    )


def _is_constant(table: PairTable, notes: Notes) -> bool:
    if table.constant:
        notes.warn(ConstantInputWarning(_constant(table.constant)))
    return bool(table.constant)


def _constant(side: str) -> Message:
    if side == "human":
        return message(
            "pairs.constant-human",
            "All compared human scores are equal, so the statistic is undefined.",
        )
    return message(
        "pairs.constant-metric",
        "All compared scores of the metric are equal, so the statistic is undefined.",
    )


def _pair_table(human: ScoreMatrix, metric: ScoreMatrix, grouping: str, notes: Notes) -> PairTable:
    one_of("grouping", grouping, ("item", "none", "system"))
    if not (isinstance(human, ScoreMatrix) and isinstance(metric, ScoreMatrix)):
        raise data_error(
            "argument.no-grid", "Grouping “{grouping}” needs score matrices, not vectors.",
            grouping=grouping,
        )  # fmt: skip
    left, right = align(human, metric)
    lost = human.values.size + metric.values.size - 2 * left.values.size
    if lost:
        notes.exclude("unmatched-cell", lost)
        notes.warn(
            MissingDataWarning(
                plural(
                    "pairs.unmatched-cells",
                    "Excluded {n} output that only one side has.",
                    "Excluded {n} outputs that only one side has.",
                    n=lost,
                )
            )
        )
    missing = int((~(left.mask & right.mask)).sum())
    notes.exclude("missing-score", missing)
    x, y = left.values, right.values
    if grouping == "none":
        keep = left.mask & right.mask
        x, y = x[keep][:, None], y[keep][:, None]
        if len(x) > MAX_POOLED_CELLS:
            raise data_error(
                "data.too-many-cells",
                "Without groups, at most {limit} outputs can be compared; there are {n}. Group "
                "by item.",
                limit=MAX_POOLED_CELLS,
                n=len(x),
            )
    table = pair_table(x.T, y.T) if grouping == "system" else pair_table(x, y)
    skipped = int((~np.isnan(x + y)).any(axis=1 if grouping == "system" else 0).sum())
    skipped -= table.n_groups
    if skipped:
        notes.warn(
            UndefinedGroupWarning(
                plural(
                    "pairs.systems-with-one-score",
                    "Excluded {n} system with a single score.",
                    "Excluded {n} systems with a single score each.",
                    n=skipped,
                )
                if grouping == "system"
                else plural(
                    "pairs.segments-with-one-score",
                    "Excluded {n} segment with a single score.",
                    "Excluded {n} segments with a single score each.",
                    n=skipped,
                )
            )
        )
    return table


def _language_pairs(
    human: Scores | Mapping[str, Scores], metric: Scores | Mapping[str, Scores]
) -> dict[str, tuple[Scores, Scores]]:
    if not isinstance(human, Mapping) or not isinstance(metric, Mapping):
        if isinstance(human, Mapping) or isinstance(metric, Mapping):
            raise data_error(
                "argument.mappings", "{names}: give mappings of language pairs for both, or none.",
                names=["human", "metric"],
            )  # fmt: skip
        return {"": (human, metric)}
    if set(human) != set(metric):
        odd = sorted(set(human) ^ set(metric))
        raise data_error(
            "argument.one-side", "Only one of {names} has {name}.",
            names=["human", "metric"], name=odd[0],
        )  # fmt: skip
    return {name: (human[name], metric[name]) for name in human}


def _system_scores(name: str, x: Scores, y: Scores, notes: Notes) -> tuple[FloatArray, FloatArray]:
    if isinstance(x, ScoreMatrix) and isinstance(y, ScoreMatrix):
        left, right = system_sides(x, y, "common", Measure("pairwise_accuracy"), notes)
    elif isinstance(x, ScoreMatrix) or isinstance(y, ScoreMatrix):
        raise data_error(
            "argument.grids", "{names}: give vectors or score matrices, not both.",
            names=["human", "metric"],
        )  # fmt: skip
    else:
        left, right = map(round_to_ties, as_pair("human", x, "metric", y))
    known = ~(np.isnan(left) | np.isnan(right))
    missing = int((~known).sum())
    notes.exclude("system-without-score", missing)
    if missing:
        notes.warn(
            MissingDataWarning(
                plural(
                    "pairs.systems-missing-of",
                    "Excluded {n} system of {pair} that lacks a score.",
                    "Excluded {n} systems of {pair} that lack a score.",
                    n=missing,
                    pair=name,
                )
                if name
                else plural(
                    "pairs.systems-missing",
                    "Excluded {n} system that lacks a score.",
                    "Excluded {n} systems that lack a score.",
                    n=missing,
                )
            )
        )
    return left[known], right[known]
