"""System-level correlation from hybrid systems drawn at random (Graham and Liu 2016)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metaeval.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    Remembered,
    content,
    positive_int,
)
from metaeval.correlation.hybrids.cells import drawable_cells
from metaeval.correlation.hybrids.limits import limits_of
from metaeval.correlation.rows import pearson_table
from metaeval.messages import message
from metaeval.resampling import Rng, blocks, draws_below, resolve_seed
from metaeval.results import ConstantInputWarning, Notes, Result
from metaeval.scores.corpus import CorpusStatistics
from metaeval.scores.matrix import ScoreMatrix

# Hybrids per block: a fixed number, since each block has its own random stream.
BLOCK = 1000
# Numbers drawn that are held together (a byte each), and bytes of cells that a processor's cache
# holds.
HELD, CACHED = 2**24, 2**19


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
        The limit of r as the number of hybrids grows: in closed form, for corpus metrics by the
        line through their score at the mean counts (`corpus_limit`).
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
    DataError
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
    >>> result.limit.round(3).tolist(), bool(abs(result.r - result.limit).max() < 0.05)
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
    table = pearson_table(np.vstack([human_scores, metric_scores]))
    for place in np.flatnonzero(np.isnan(np.diag(table))):
        notes.warn(
            ConstantInputWarning(
                message(
                    "hybrids.constant-human",
                    "The human score is the same for every hybrid system, so r is undefined.",
                )
                if place == 0
                else message(
                    "hybrids.constant-metric",
                    "All hybrid systems have the same score by {metric}, so r is undefined.",
                    metric=names[place - 1],
                )
            )
        )
    limit, _ = limits_of(human.values, matrices, counts, statistics, drawable)
    return HybridCorrelations(
        n=int(used.sum()),
        **notes.fields,
        metrics=names,
        r=table[0, 1:],
        limit=limit,
        between=table[1:, 1:],
        human_scores=human_scores,
        metric_scores=metric_scores,
        systems=tuple(np.array(human.systems)[drawable.any(axis=1)].tolist()),
        cells=int(drawable.sum()),
        n_informative=int((drawable.sum(axis=0) > 1).sum()),
        n_hybrids=n_hybrids,
        seed=seed,
    )


def score_hybrids(
    human: FloatArray,
    matrices: Mapping[str, FloatArray],
    counts: Mapping[str, FloatArray],
    statistics: Mapping[str, CorpusStatistics],
    drawable: BoolArray,
    n_hybrids: int,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Draw hybrids and return human scores (K) and metric scores (metrics x K)."""
    used = drawable.any(axis=0)
    segments = int(used.sum())
    planes = [human, *matrices.values()]
    features = [np.nan_to_num(plane[:, used]).reshape(-1, 1) for plane in planes]
    features += [np.nan_to_num(c[:, used]).reshape(-1, c.shape[2]) for c in counts.values()]
    sums = _sums(drawable[:, used], np.concatenate(features, axis=1), n_hybrids, seed)
    scores = list((sums[:, : len(planes)] / segments).T)
    start = len(planes)
    for name, values in counts.items():
        stop = start + values.shape[2]
        scores.append(statistics[name].score(sums[:, start:stop]))
        start = stop
    return scores[0], np.array(scores[1:])


def _sums(drawable: BoolArray, table: FloatArray, n_hybrids: int, seed: int) -> FloatArray:
    """Return hybrids x features: sums over what each hybrid takes of a table (cells x features).

    Metrics stay while judgments come, and floors meet the same humans: what was summed over the
    same draws is remembered. Where few of the human scores (the first feature) have changed since,
    only their differences are summed.
    """
    drawn = content(drawable, n_hybrids, seed)
    keys = [content(drawn, column) for column in table.T]
    found = [_remembered.get(key) for key in keys]
    if found[0] is None:
        human = _updated_sums(drawn, drawable, table[:, 0], n_hybrids, seed)
        found[0] = None if human is None else _remembered.put(keys[0], human)
    new = [place for place, known in enumerate(found) if known is None]
    if new:
        summed = _drawn_sums(drawable, table[:, new], n_hybrids, seed)
        for place, column in zip(new, summed.T, strict=True):
            found[place] = _remembered.put(keys[place], np.ascontiguousarray(column))
    if new and not new[0]:
        _summed.put(drawn, np.concatenate([found[0], table[:, 0]]))
    return np.stack([column for column in found if column is not None], axis=1)


