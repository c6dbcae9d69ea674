"""Random swaps of two metrics' scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from metaeval.resampling import BLOCK, blocks, random_bits, stream

RESAMPLES = ("both", "both_xor", "inputs", "systems")
# Swap masks held at once; more resamples than fit are drawn and used in parts.
CELLS_AT_ONCE = 2**25


def draw_signs(
    kind: str, seed: int, n_resamples: int, shape: tuple[int, int]
) -> Iterator[NDArray[np.int8]]:
    """Yield signs (resamples x systems x segments), -1 where the two metrics' scores swap.

    ``both`` swaps each cell on its own, ``inputs`` whole segments, ``systems`` whole systems,
    ``both_xor`` a cell iff exactly one of its system and its segment is drawn (nlpstats).
    """
    per_chunk = max(1, CELLS_AT_ONCE // max(1, shape[0] * shape[1] * BLOCK))
    pending: list[NDArray[np.int8]] = []
    for number, start, end in blocks(n_resamples):
        swapped = _draw(kind, stream(seed, number), end - start, shape)
        pending.append(1 - 2 * swapped.view(np.int8))
        if len(pending) == per_chunk or end == n_resamples:
            yield np.concatenate(pending)
            pending = []


def _draw(
    kind: str, generator: np.random.Generator, rows: int, shape: tuple[int, int]
) -> NDArray[np.bool_]:
    systems, segments = shape
    if kind == "both":
        return random_bits(generator, rows, systems * segments).reshape(rows, systems, segments)
    by_system = random_bits(generator, rows, systems)[:, :, None]
    by_segment = random_bits(generator, rows, segments)[:, None, :]
    if kind == "systems":
        by_segment = np.zeros_like(by_segment)
    if kind == "inputs":
        by_system = np.zeros_like(by_system)
    return np.ascontiguousarray(by_system ^ by_segment)
