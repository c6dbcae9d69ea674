"""Drawing hybrid systems and scoring them, as products with sparse one-hot matrices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.corpus import CorpusStatistics
from metaeval.resampling import blocks, stream

# Hybrids per block: a fixed number, since each block has its own random stream.
BLOCK = 1000


def score_hybrids(
    human: FloatArray,
    matrices: Mapping[str, FloatArray],
    counts: Mapping[str, FloatArray],
    statistics: Mapping[str, CorpusStatistics],
    drawable: BoolArray,
    n_hybrids: int,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Draw hybrids and return human scores (K) and metric scores (metrics x K).

    A block of draws is a one-hot matrix over cells; its product with all features at once gives
    every sum of every hybrid.
    """
    used = drawable.any(axis=0)
    segments = int(used.sum())
    planes = [human, *matrices.values()]
    features = [np.nan_to_num(plane[:, used]).reshape(-1, 1) for plane in planes]
    features += [np.nan_to_num(c[:, used]).reshape(-1, c.shape[2]) for c in counts.values()]
    table = np.concatenate(features, axis=1)
    sums = np.concatenate(
        [
            _one_hot(stream(seed, number), end - start, drawable[:, used]) @ table
            for number, start, end in blocks(n_hybrids, BLOCK)
        ]
    )
    scores = list((sums[:, : len(planes)] / segments).T)
    start = len(planes)
    for name, values in counts.items():
        stop = start + values.shape[2]
        scores.append(statistics[name].score(sums[:, start:stop]))
        start = stop
    return scores[0], np.array(scores[1:])


def _one_hot(generator: np.random.Generator, rows: int, drawable: BoolArray) -> csr_array:
    """Return hybrids x cells (system-major), 1 where the hybrid takes the cell."""
    chosen = draw_systems(generator, rows, drawable)
    segments = drawable.shape[1]
    cells = chosen * segments + np.arange(segments)
    starts = np.arange(rows + 1) * segments
    return csr_array((np.ones(cells.size), cells.ravel(), starts), shape=(rows, drawable.size))


def draw_systems(generator: np.random.Generator, rows: int, drawable: BoolArray) -> IntArray:
    """Draw, per hybrid and segment, one of the systems that are drawable there (rows x N)."""
    choices = drawable.sum(axis=0)
    if (choices == len(drawable)).all():
        return generator.integers(0, len(drawable), size=(rows, len(choices)))
    order = np.argsort(~drawable, axis=0, kind="stable")
    draws = generator.integers(0, choices, size=(rows, len(choices)))
    return np.asarray(order[draws, np.arange(len(choices))], dtype=np.int64)
