"""Swap masks of the permutation tests: which cells exchange the two metrics' scores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.correlation.panel import grouped
from metaeval.messages import message
from metaeval.resampling import BLOCK, blocks, random_bits, random_octets, stream, unpacked

SWAPPED = {
    "both": message("swap.both", "each system’s outputs swap separately"),
    "xor": message("swap.xor", "outputs swap by system or by segment"),
    "inputs": message("swap.inputs", "segments swap for all systems together"),
    "systems": message("swap.systems", "systems swap as a whole"),
    "pairs": message("swap.pairs", "pairs of outputs swap"),
}
SWAPS = tuple(SWAPPED)
# Numbers in one chunk of masks: bounds the memory, never the draws.
CHUNK = 2**23
# Columns of packed masks unpacked at once, a multiple of eight.
COLUMNS = 2**13


class Swaps:
    """The masks of one test: +1 keeps a cell, -1 swaps it; the first mask keeps everything.

    Masks come in blocks of 128, each from its own stream, so the chunks do not matter. Columns of
    one cluster always swap together, so schemes apply to clusters.

    Parameters
    ----------
    shape
        Rows and columns of the masks.
    scheme
        ``both``: each row of a cluster separately, or each cell if clusters are single columns
        (Deutsch et al. 2021); ``xor``: a cell is swapped if its row or its cluster is, but not
        both; ``inputs``: whole clusters; ``systems``: whole rows; ``pairs``: as ``both``, for
        cells that are pairs of outputs.
    clusters
        The cluster of each column: 0, 1, … in order of appearance; by default each is its own.
    """

    def __init__(
        self,
        seed: int,
        n_resamples: int,
        shape: tuple[int, int],
        scheme: str,
        clusters: IntArray | None = None,
    ) -> None:
        self.seed, self.n_resamples, self.shape, self.scheme = seed, n_resamples, shape, scheme
        self.clusters = np.arange(shape[1]) if clusters is None else clusters
        self.n_clusters = int(self.clusters.max(initial=-1)) + 1

    def chunks(self, size: int = 0) -> Iterator[NDArray[np.int8]]:
        """Yield masks, rows x systems x segments, in order.

        ``size`` is how many numbers a test computes from each mask, if more than the cells.
        """
        step = max(1, CHUNK // (max(self.shape[0] * self.shape[1], size) * BLOCK))
        total = -(-self.n_resamples // BLOCK)
        for start in range(0, total, step):
            parts = [self._block(number) for number in range(start, min(start + step, total))]
            if start == 0:
                parts.insert(0, np.ones((1, *self.shape), dtype=np.int8))
            yield np.concatenate(parts)

    def sums(self, values: NDArray[Any], weights: FloatArray) -> FloatArray:
        """Return k x masks: sums of values with the signs of each mask, the first one's all +1.

        For masks of one row, ``both`` or ``pairs``. Columns are unpacked in slices, because there
        may be millions, and all of them would not fit into memory.

        Parameters
        ----------
        values, weights
            k x clusters, and what they are multiplied by, (clusters,).
        """
        units = self.n_clusters
        found = np.zeros((len(values), self.n_resamples + 1))
        found[:, 0] = [row @ weights for row in values]
        # Single precision is exact for counts.
        is_count = values.dtype == np.bool_ and np.ptp(weights) == 0.0
        dtype, scale = (np.float32, weights[0]) if is_count else (np.float64, 1.0)
        for number, start, stop in blocks(self.n_resamples):
            octets = random_octets(stream(self.seed, number), BLOCK, units)[: stop - start]
            swapped = np.zeros((stop - start, len(values)))
            for first in range(0, units, COLUMNS):
                last = min(first + COLUMNS, units)
                bits = unpacked(octets[:, first // 8 : -(-last // 8)], last - first)
                some = values[:, first:last].T
                if not is_count:
                    some = some * weights[first:last, None]
                swapped += bits.astype(dtype) @ some.astype(dtype)
            found[:, start + 1 : stop + 1] = found[:, :1] - 2.0 * scale * swapped.T
        return found

    def _block(self, number: int) -> NDArray[np.int8]:
        rows = min(BLOCK, self.n_resamples - number * BLOCK)
        generator = stream(self.seed, number)
        systems, units = self.shape[0], self.n_clusters
        if self.scheme in ("both", "pairs"):
            bits = random_bits(generator, BLOCK, systems * units)[:rows]
            return self._spread(_signs(bits).reshape(rows, systems, units))
        by_row = _signs(random_bits(generator, BLOCK, systems)[:rows])[:, :, None]
        by_column = _signs(random_bits(generator, BLOCK, units)[:rows])[:, None, :]
        if self.scheme == "systems":
            by_column = np.ones_like(by_column)
        if self.scheme == "inputs":
            by_row = np.ones_like(by_row)
        return self._spread(by_row * by_column)

    def _spread(self, masks: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return masks of columns from masks of clusters (..., clusters)."""
        return (
            masks if self.n_clusters == len(self.clusters) else masks.take(self.clusters, axis=-1)
        )


def _signs(bits: NDArray[np.bool_]) -> NDArray[np.int8]:
    return (1 - 2 * bits.view(np.int8)).astype(np.int8)


Masks: TypeAlias = NDArray[np.int8]


class Chunk:
    """Some of the masks, arranged by group; shared by all pairs of metrics.

    ``sums`` caches what a test computes once for all pairs.
    """

    def __init__(self, masks: Masks, valid: BoolArray, grouping: str) -> None:
        self.masks = masks
        self.sums: Any = None
        self._by_group = grouped(masks, valid, grouping)

    @cached_property
    def flat(self) -> FloatArray:
        """Masks x cells."""
        return self.masks.reshape(len(self.masks), -1).astype(np.float64)

    @cached_property
    def keeps_all(self) -> BoolArray:
        """Whether a mask swaps nothing, (masks,)."""
        return np.asarray((self.masks > 0).all(axis=(1, 2)))

    @cached_property
    def by_system(self) -> NDArray[np.float32]:
        """Systems x masks x segments."""
        moved = np.swapaxes(self.masks, 0, 1)
        return np.ascontiguousarray(moved, dtype=np.float32)

    @cached_property
    def signs(self) -> NDArray[np.float32]:
        """Groups x masks x members; every possible mask once where groups are small."""
        members = self._by_group.shape[2]
        if self.is_enumerated:
            bits = (np.arange(2**members)[:, None] >> np.arange(members)) & 1
            every: NDArray[np.float32] = (1.0 - 2.0 * bits).astype(np.float32)
            return every[None]
        moved = np.swapaxes(self._by_group, 0, 1)
        return np.ascontiguousarray(moved, dtype=np.float32)

    @property
    def is_enumerated(self) -> bool:
        """True where a group has fewer possible masks than were drawn."""
        return bool(2 ** min(self._by_group.shape[2], 62) * 2 <= len(self.masks))

    @cached_property
    def _codes(self) -> IntArray:
        weights = 2 ** np.arange(self._by_group.shape[2])
        return np.asarray((self._by_group < 0) @ weights)

    def gathered(self, values: FloatArray) -> FloatArray:
        """Return groups x masks from the values of ``signs``."""
        if not self.is_enumerated:
            return values
        return np.asarray(values[np.arange(len(values))[:, None], self._codes.T])
