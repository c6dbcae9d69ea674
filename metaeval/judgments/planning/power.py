"""Power analysis: how many judgments are needed to detect a difference between two systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from metaeval.arrays import FloatArray, IntArray, at_least, fraction, one_of, positive_int
from metaeval.correlation.intervals.independent import wilson_interval
from metaeval.documents import DOCUMENTS, FEW_DOCUMENTS, FEWEST_DOCUMENTS, SEGMENTS
from metaeval.judgments.planning.components import VarianceComponents
from metaeval.messages import data_error, message, plural
from metaeval.resampling import Rng, blocks, resolve_seed, stream
from metaeval.results import ConstantInputWarning, Notes, Result, TooFewWarning

DESIGNS = ("same_annotators", "same_segments", "independent")
LARGEST_N = 1_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class PowerTable(Result):
    """Power for every number of segments and of annotators per item; ``n`` counts simulations.

    Attributes
    ----------
    power, low, high
        Annotators per item x segments: the share of simulated studies that find the difference,
        and its Monte Carlo interval (Wilson, 95%).
    exact, normal
        The same from the noncentral t distribution, and from the normal approximation.
    smallest
        Targets x annotators per item: the fewest segments whose exact power reaches the target;
        0 if even a million segments do not reach it.
    sds
        Per number of annotators: standard deviation of the difference on one segment (paired),
        or of one system's score of a segment (independent).
    document_size
        Segments per document; 1 where each is one.
    design_effects
        Per number of annotators: 1 + (m - 1) rho of documents of m segments whose values correlate
        by rho (`correlations`), by which segments count less than independent ones.
    unit, n_units
        The unit that the test treats as independent, and how many there are for each number of
        segments.
    """

    annotators_per_item: tuple[int, ...]
    n_segments: tuple[int, ...]
    power: FloatArray
    low: FloatArray
    high: FloatArray
    exact: FloatArray
    normal: FloatArray
    targets: tuple[float, ...]
    smallest: IntArray
    sds: FloatArray
    difference: float
    design: str
    alpha: float
    n_pairs: int
    seed: int
    document_size: float
    design_effects: FloatArray
    unit: str
    n_units: tuple[int, ...]

    @property
    def correlations(self) -> FloatArray:
        """Return the correlation rho of two segments of one document, per number of annotators."""
        if self.document_size <= 1.0:
            return np.zeros(len(self.design_effects))
        return (self.design_effects - 1.0) / (self.document_size - 1.0)

    @property
    def alpha_per_test(self) -> float:
        """The level of one test, by Bonferroni."""
        return self.alpha / self.n_pairs


def power_table(
    components: VarianceComponents,
    *,
    difference: float,
    n_segments: Iterable[int],
    annotators_per_item: Iterable[int],
    design: str = "same_segments",
    document_size: float | None = None,
    alpha: float = 0.05,
    n_pairs: int = 1,
    targets: Sequence[float] = (0.8, 0.9),
    n_simulations: int = 2000,
    rng: Rng = None,
) -> PowerTable:
    """Compute the power of the two-sided t-test between two systems' segment scores.

    A segment score is the mean of its judgments. Studies are simulated from normal effects with
    the given variances, component by component, and tested like real ones. All cells share their
    random numbers, so they can be compared; the noncentral t distribution gives the same without
    simulation and serves for the search.

    If documents have several segments, the test is over documents: an annotator rates a whole
    document, the variance shared by its segments is not divided by their number, and t has one
    degree of freedom fewer than there are documents.

    Parameters
    ----------
    components
        From `variance_components`, or `VarianceComponents.stated`.
    difference
        True difference of the two systems, in the unit of the scores.
    design
        ``same_annotators``: both outputs of a segment are judged by the same annotators, whose
        severity cancels. ``same_segments``: both systems on the same segments, by different
        annotators.
        ``independent``: each system on segments of its own (unpaired test with pooled variance).
    document_size
        Segments per document; default: that of the components.
    n_pairs
        Pairs of systems that are compared: alpha is divided by it (Bonferroni).

    Raises
    ------
    DataError
        If an argument is out of range, for instance a difference of 0.

    Warns
    -----
    ConstantInputWarning
        All variances are 0: power is nan.

    Examples
    --------
    >>> assumed = VarianceComponents.stated(segment=0, output=0.5, annotator=0, residual=0)
    >>> table = power_table(
    ...     assumed, difference=0.5, n_segments=[34], annotators_per_item=[1], rng=1
    ... )
    >>> table.exact.round(4).tolist(), table.smallest.tolist()
    ([[0.8078]], [[34], [44]])
    """
    sizes = tuple(sorted({positive_int("n_segments", size, minimum=2) for size in n_segments}))
    per_item = tuple(sorted({positive_int("annotators_per_item", m) for m in annotators_per_item}))
    at_least("n_segments", len(sizes), 1)
    at_least("annotators_per_item", len(per_item), 1)
    one_of("design", design, DESIGNS)
    fraction("alpha", alpha)
    positive_int("n_pairs", n_pairs)
    positive_int("n_simulations", n_simulations)
    if not np.isfinite(difference) or difference == 0.0:
        raise data_error(
            "argument.difference", "The difference must be a number other than 0, not {value}.",
            value=difference,
        )  # fmt: skip
    notes, seed, level = Notes(), resolve_seed(rng), alpha / n_pairs
    notes.absorb(components)
    of = components.document_size if document_size is None else float(document_size)
    at_least("document_size", of, 1)
    units = tuple(max(2, int(size / of)) for size in sizes)
    _warn_few(notes, units, of)
    sds, unit_sds = (
        np.array([np.sqrt(_variance(components, design, m, size)) for m in per_item])
        for size in (1.0, of)
    )
    if not sds.all():
        notes.warn(
            ConstantInputWarning(
                message(
                    "power.no-variance",
                    "All variances are 0, so power is undefined: any difference would be detected.",
                )
            )
        )
    found = _simulate(
        _parts(components, design, of), abs(difference), units, per_item, design, level,
        n_simulations, seed,
    )  # fmt: skip
    low, high = wilson_interval(found, n_simulations)
    grid = [[(sd, size) for size in units] for sd in unit_sds]
    return PowerTable(
        n=n_simulations,
        **notes.fields,
        annotators_per_item=per_item,
        n_segments=sizes,
        power=found,
        low=low,
        high=high,
        exact=np.array(
            [[_exact(difference, sd, n, design, level) for sd, n in row] for row in grid]
        ),
        normal=np.array(
            [[_normal(difference, sd, n, design, level) for sd, n in row] for row in grid]
        ),
        targets=tuple(fraction("targets", target) for target in targets),
        smallest=np.array(
            [
                [ceil(of * _smallest(difference, sd, design, level, target)) for sd in unit_sds]
                for target in targets
            ],
            dtype=np.int64,
        ),
        sds=sds,
        difference=float(difference),
        design=design,
        alpha=alpha,
        n_pairs=n_pairs,
        seed=seed,
        document_size=of,
        design_effects=np.divide(
            of * unit_sds**2, sds**2, out=np.full(len(sds), np.nan), where=sds > 0.0
        ),
        unit=DOCUMENTS if of > 1.0 else SEGMENTS,
        n_units=units,
    )


def _warn_few(notes: Notes, units: tuple[int, ...], document_size: float) -> None:
    if document_size > 1.0 and min(units) < FEW_DOCUMENTS:
        notes.warn(
            TooFewWarning(
                plural(
                    "power.few-documents",
                    "With {size:.3g} segments per document, the smallest of these campaigns has "
                    "{n} document. Tests on fewer than {few} documents are approximate, and an "
                    "interval needs at least {fewest}.",
                    "With {size:.3g} segments per document, the smallest of these campaigns has "
                    "{n} documents. Tests on fewer than {few} documents are approximate, and an "
                    "interval needs at least {fewest}.",
                    size=document_size,
                    n=min(units),
                    few=FEW_DOCUMENTS,
                    fewest=FEWEST_DOCUMENTS,
                )
            )
        )


def _parts(
    components: VarianceComponents, design: str, document_size: float
) -> tuple[float, float]:
    """Return the variance per document that more annotators do not reduce, and the one they divide.

    It is that of the difference between two systems, or of one system's score if the design is
    independent.
    """
    habits = components.annotator + components.annotator_document
    noise = components.residual / document_size
    noise += 0.0 if design == "same_annotators" else habits
    if design == "independent":
        shared = components.document + components.system_document
        return (components.segment + components.output) / document_size + shared, noise
    return 2.0 * (components.output / document_size + components.system_document), 2.0 * noise


def _variance(
    components: VarianceComponents, design: str, per_item: int, document_size: float
) -> float:
    fixed, divided = _parts(components, design, document_size)
    return fixed + divided / per_item


def _simulate(
    parts: tuple[float, float],
    difference: float,
    sizes: tuple[int, ...],
    per_item: tuple[int, ...],
    design: str,
    level: float,
    n_simulations: int,
    seed: int,
) -> FloatArray:
    """Return the share of studies with a significant difference: annotators per item x sizes."""
    fixed, divided = np.sqrt(parts)
    n = np.array(sizes)
    sides = 2 if design == "independent" else 1
    critical = stdtrit(sides * (n - 1), 1.0 - level / 2.0)
    hits = np.zeros((len(per_item), len(sizes)))
    for number, start, end in blocks(n_simulations):
        generator = stream(seed, number)
        drawn = [
            _segments(generator, end - start, sizes, per_item, fixed, divided) for _ in range(sides)
        ]
        with np.errstate(divide="ignore", invalid="ignore"):
            hits += (np.abs(_t(drawn, difference, n)) >= critical).sum(axis=1)
    dead = np.sqrt(fixed**2 + divided**2 / np.array(per_item)) == 0.0
    return np.where(dead[:, None], np.nan, hits / n_simulations)


def _segments(
    generator: np.random.Generator,
    studies: int,
    sizes: tuple[int, ...],
    per_item: tuple[int, ...],
    fixed: float,
    divided: float,
) -> FloatArray:
    """Draw segment scores around 0; return their sums and sums of squares over the first n.

    Shape: 2 x annotators per item x studies x sizes.
    """
    shape = (studies, sizes[-1])
    stay = fixed * generator.standard_normal(shape)
    total, seen = np.zeros(shape), 0
    bounds = np.array([0, *sizes[:-1]])
    result = np.empty((2, len(per_item), studies, len(sizes)))
    for index, count in enumerate(per_item):
        # The judgments of the larger group include those of the smaller.
        more = count - seen
        total += divided * np.sqrt(more) * generator.standard_normal(shape)
        seen = count
        scores = stay + total / count
        for power in (1, 2):
            result[power - 1, index] = np.add.reduceat(scores**power, bounds, axis=1).cumsum(axis=1)
    return result


def _t(drawn: Sequence[FloatArray], difference: float, n: IntArray) -> FloatArray:
    """Return t of each study: annotators per item x studies x sizes."""
    means = [sums / n for sums, _ in drawn]
    spreads = [(squares - sums**2 / n) / (n - 1) for sums, squares in drawn]
    if len(drawn) == 1:
        gap, error = means[0] + difference, spreads[0] / n
    else:
        gap, error = means[0] - means[1] + difference, (spreads[0] + spreads[1]) / n
    result: FloatArray = gap / np.sqrt(error)
    return result


def _error(sd: float, n: int, design: str) -> float:
    """Standard error of the difference."""
    return float(sd * np.sqrt((2.0 if design == "independent" else 1.0) / n))


def _exact(difference: float, sd: float, n: int, design: str, level: float) -> float:
    """Power by the noncentral t distribution."""
    from scipy.stats import nct

    if sd == 0.0:
        return np.nan
    df = (2 if design == "independent" else 1) * (n - 1)
    critical = stdtrit(df, 1.0 - level / 2.0)
    shift = abs(difference) / _error(sd, n, design)
    found = float(nct.sf(critical, df, shift) + nct.cdf(-critical, df, shift))
    return found if np.isfinite(found) else _normal(difference, sd, n, design, level)


def _normal(difference: float, sd: float, n: int, design: str, level: float) -> float:
    """Power if the variance were known: Phi(shift - z) + Phi(-shift - z)."""
    if sd == 0.0:
        return np.nan
    critical = ndtri(1.0 - level / 2.0)
    shift = abs(difference) / _error(sd, n, design)
    return float(ndtr(shift - critical) + ndtr(-shift - critical))


def _smallest(difference: float, sd: float, design: str, level: float, target: float) -> int:
    """Return the smallest number of segments with this power, by bisection; 0 if there is none."""
    if sd == 0.0 or _exact(difference, sd, LARGEST_N, design, level) < target:
        return 0
    low, high = 1, 2
    while _exact(difference, sd, high, design, level) < target:
        low, high = high, min(2 * high, LARGEST_N)
    while high - low > 1:
        middle = (low + high) // 2
        enough = _exact(difference, sd, middle, design, level) >= target
        low, high = (low, middle) if enough else (middle, high)
    return high
