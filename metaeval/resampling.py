"""Seeds and random streams: the same seed gives the same result on any machine.

Resamples are drawn in blocks of fixed size; each block has its own stream, spawned from the seed
and the block's number. So neither the number of workers nor the memory available changes a draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from metaeval.arrays import BoolArray, FloatArray, IntArray, positive_int
from metaeval.messages import data_error
from metaeval.results import Interval

Rng: TypeAlias = int | np.random.Generator | None
BLOCK = 128
ALTERNATIVES = ("two-sided", "greater", "less")
# Draws that are made at a time: their arrays fit into a processor's cache.
PART = 2**17
# Blocks of up to this many counts (4 MiB) are cached for the next comparison.
KEPT = 2**19


def resolve_seed(rng: Rng) -> int:
    """Return the integer seed behind ``rng``: itself, one drawn from a generator, or a fresh one.

    Raises
    ------
    DataError
        If ``rng`` is negative, or neither an integer, a numpy Generator nor None.
    """
    if rng is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)):
        raise data_error(
            "argument.rng", "rng: expected an integer, a numpy Generator or None, got {value}.",
            value=repr(rng),
        )  # fmt: skip
    return positive_int("rng", rng, minimum=0)


def stream(seed: int, *key: int) -> np.random.Generator:
    """Return the generator of a seed and a key (block, purpose)."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def blocks(n_resamples: int, size: int = BLOCK) -> Iterator[tuple[int, int, int]]:
    """Yield (block number, first resample, end) in order."""
    for number, start in enumerate(range(0, n_resamples, size)):
        yield number, start, min(start + size, n_resamples)


def random_bits(generator: np.random.Generator, rows: int, columns: int) -> BoolArray:
    """Return fair random bits, rows x columns, 1/64 of a draw each."""
    return unpacked(random_octets(generator, rows, columns), columns)


