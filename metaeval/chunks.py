"""Swap masks arranged by group, for all pairs of metrics at once."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.panels import grouped

Masks: TypeAlias = NDArray[np.int8]


class Chunk:
    """Some of the masks, arranged by group; shared by all pairs of metrics."""

    def __init__(self, masks: Masks, valid: BoolArray, grouping: str) -> None:
        self.masks = masks
        self._by_group = grouped(masks, valid, grouping)

    @cached_property
    def flat(self) -> FloatArray:
        """Masks x cells."""
        return self.masks.reshape(len(self.masks), -1).astype(np.float64)

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
