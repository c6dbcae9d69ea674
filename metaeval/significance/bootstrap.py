"""Bootstrap intervals of metric-human correlations and of their differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray, IntArray, fraction, one_of, positive_int
from metaeval.correlation.coefficients import Scores
from metaeval.correlation.measure import Measure
from metaeval.correlation.panel import panel
from metaeval.correlation.values import metric_values
from metaeval.documents import has_enough_documents, unit_of
from metaeval.messages import message
from metaeval.resampling import Rng, block_counts, blocks, percentile_interval, resolve_seed
from metaeval.results import Interval, Notes, StatisticResult, TooFewWarning
from metaeval.significance.bootstrap_values import samples

RESAMPLES = ("both", "inputs", "systems")


@dataclass(frozen=True, kw_only=True, eq=False)
class BootstrapInterval(StatisticResult):
    """A percentile interval; ``samples`` holds the statistic of every sample that defines it.

    ``unit`` is the unit that is drawn, ``documents``, ``segments``, or ``systems`` if only those
    are drawn; ``n_units`` is their number.
    """

    resample: str
    samples: FloatArray
    unit: str
    n_units: int


def boot_interval(
    human: Scores,
    metric: Scores,
    measure: Measure | str = "pearson",
    *,
    other: Scores | None = None,
    resample: str = "both",
    confidence: float = 0.95,
    n_resamples: int = 1000,
    rng: Rng = None,
) -> BootstrapInterval:
    """Compute the percentile bootstrap interval of a metric's correlation with humans.

    Systems (``systems``), inputs (``inputs``) or both are drawn with replacement, the same draw for
    humans and metric (Deutsch et al. 2021, TACL). The interval of ``both`` is for new systems and
    new inputs; the other two hold one of them fixed and are narrower. Inputs are drawn as whole
    documents, because segments of one document depend on each other.

    Parameters
    ----------
    human, metric
        `ScoreMatrix`, or two vectors (for which ``resample`` is always ``inputs``).
    other
        A second metric: the interval is then of the difference ``metric`` - ``other``.
    measure
        As for `perm_test`; acc_eq calibrates its threshold in every sample.

    Returns
    -------
    BootstrapInterval
        Samples without a defined correlation are dropped and counted.

    Warns
    -----
    TooFewWarning
        Fewer than 6 documents are drawn, or no sample has a correlation: no interval. Fewer than
        20 documents: it is approximate.

    Examples
    --------
    >>> x = np.arange(40.0)
    >>> result = boot_interval(x, x + 9 * np.sin(x), n_resamples=500, rng=1)
    >>> round(result.statistic, 2), [round(end, 2) for end in result.interval[:2]]
    (0.87, [0.81, 0.92])
    """
    one_of("resample", resample, RESAMPLES)
    fraction("confidence", confidence)
    positive_int("n_resamples", n_resamples)
    measure, notes = Measure.of(measure), Notes()
    metrics = {"metric": metric} if other is None else {"metric": metric, "other": other}
    scores = panel(human, metrics, notes)
    seed = resolve_seed(rng)
    values = metric_values(measure, scores, seed, notes)
    sides = []
    for index in range(len(metrics)):
        parts = [
            samples(
                scores,
                index,
                measure,
                *_counts(seed, block, scores.valid.shape, resample, scores.clusters),
                seed,
            )
            for block in blocks(n_resamples)
        ]
        sides.append(np.concatenate(parts))
    drawn = sides[0] if other is None else sides[0] - sides[1]
    defined = drawn[~np.isnan(drawn)]
    notes.exclude("undefined-sample", len(drawn) - len(defined))
    if not len(defined):
        notes.warn(
            TooFewWarning(
                message(
                    "bootstrap.undefined",
                    "The correlation is undefined in every bootstrap sample, so there is no "
                    "interval.",
                )
            )
        )
    units = scores.clusters[scores.valid.any(axis=0)]
    draws_systems = resample == "systems" and len(scores.systems) > 1
    is_enough = draws_systems or has_enough_documents(units, notes)
    interval = percentile_interval(defined, confidence=confidence)
    return BootstrapInterval(
        n=scores.n,
        **notes.fields,
        statistic=float(values[0] if other is None else values[0] - values[1]),
        interval=interval if is_enough else Interval(np.nan, np.nan, confidence),
        method=message(
            "method.percentile-bootstrap",
            "percentile bootstrap ({measure}, {resample})",
            measure=measure.described,
            resample=resample,
        ),
        n_resamples=n_resamples,
        seed=seed,
        resample=resample,
        samples=defined,
        unit="systems" if draws_systems else unit_of(units),
        n_units=len(scores.systems) if draws_systems else len(np.unique(units)),
    )


def _counts(
    seed: int,
    block: tuple[int, int, int],
    shape: tuple[int, ...],
    resample: str,
    clusters: IntArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return how often each system and each segment is drawn in the samples of a block.

    ``clusters`` has the document of each segment; its segments are drawn together.
    """
    number, start, end = block
    codes = np.arange(shape[1]) if clusters is None else clusters
    rows = block_counts(seed, (number, 0), end - start, shape[0])
    columns = block_counts(seed, (number, 1), end - start, int(codes.max()) + 1)
    # `take` keeps the layout in memory, on which the last bits of matrix products depend.
    columns = np.take(columns, codes, axis=1)
    if resample == "inputs" or shape[0] == 1:
        rows = np.ones_like(rows)
    return rows, np.ones_like(columns) if resample == "systems" and shape[0] > 1 else columns