def random_octets(generator: np.random.Generator, rows: int, columns: int) -> NDArray[np.uint8]:
    """Return the same bits eight to a number, rows x octets: an eighth of the memory."""
    words = -(-columns // 64)
    raw = generator.integers(0, 2**64, size=(rows, words), dtype=np.uint64, endpoint=False)
    return raw.astype("<u8", copy=False).view(np.uint8).reshape(rows, -1)


def unpacked(octets: NDArray[np.uint8], columns: int) -> BoolArray:
    """Return the first bits of octets, rows x columns."""
    bits = np.unpackbits(octets, axis=1, count=columns, bitorder="little")
    return bits.view(np.bool_)


def draws_below(seed: int, key: tuple[int, ...], rows: int, bounds: IntArray) -> Iterator[IntArray]:
    """Yield rows x len(bounds) whole numbers from 0 to below each bound (2 or more), in parts.

    The same as ``stream(seed, *key).integers(0, bounds, size=(rows, len(bounds)))``, a third of the
    time: numpy takes the high half of bound times 32 random bits, low half of each word first, and
    takes the next 32 bits instead where the product's low half is below 2**32 modulo the bound.

    Examples
    --------
    >>> np.concatenate(list(draws_below(1, (0,), 2, np.array([2, 3, 9])))).tolist()
    [[0, 2, 7], [0, 2, 5]]
    """
    generator, width, bits = stream(seed, *key), len(bounds), np.zeros(0, dtype=np.uint32)
    wide, refused = bounds.astype(np.uint64), (2**32 % bounds).astype(np.uint32)
    step = max(1, PART // max(width, 1))
    for start in range(0, rows, step):
        size = min(step, rows - start) * width
        while True:
            words = generator.integers(0, 2**64, size=(size - len(bits) + 1) // 2, dtype=np.uint64)
            bits = np.concatenate([bits, words.astype("<u8", copy=False).view("<u4")])
            products = bits[:size].reshape(-1, width) * wide
            again = products.astype("<u8", copy=False).view("<u4")[:, ::2] < refused
            if not again.any():
                break
            bits = np.delete(bits, again.argmax())
        bits = bits[size:]
        yield (products >> np.uint64(32)).view(np.int64)


def resample_counts(generator: np.random.Generator, rows: int, n: int) -> FloatArray:
    """Return how often each of ``n`` units occurs in ``rows`` bootstrap samples of size n."""
    draws = generator.integers(0, n, size=(rows, n))
    draws += np.arange(rows)[:, None] * n
    counts = np.bincount(draws.ravel(), minlength=rows * n).reshape(rows, n)
    return counts.astype(np.float64)


def block_counts(seed: int, key: tuple[int, ...], rows: int, n: int) -> FloatArray:
    """Return `resample_counts` of a block's stream, read-only: many comparisons share the draws."""
    return (_kept_counts if rows * n <= KEPT else _new_counts)(seed, key, rows, n)


def _new_counts(seed: int, key: tuple[int, ...], rows: int, n: int) -> FloatArray:
    counts = resample_counts(stream(seed, *key), rows, n)
    counts.flags.writeable = False
    return counts


_kept_counts = lru_cache(maxsize=16)(_new_counts)


def resampled_pvalue(
    null: FloatArray,
    observed: FloatArray | float,
    alternative: str,
    slack: FloatArray | float,
    *,
    is_exact: bool = False,
) -> FloatArray:
    """Return (k + 1) / (n + 1), where k of n resamples (axis 0) reach the observed value.

    What is equal up to ``slack`` reaches it, and so does an undefined resample; nan where nothing
    is observed. Where all resamples there are were taken (``is_exact``), they hold the observed.
    """
    missed = falls_short(null, observed, alternative, slack)
    own = 0 if is_exact else 1
    found = (len(null) - missed.sum(axis=0) + own) / (len(null) + own)
    return np.where(np.isnan(observed), np.nan, found)


def falls_short(
    null: FloatArray, observed: FloatArray | float, alternative: str, slack: FloatArray | float
) -> BoolArray:
    """Return which resamples (axis 0) do not reach the observed value; undefined ones reach it."""
    if alternative == "two-sided":
        return np.asarray(np.abs(null) < np.abs(observed) - slack)
    sign = 1.0 if alternative == "greater" else -1.0
    return np.asarray(sign * null < sign * observed - slack)


def expanded_tail(tail: float, n_units: float) -> float:
    """Return the share of bootstrap samples to cut off so that ``tail`` lies beyond the end.

    A bootstrap over N units spreads by sqrt((N - 1)/N) of what it should and has the tails of a
    normal distribution, where Student's t holds: Phi(-sqrt(N/(N - 1)) t_{N-1}), the expanded
    percentile interval (Hesterberg 2015, "What Teachers Should Know About the Bootstrap"). Of units
    of unequal size N is their effective number (`metaeval.documents.effective_units`).

    Examples
    --------
    >>> round(expanded_tail(0.025, 10), 4), round(expanded_tail(0.025, 1000), 4)
    (0.0086, 0.0248)
    """
    return float(ndtr(-np.sqrt(n_units / (n_units - 1)) * stdtrit(n_units - 1, 1.0 - tail)))


def expanded_pvalue(pvalues: ArrayLike, n_units: float, alternative: str) -> FloatArray:
    """Return p-values of a bootstrap over N units as `expanded_tail` has its intervals.

    p <= alpha exactly where the expanded interval of confidence 1 - alpha excludes the null.
    """
    sides = 2.0 if alternative == "two-sided" else 1.0
    z = ndtri(np.asarray(pvalues, dtype=np.float64) / sides)
    return np.asarray(sides * stdtr(n_units - 1, np.sqrt((n_units - 1) / n_units) * z))


def percentile_interval(
    samples: FloatArray,
    *,
    confidence: float = 0.95,
    fewest: int = 1,
    expanded: float | None = None,
) -> Interval:
    """Return the ends of the central share of the defined samples; nan if there are too few.

    ``expanded`` is the effective number of units drawn where the interval is to be expanded for it.
    """
    known, tail = samples[~np.isnan(samples)], (1.0 - confidence) / 2.0
    tail = tail if expanded is None else expanded_tail(tail, expanded)
    ends = np.quantile(known, [tail, 1.0 - tail]) if len(known) >= fewest else (np.nan, np.nan)
    return Interval(float(ends[0]), float(ends[1]), confidence)


def tail(lower: float, upper: float, alternative: str) -> float:
    """Return the p of an alternative from P(<= observed) and P(>= observed); keeps nan."""
    both = min(2.0 * min(lower, upper), 1.0)
    return {"less": lower, "greater": upper, "two-sided": both}[alternative]
