"""System-level correlation from hybrid systems (Graham and Liu 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, positive_int
from metaeval.corpus import CorpusStatistics
from metaeval.corpus_limits import corpus_limit
from metaeval.hybrid_draws import score_hybrids
from metaeval.hybrid_limits import within
from metaeval.resampling import Rng, resolve_seed
from metaeval.results import (
    ConstantInputWarning,
    MissingDataWarning,
    Notes,
    Result,
    TooFewWarning,
)
from metaeval.scores import ScoreMatrix

# A smaller share of segments that let hybrids differ is said.
FEW_INFORMATIVE = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class HybridCorrelations(Result):
    """Hybrid super-sampling of several metrics, all from one draw.

    Attributes
    ----------
    metrics
        Names, in the order of the input.
    r
        Pearson's r of human and metric scores over the hybrids; nan where undefined.
    limit
        What r tends to as the number of hybrids grows: in closed form, for corpus metrics by the
        line through their score at the mean counts (`corpus_limits`).
    between
        metrics x metrics, Pearson's r between the metrics over the hybrids (for Zou's interval
        and Williams' test with n = ``n_hybrids``).
    human_scores, metric_scores
        Scores of the hybrids: n_hybrids, and metrics x n_hybrids.
    n
        Segments drawn from; ``cells`` of them times systems could be drawn, and only
        ``n_informative`` of them have two systems to choose from.
    n_hybrids, seed
        Report both: more hybrids only narrow the interval (half-width ~ 1/sqrt(K)).
    """

    metrics: tuple[str, ...]
    r: FloatArray
    limit: FloatArray
    between: FloatArray
    human_scores: FloatArray
    metric_scores: FloatArray
    systems: tuple[str, ...]
    cells: int
    n_informative: int
    n_hybrids: int
    seed: int

    def by_metric(self) -> dict[str, float]:
        """Return metric name -> r."""
        return dict(zip(self.metrics, self.r.tolist(), strict=True))


def hybrid_supersample(
    human: ScoreMatrix,
    metrics: Mapping[str, ScoreMatrix],
    *,
    n_hybrids: int = 10_000,
    rng: Rng,
    statistics: Mapping[str, CorpusStatistics] | None = None,
) -> HybridCorrelations:
    """Correlate metrics with humans over hybrid systems.

    A hybrid takes, for every segment, the output of a system drawn at random among the systems
    whose cell is present in the human scores and in *every* metric. Its human score and the
    score of a segment metric are means over its segments; a corpus metric is computed from the
    hybrid's summed statistics, so BLEU comes from n-gram counts and not from an average. One
    draw serves all metrics (Graham and Liu 2016, NAACL).

    As the number of hybrids grows, r of a segment metric tends to
    sum h'm'/k / sqrt(sum h'^2/k . sum m'^2/k) over the cells, where ' removes each segment's
    mean over its k present systems: differences between segments cancel.

    Parameters
    ----------
    human
        systems x segments.
    metrics
        name -> scores, matched to ``human`` by system and segment names.
    n_hybrids
        Hybrid systems to draw.
    rng
        Seed or Generator; the same seed gives the same hybrids on any machine.
    statistics
        name -> `CorpusStatistics` of corpus metrics.

    Raises
    ------
    ValueError
        If a name occurs in both mappings, there is no metric, or a metric shares no cell with
        the human scores.

    Warns
    -----
    MissingDataWarning
        Cells or whole segments could not be drawn.
    TooFewWarning
        Fewer than two systems can be drawn in every segment.
    ConstantInputWarning
        A metric or the human scores do not vary over hybrids: r is nan.

    Examples
    --------
    >>> human = ScoreMatrix([[60, 70, 90], [20, 75, 50]], ["A", "B"], ["s1", "s2", "s3"])
    >>> metric = human.with_values([[0.6, 0.6, 0.8], [0.3, 0.5, 0.7]])
    >>> result = hybrid_supersample(human, {"m": metric}, n_hybrids=2000, rng=1)
    >>> result.limit.round(3).tolist(), abs(result.r - result.limit).max() < 0.05
    ([0.823], True)
    """
    statistics = statistics or {}
    positive_int("n_hybrids", n_hybrids, minimum=2)
    notes = Notes()
    matrices, counts, drawable = drawable_cells(human, metrics, statistics, notes)
    used = drawable.any(axis=0)
    seed = resolve_seed(rng)
    human_scores, metric_scores = score_hybrids(
        human.values, matrices, counts, statistics, drawable, n_hybrids, seed
    )
    names = (*metrics, *statistics)
    table = _correlation_table(human_scores, metric_scores, names, notes)
    h = within(human.values[None], drawable)[0]
    limit = [_limit(h, matrices[name], drawable) for name in metrics]
    limit += [
        corpus_limit(h, counts[name], statistics[name].score, drawable)[0] for name in statistics
    ]
    return HybridCorrelations(
        n=int(used.sum()),
        reasons=notes.reasons,
        warnings=notes.warnings,
        metrics=names,
        r=table[0, 1:],
        limit=np.array(limit),
        between=table[1:, 1:],
        human_scores=human_scores,
        metric_scores=metric_scores,
        systems=tuple(np.array(human.systems)[drawable.any(axis=1)].tolist()),
        cells=int(drawable.sum()),
        n_informative=int((drawable.sum(axis=0) > 1).sum()),
        n_hybrids=n_hybrids,
        seed=seed,
    )


def drawable_cells(
    human: ScoreMatrix,
    metrics: Mapping[str, ScoreMatrix],
    statistics: Mapping[str, CorpusStatistics],
    notes: Notes,
) -> tuple[dict[str, FloatArray], dict[str, FloatArray], BoolArray]:
    """Return metrics and counts on the human grid, and the cells that a hybrid may take."""
    _check_names(metrics, statistics)
    matrices = {name: _conform(name, human, metric) for name, metric in metrics.items()}
    counts = {name: _conform_counts(name, human, corpus) for name, corpus in statistics.items()}
    return matrices, counts, _drawable(human, matrices, counts, notes)


def _check_names(
    metrics: Mapping[str, ScoreMatrix], statistics: Mapping[str, CorpusStatistics]
) -> None:
    both = sorted(set(metrics) & set(statistics))
    if both:
        raise ValueError(f"statistics: {both[0]!r} is also in metrics")
    if not metrics and not statistics:
        raise ValueError("metrics: give at least one metric")


def _conform(name: str, human: ScoreMatrix, metric: ScoreMatrix) -> FloatArray:
    """Return the metric's values on the human grid, nan where the metric has none."""
    if metric.systems == human.systems and metric.segments == human.segments:
        return metric.values
    rows, columns = _shared(name, human, metric)
    values = np.full(human.shape, np.nan)
    shared = metric.subset(
        systems=[human.systems[i] for i in rows], segments=[human.segments[j] for j in columns]
    )
    values[np.ix_(rows, columns)] = shared.values
    return values


