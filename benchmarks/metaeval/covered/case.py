"""A case: data with a known truth, the public function that a page or command shows, one draw."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias
from zlib import crc32

import numpy as np

Size: TypeAlias = int | tuple[int, int]
Draw: TypeAlias = Callable[[np.random.Generator, Size], float]
COVERS, REJECTS, EXCEEDS = "covers", "rejects", "exceeds"
# What a case should give, and how far from it is still as stated, in per cent.
NOMINAL = {COVERS: (95, 2), REJECTS: (5, 2), EXCEEDS: (50, 5)}
NOTHING = math.nan


@dataclass(frozen=True)
class Case:
    """One line of the table.

    ``draw`` makes data, calls the function and returns 1 where the interval holds the truth (or
    the test rejects a true null), 0 where not, nan where nothing is shown. ``share`` is the part
    of the usual replicates that a slow case gets. ``note`` says why a row is outside its bounds.
    """

    shown: str
    data: str
    draw: Draw
    sizes: tuple[Size, ...]
    kind: str = COVERS
    share: float = 1.0
    note: str = ""

    @property
    def name(self) -> str:
        """A name for --only and for the seed."""
        return f"{self.shown}: {self.data}"


@dataclass(frozen=True)
class Found:
    """What the replicates of a case and size gave; ``rate`` is nan where nothing was shown."""

    rate: float
    shown: int
    replicates: int

    @property
    def error(self) -> float:
        """The standard error of the rate."""
        return math.sqrt(self.rate * (1.0 - self.rate) / self.shown) if self.shown else math.nan


def replicate(case: Case, size: Size, replicates: int) -> Found:
    """Run a case; its seed is its name's, so no case changes with the others."""
    seed = np.random.SeedSequence([crc32(case.name.encode()), *np.atleast_1d(size).tolist()])
    rng = np.random.default_rng(seed)
    hits = np.array([case.draw(rng, size) for _ in range(replicates)])
    shown = hits[~np.isnan(hits)]
    return Found(float(shown.mean()) if len(shown) else math.nan, len(shown), replicates)


def holds(low: float, high: float, truth: float) -> float:
    """Return whether an interval holds the truth; nan where it has no ends."""
    return NOTHING if math.isnan(low) or math.isnan(high) else float(low <= truth <= high)


def rejects(pvalue: float | None, level: float = 0.05) -> float:
    """Return whether a test rejects; nan where it has no p."""
    return NOTHING if pvalue is None or math.isnan(pvalue) else float(pvalue <= level)


def seed_of(rng: np.random.Generator) -> int:
    """Return a seed for whatever the function itself draws."""
    return int(rng.integers(2**31))


def pair_of(size: Size) -> tuple[int, int]:
    """Return systems and segments."""
    assert isinstance(size, tuple)
    return size


def count_of(size: Size) -> int:
    """Return a single number."""
    assert isinstance(size, int)
    return size
