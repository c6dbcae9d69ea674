"""Loss of score from an output to its shorter form, by humans and by a metric."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, as_floats, fraction, positive_int
from metaeval.documents import clusters_from, sizes_of, unit_of
from metaeval.messages import message
from metaeval.resampling import Rng, resolve_seed
from metaeval.results import ConstantInputWarning, Notes, StatisticResult, TooFewWarning
from metaeval.systems.shortness.resampled import interval_of


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnForms(StatisticResult):
    """``statistic`` is the metric's loss minus the human loss; ``n`` counts pairs.

    ``unit`` is the resampled unit (documents or segments), ``n_units`` their number.
    ``metric_loss`` and ``human_loss`` are mean differences, longer minus shorter form, in standard
    deviations of all outputs of both forms; the statistic is their difference.
    ``metric_prefers_longer`` and ``human_prefers_longer`` are shares of pairs, ties half.
    """

    unit: str
    n_units: int
    metric_loss: float
    human_loss: float
    metric_prefers_longer: float
    human_prefers_longer: float


def own_forms(
    metric_long: ArrayLike,
    metric_short: ArrayLike,
    human_long: ArrayLike,
    human_short: ArrayLike,
    *,
    documents: Iterable[Hashable] | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    rng: Rng = None,
) -> OwnForms:
    """Compare the loss of score from longer to shorter forms by a metric and by humans.

    Parameters
    ----------
    metric_long, metric_short, human_long, human_short
        Systems x segments of the same systems at two lengths, scores higher better. A pair with any
        nan is excluded and counted.
    documents
        The document of each segment; by default each is one.
    confidence, n_resamples, rng
        Of the percentile interval over documents drawn with replacement; the standard deviations
        are always those of all outputs.

    Warns
    -----
    TooFewWarning
        No pair: nan; fewer than 20 segments, or 6 documents: no interval.
        Fewer than 20 documents: the interval is approximate.
    ApproximationWarning
        Fewer than 100 segments: the interval is somewhat too narrow.
    ConstantInputWarning
        Scores do not vary: nan.

    Examples
    --------
    >>> result = own_forms([[0.9, 0.8]], [[0.5, 0.6]], [[80.0, 70.0]], [[75.0, 65.0]],
    ...                    n_resamples=100, rng=1)
    >>> round(result.metric_loss, 3), round(result.human_loss, 3), round(result.statistic, 3)
    (1.643, 0.775, 0.869)
    """
    names = ("metric_long", "metric_short", "human_long", "human_short")
    given = (metric_long, metric_short, human_long, human_short)
    arrays = np.stack([
        as_floats(name, each, ndim=2) for name, each in zip(names, given, strict=True)
    ])  # fmt: skip
    fraction("confidence", confidence)
    positive_int("n_resamples", n_resamples)
    seed, notes = resolve_seed(rng), Notes()
    of = clusters_from(documents, arrays.shape[2])
    known = ~np.isnan(arrays).any(axis=0)
    notes.exclude("missing-score", int((~known).sum()))
    n = int(known.sum())
    scale = [_spread(arrays[place : place + 2], known) for place in (0, 2)]
    _warn(notes, n, scale)
    own, theirs = ((arrays[place] - arrays[place + 1]) / scale[place // 2] for place in (0, 2))
    sums = np.stack([
        np.where(known, each, 0.0).sum(axis=0) for each in (np.ones_like(own), own - theirs)
    ], axis=1)  # fmt: skip
    is_defined = n > 0 and all(np.isfinite(scale))
    interval = interval_of(
        sums, _ratio, of, n_resamples=n_resamples, seed=seed, confidence=confidence, notes=notes
    ) if is_defined else None  # fmt: skip
    return OwnForms(
        n=n,
        **notes.fields,
        statistic=_mean(own - theirs, known),
        method="loss of the metric less loss of humans, longer to shorter form",
        interval=interval,
        n_resamples=n_resamples,
        seed=seed,
        unit=unit_of(of[known.any(axis=0)]),
        n_units=len(sizes_of(of[known.any(axis=0)])),
        metric_loss=_mean(own, known),
        human_loss=_mean(theirs, known),
        metric_prefers_longer=_mean((np.sign(arrays[0] - arrays[1]) + 1) / 2, known),
        human_prefers_longer=_mean((np.sign(arrays[2] - arrays[3]) + 1) / 2, known),
    )


def _spread(forms: FloatArray, known: FloatArray) -> float:
    values = forms[:, known]
    spread = float(values.std(ddof=1)) if values.size > 1 else np.nan
    return spread if spread > 0 else np.nan


def _warn(notes: Notes, n: int, scale: list[float]) -> None:
    if not n:
        notes.warn(
            TooFewWarning(
                message(
                    "forms.no-pairs", "No output has scores of both its longer and shorter form."
                )
            )
        )
    elif not all(np.isfinite(scale)):
        notes.warn(
            ConstantInputWarning(
                message("forms.constant", "All scores are equal, so losses are undefined.")
            )
        )


def _ratio(sums: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums[:, 1] / sums[:, 0])


def _mean(values: FloatArray, known: FloatArray) -> float:
    return float(values[known].mean()) if known.any() else np.nan
