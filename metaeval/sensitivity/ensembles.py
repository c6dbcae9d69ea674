"""Ensembles of metrics with weights learned on other documents, and what they really gain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from warnings import catch_warnings, simplefilter

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, at_least
from metaeval.correlation.intervals.clustered import CorrelationIntervals
from metaeval.correlation.intervals.crossed import correlation_intervals
from metaeval.correlation.measure import Measure
from metaeval.correlation.panel import Panel, panel
from metaeval.correlation.values import correlate_metrics
from metaeval.messages import data_error, message
from metaeval.results import DirectionWarning, Interval, Notes, StatisticsWarning
from metaeval.scores.matrix import ScoreMatrix
from metaeval.sensitivity.folds import folds

ENSEMBLE, BEST = "ensemble", "best single"


@dataclass(frozen=True, kw_only=True, eq=False)
class Ensemble:
    """An ensemble on documents that did not choose its weights.

    Attributes
    ----------
    weights
        folds x metrics: weights of the standardised metrics, learned on the other folds.
    best
        By fold, the single metric that was best on the other folds.
    held_out
        Correlations of the ensemble and of those single metrics on the held-out documents, with
        intervals and their difference.
    in_sample, best_in_sample
        The same on the documents that chose the weights and the metric: too good.
    warnings
        Of folds in which every weight is 0.
    """

    metrics: tuple[str, ...]
    weights: FloatArray
    best: tuple[str, ...]
    held_out: CorrelationIntervals
    in_sample: float
    best_in_sample: float
    warnings: tuple[StatisticsWarning, ...] = ()

    @property
    def gain(self) -> tuple[float, Interval]:
        """Correlation of the ensemble less that of the best single metric, held out."""
        found = self.held_out
        ends = (float(found.difference_lows[0, 1]), float(found.difference_highs[0, 1]))
        return float(found.differences[0, 1]), Interval(*ends, found.confidence)


def ensemble(
    human: ScoreMatrix, metrics: Mapping[str, ScoreMatrix], measure: Measure | str = "pearson"
) -> Ensemble:
    """Combine metrics by weights that are never negative, and measure the gain on held-out folds.

    Documents are split into folds (`folds`). For each, the metrics and the human scores are
    standardised on the other folds, weights are those of least squares there (Lawson and Hanson
    1974), and the held-out outputs are scored with them. The ensemble competes with the single
    metric that was best on the same other folds, so that neither has seen the documents it is
    measured on. Intervals are those of `correlation_intervals`.

    Raises
    ------
    DataError
        Fewer than two metrics.
    DataError
        All judged segments belong to one document, or no metric has a correlation on the other
        folds.

    Warns
    -----
    DirectionWarning
        Every weight is 0 in a fold, where the ensemble is a constant.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> human = ScoreMatrix(rng.normal(size=(4, 60)), "ABCD", map(str, range(60)))
    >>> parts = {k: human.with_values(human.values + rng.normal(size=(4, 60))) for k in "xy"}
    >>> found = ensemble(human, parts)
    >>> found.gain[0] > 0.05, found.weights.shape
    (True, (5, 2))
    """
    at_least("metrics", len(metrics), 2)
    measure = Measure.of(measure)
    scores = panel(human, metrics, Notes())
    masks = folds(len(scores.segments), scores.clusters) > 0.0
    combined, single = (np.full(scores.human.shape, np.nan) for _ in range(2))
    weights, best = [], []
    for held_out in masks:
        learned = ~held_out & scores.valid
        if not learned.any():
            raise data_error(
                "ensemble.one-document",
                "All judged segments belong to one document. Learning weights needs others.",
            )
        others = _values(scores, ~held_out, measure)
        if np.isnan(others).all():
            raise data_error(
                "ensemble.undefined",
                "No metric has a correlation on the documents from which weights are learned.",
            )
        z, own = scores.standardized(learned), _weights(scores, learned)
        chosen = int(np.nanargmax(others))
        combined[:, held_out] = np.tensordot(own, z, axes=1)[:, held_out]
        single[:, held_out] = z[chosen][:, held_out]
        weights.append(own)
        best.append(scores.names[chosen])
    notes, n_empty = Notes(), sum(not own.any() for own in weights)
    if n_empty:
        notes.warn(
            DirectionWarning(
                message(
                    "ensemble.no-weight",
                    "In {n} of {n_folds} folds every weight is 0, because no metric agrees with "
                    "the humans on the other folds.",
                    n=n_empty,
                    n_folds=len(weights),
                )
            )
        )
    gold = scores.human_matrix
    both = {ENSEMBLE: gold.with_values(combined), BEST: gold.with_values(single)}
    all_weights = _weights(scores, scores.valid)
    fitted = np.tensordot(all_weights, scores.standardized(), axes=1)
    everywhere = np.ones(len(scores.segments), dtype=np.bool_)
    return Ensemble(
        metrics=scores.names,
        weights=np.array(weights),
        best=tuple(best),
        held_out=correlation_intervals(gold, both, measure),
        in_sample=float(
            correlate_metrics(gold, {ENSEMBLE: gold.with_values(fitted)}, measure).correlations[0]
        ),
        best_in_sample=float(np.nanmax(_values(scores, everywhere, measure))),
        warnings=notes.warnings,
    )


def _weights(scores: Panel, learned: BoolArray) -> FloatArray:
    from scipy.optimize import nnls

    target = scores.human[learned]
    features = scores.standardized(learned)[:, learned].T
    return np.asarray(nnls(features, target - target.mean())[0] / (target.std() or 1.0))


def _values(scores: Panel, segments: BoolArray, measure: Measure) -> FloatArray:
    """Return each metric's correlation over some segments."""
    names = [name for name, used in zip(scores.segments, segments, strict=True) if used]
    part = scores.human_matrix.subset(segments=names)
    metrics = {
        name: scores.matrix(place).subset(segments=names) for place, name in enumerate(scores.names)
    }
    with catch_warnings():  # `panel` has warned of all data
        simplefilter("ignore", StatisticsWarning)
        return correlate_metrics(part, metrics, measure).correlations