_remembered = Remembered(2**22)
# Of each set of draws: the sums of human scores that were last summed as a whole, and these scores.
# Later sums differ from them and not from each other, so that no rounding adds up.
_summed = Remembered(2**26)
# Differences are summed where they are of fewer segments than one in this number.
FEW = 4


def _updated_sums(
    drawn: bytes, drawable: BoolArray, human: FloatArray, n_hybrids: int, seed: int
) -> FloatArray | None:
    """Return the sums of human scores by those last summed; None where too many have changed."""
    known = _summed.get(drawn)
    if known is None:
        return None
    moved = human - known[n_hybrids:]
    segments = np.flatnonzero((moved.reshape(drawable.shape) != 0.0).any(axis=0))
    if FEW * len(segments) > drawable.shape[1]:
        return None
    change = _drawn_sums(drawable, moved[:, None], n_hybrids, seed, segments=segments)
    return np.asarray(known[:n_hybrids] + change[:, 0])


def _drawn_sums(
    drawable: BoolArray,
    table: FloatArray,
    n_hybrids: int,
    seed: int,
    *,
    segments: IntArray | None = None,
) -> FloatArray:
    """Draw one of the systems that are drawable in each segment, and sum the rows of its cells.

    With `segments`, the cells of all others are zero.
    """
    choices = drawable.sum(axis=0)
    wanted = np.arange(len(choices)) if segments is None else segments
    # Of each segment those that are drawable, in their order.
    order = np.argsort(~drawable[:, wanted], axis=0, kind="stable").T
    ordered = table.reshape(*drawable.shape, -1)[order, wanted[:, None]]
    sums = np.tile(ordered[choices[wanted] == 1, 0].sum(axis=0), (n_hybrids, 1))
    several = ordered[choices[wanted] > 1]
    width, n_systems = several.shape[:2]
    columns = (np.cumsum(choices > 1) - 1)[wanted[choices[wanted] > 1]]
    for number, start, end in blocks(n_hybrids if width else 0, BLOCK):
        draws = draws_below(seed, (number,), end - start, choices[choices > 1])
        for chosen in draws if segments is not None else _together(draws, n_systems):
            rows = slice(start, start := start + len(chosen))
            if segments is not None:
                sums[rows] += several[np.arange(width), chosen[:, columns]].sum(axis=1)
            else:
                sums[rows] += _summed_cells(chosen, several)
    return sums


def _together(draws: Iterable[IntArray], below: int) -> Iterator[NDArray[Any]]:
    """Yield more rows at a time, as the smallest type that holds numbers ``below`` a bound."""
    dtype, held, size = np.min_scalar_type(below), [], 0
    for chosen in draws:
        held.append(chosen.astype(dtype))
        size += chosen.size
        if size >= HELD:
            yield np.concatenate(held)
            held, size = [], 0
    if held:
        yield np.concatenate(held)


def _summed_cells(chosen: NDArray[Any], cells: FloatArray) -> FloatArray:
    """Return rows x features: sums over the system that each row chose in each segment.

    ``cells`` are segments x systems x features. The cells that one row takes of a large table lie
    far apart, so some segments are summed for all rows while the cache holds their cells. The sums
    so far are the first term of the next ones: the order of additions is the same for any step.
    """
    n_rows, (width, n_systems, n_features) = len(chosen), cells.shape
    sums = np.zeros((n_rows, n_features))
    step = max(1, CACHED // cells[0].nbytes)
    for start in range(0, width, step):
        part = chosen[:, start : start + step]
        firsts = n_rows + n_systems * np.arange(part.shape[1])
        places = np.empty((n_rows, 1 + part.shape[1]), dtype=np.int32)
        places[:, 0] = np.arange(n_rows)
        np.add(part, firsts, out=places[:, 1:], casting="unsafe")
        terms = np.concatenate([sums, cells[start : start + step].reshape(-1, n_features)])
        starts = np.arange(n_rows + 1, dtype=np.int32) * places.shape[1]
        weights = np.ones(places.size)
        taken = csr_array((weights, places.ravel(), starts), shape=(n_rows, len(terms)))
        sums = np.asarray(taken @ terms)
    return sums
