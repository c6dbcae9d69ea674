"""Table of MT systems: human scores with clusters, metric scores with marks of significance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from metaeval.arrays import IntArray, one_of
from metaeval.correlation.intervals.jackknife import few_systems
from metaeval.correlation.measure import FEWEST_SYSTEMS
from metaeval.documents import DOCUMENTS, FEW_DOCUMENTS, FEWEST_DOCUMENTS
from metaeval.messages import Message, message, truncated
from metaeval.resampling import Rng, resolve_seed
from metaeval.results import MissingDataWarning, Notes, Result, TooFewWarning
from metaeval.scores.corpus import MetricScores
from metaeval.scores.matrix import ScoreMatrix
from metaeval.systems.columns import MetricColumn, compare_neighbours, metric_column, metric_order
from metaeval.systems.ranking import LEAST_SHARED, SystemRanking, rank_systems

VERSUS = ("next", "best")
NO_RANKING = message(
    "systems.no-ranking", "No system has human scores, so there is no human ranking."
)
NO_CLUSTERS = message(
    "systems.no-clusters",
    "Only whole systems have human scores. Clusters need human scores of outputs.",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemTable(Result):
    """The human ranking (None without human scores) and a column for every metric.

    ``unjudged`` names the systems without any human score if others have one: their metric scores
    are separate, and no other system is compared with them.
    """

    ranking: SystemRanking | None
    columns: tuple[MetricColumn, ...]
    versus: str
    n_resamples: int
    seed: int
    unjudged: tuple[str, ...] = ()


def system_table(
    human: ScoreMatrix,
    metrics: Mapping[str, MetricScores],
    *,
    lower: Sequence[str] = (),
    human_systems: Mapping[str, float] | None = None,
    given: Mapping[str, Mapping[str, float]] | None = None,
    versus: str = "next",
    test: str = "rank-sum",
    n_resamples: int = 1000,
    rng: Rng = None,
    labels: Mapping[str, str] | None = None,
) -> SystemTable:
    """Rank MT systems by humans and by every metric.

    Parameters
    ----------
    human
        Human segment scores, nan where not judged; ranked by `rank_systems` with ``test``.
    metrics
        name -> segment scores (a system's score is their mean) or `CorpusStatistics`. A system's
        score is computed over its own segments, a comparison of two systems over those that both
        have; a column excludes systems without any. If some systems have human scores, only those
        are ordered and compared, so marks only compare systems of the human ranking.
    lower
        Names of the metrics where lower is better.
    human_systems
        Human scores of whole systems if these were published: agreement is with those. Otherwise
        it is with the means of ``human`` over the segments that the metric scores too.
    given
        Metric -> system -> score, of metrics that came with scores of systems, which are shown
        instead of those computed from segments. Tests are over segments.
    versus
        ``next``: each system against the one below it in the metric's own order (a mark says
        better than the next); ``best``: each against the first (a mark says worse than the best).
    labels
        Names of metrics in warnings; by default their keys.

    Warns
    -----
    MissingDataWarning
        Once for all metrics: systems have scores of different segments, or two systems are in
        another order on the segments that both have.
    TooFewWarning
        No human scores; two systems share too few segments or documents for a p-value; fewer than
        three systems, over which τ is undefined.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> values = rng.normal(size=(3, 40)) + [[0], [2], [4]]
    >>> human = ScoreMatrix(values, ["A", "B", "C"], map(str, range(40)))
    >>> table = system_table(human, {"m": human.with_values(values * 2)}, rng=1)
    >>> table.columns[0].systems, table.columns[0].marks, table.columns[0].tau
    (('C', 'B', 'A'), ('‡', '‡', ''), 1.0)
    """
    one_of("versus", versus, VERSUS)
    seed, notes = resolve_seed(rng), Notes()
    ranking = rank_systems(human, test=test, rng=seed) if human.mask.any() else None
    if ranking is None:
        notes.warn(TooFewWarning(NO_RANKING if human_systems is None else NO_CLUSTERS))
    else:
        notes.absorb(ranking)
    judged = {*(ranking.systems if ranking else ()), *(human_systems or {})}
    unjudged = [name for name in human.systems if judged and name not in judged]
    orders = [
        metric_order(name, scores, name in lower, versus, (given or {}).get(name), judged)
        for name, scores in metrics.items()
    ]
    tests = compare_neighbours(orders, n_resamples, seed)
    columns = tuple(
        metric_column(one, compared, (human, human_systems))
        for one, compared in zip(orders, tests, strict=True)
    )
    _note(notes, columns, versus, labels or {})
    return SystemTable(
        n=int(human.mask.sum()),
        warnings=notes.warnings,
        ranking=ranking,
        columns=columns,
        versus=versus,
        n_resamples=n_resamples,
        seed=seed,
        unjudged=tuple(unjudged),
    )


def _note(
    notes: Notes, columns: Sequence[MetricColumn], versus: str, labels: Mapping[str, str]
) -> None:
    """Warn once for all metrics of limits of their scores and comparisons."""
    named = partial(_named, labels)
    for n in sorted({each.n_shared for each in columns if 0 < each.n_shared < FEWEST_SYSTEMS}):
        notes.warn(TooFewWarning(few_systems(n)))
    uneven = [each for each in columns if each.reasons.get("output-without-score")]
    if uneven:
        notes.warn(
            MissingDataWarning(
                message(
                    "systems.uneven-segments",
                    "{metrics}: systems have scores of different segments (segments per system: "
                    "{counts}). A score is based on a system’s own segments. Two systems are "
                    "compared on the segments that both have (segments per comparison: {shared}).",
                    metrics=named(uneven),
                    counts=_span([each.counts for each in uneven]),
                    shared=_span([_tested(each, versus) for each in uneven]),
                )
            )
        )
    few = [c for c in columns if c.shared.any() and (_tested(c, versus) < LEAST_SHARED).any()]
    if few:
        notes.warn(
            TooFewWarning(
                message(
                    "systems.few-shared-segments",
                    "{metrics}: some pairs of systems share fewer than {fewest} segments. They "
                    "have no p-value and no mark.",
                    metrics=named(few),
                    fewest=LEAST_SHARED,
                )
            )
        )
    _note_documents(notes, columns, versus, named)
    reordered = [each for each in columns if _is_reordered(each, versus)]
    if reordered:
        notes.warn(
            MissingDataWarning(
                message(
                    "systems.reordered",
                    "{metrics}: some pairs of systems have a different order on the segments that "
                    "both have than on their own segments. They have no mark.",
                    metrics=named(reordered),
                )
            )
        )


def _note_documents(
    notes: Notes,
    columns: Sequence[MetricColumn],
    versus: str,
    named: Callable[[Sequence[MetricColumn]], list[Message | str]],
) -> None:
    """Warn of comparisons on few documents, and on too few for a p-value."""
    units = [(one, _of_pairs(one.shared_units, versus)) for one in columns if one.unit == DOCUMENTS]
    if none := [one for one, n in units if ((n > 0) & (n < FEWEST_DOCUMENTS)).any()]:
        notes.warn(
            TooFewWarning(
                message(
                    "systems.too-few-shared-documents",
                    "{metrics}: some pairs of systems share fewer than {fewest} documents. They "
                    "have no p-value and no mark.",
                    metrics=named(none),
                    fewest=FEWEST_DOCUMENTS,
                )
            )
        )
    if few := [one for one, n in units if ((n >= FEWEST_DOCUMENTS) & (n < FEW_DOCUMENTS)).any()]:
        notes.warn(
            TooFewWarning(
                message(
                    "systems.few-shared-documents",
                    "{metrics}: some pairs of systems share fewer than {few} documents. Their "
                    "p-values are approximate.",
                    metrics=named(few),
                    few=FEW_DOCUMENTS,
                )
            )
        )


def _tested(column: MetricColumn, versus: str) -> IntArray:
    """Return the number of shared segments of each compared pair."""
    return _of_pairs(column.shared, versus)


def _of_pairs(counts: IntArray, versus: str) -> IntArray:
    return counts[1:] if versus == "best" else counts[:-1]


def _is_reordered(column: MetricColumn, versus: str) -> bool:
    """Return whether some pair has a different order on shared segments than on its own."""
    sign = 1.0 if column.is_lower_better == (versus == "best") else -1.0
    return bool((sign * column.differences < 0).any())


def _named(labels: Mapping[str, str], columns: Sequence[MetricColumn]) -> list[Message | str]:
    return truncated([labels.get(column.metric, column.metric) for column in columns], 3)


def _span(counts: Sequence[IntArray]) -> Message | int:
    every = np.concatenate(counts)
    if not len(every):
        return 0
    low, high = int(every.min()), int(every.max())
    return low if low == high else message("list.range", "{low} to {high}", low=low, high=high)