def _conform_counts(name: str, human: ScoreMatrix, corpus: CorpusStatistics) -> FloatArray:
    presence = corpus.presence()
    rows, columns = _shared(name, human, presence)
    values = np.full((*human.shape, corpus.values.shape[2]), np.nan)
    values[np.ix_(rows, columns)] = corpus.subset(
        [human.systems[i] for i in rows], [human.segments[j] for j in columns]
    )
    return values


def _shared(name: str, human: ScoreMatrix, metric: ScoreMatrix) -> tuple[list[int], list[int]]:
    systems, segments = set(metric.systems), set(metric.segments)
    rows = [i for i, system in enumerate(human.systems) if system in systems]
    columns = [j for j, segment in enumerate(human.segments) if segment in segments]
    if not rows or not columns:
        raise ValueError(f"{name}: no system or no segment in common with the human scores")
    return rows, columns


def _drawable(
    human: ScoreMatrix,
    matrices: Mapping[str, FloatArray],
    counts: Mapping[str, FloatArray],
    notes: Notes,
) -> BoolArray:
    """True for the cells that a hybrid may take; counts what is left out and why."""
    drawable = human.mask
    notes.exclude("cell without human score", int((~drawable).sum()))
    present = {name: ~np.isnan(values) for name, values in matrices.items()}
    present |= {name: ~np.isnan(values).any(axis=2) for name, values in counts.items()}
    for name, mask in present.items():
        missing = int((drawable & ~mask).sum())
        notes.exclude(f"cell without {name}", missing)
        drawable = drawable & mask
    lost = int((~drawable).sum())
    choices = drawable.sum(axis=0)
    if not choices.any():
        raise ValueError("human: no cell has a human score and every metric")
    if lost:
        empty = int((choices == 0).sum())
        notes.warn(
            MissingDataWarning(
                f"{lost:,} of {drawable.size:,} cells lack a human or a metric score and are never "
                f"drawn; {empty} segments have no other cell and are left out."
            )
        )
    if choices.max() < 2:
        notes.warn(TooFewWarning("No segment has two systems to draw from: hybrids are equal."))
    elif (n := int((choices > 1).sum())) < FEW_INFORMATIVE * (choices > 0).sum():
        notes.warn(
            TooFewWarning(
                f"Only {n:,} of {int((choices > 0).sum()):,} segments have two or more systems to "
                "draw from; the others tell hybrids nothing."
            )
        )
    return drawable


def _correlation_table(
    human: FloatArray, metrics: FloatArray, names: tuple[str, ...], notes: Notes
) -> FloatArray:
    """Pearson's r among human and metrics; nan rows for what does not vary."""
    rows = np.vstack([human, metrics])
    centred = rows - rows.mean(axis=1, keepdims=True)
    norms = np.sqrt((centred**2).sum(axis=1))
    flat = norms <= 1e-12 * np.abs(rows).max(axis=1) * np.sqrt(rows.shape[1])
    for index in np.flatnonzero(flat):
        whose = "The human score" if index == 0 else f"The score of {names[index - 1]}"
        notes.warn(ConstantInputWarning(f"{whose} is the same for every hybrid: r is undefined."))
    norms = np.where(flat, np.nan, norms)
    unit = centred / norms[:, None]
    # Not a matrix product: BLAS adds in another order with another number of threads.
    products = np.array([(unit * row).sum(axis=1) for row in unit])
    return np.asarray(np.clip(products, -1.0, 1.0))


def _limit(h: FloatArray, metric: FloatArray, drawable: BoolArray) -> float:
    choices = np.maximum(drawable.sum(axis=0), 1)
    m = within(metric[None], drawable)[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (h * m / choices).sum() / np.sqrt((h * h / choices).sum() * (m * m / choices).sum())
    return float(np.clip(r, -1.0, 1.0))
