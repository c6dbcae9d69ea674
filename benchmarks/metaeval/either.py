"""How often WMT26's comparison tells two equal systems apart, on real judgments.

``PYTHONPATH=. python -m benchmarks.metaeval.either [samples]``. ESA scores of WMT23 en-de
(TOUCHSTONE_DATA), segments drawn with replacement, two systems drawn from all. They are made equal
by giving each segment's two scores to either of them by a coin: the scores, their ties and the
correlation of the two on a segment stay real. Each system is then judged on all of the segments or
on a share. `wmt26` is either of its two bootstraps, `permutation` the paired test that is ours;
both are one-sided at .05, so that 5 in 100 are right.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from benchmarks.metaeval.corrections import real
from metaeval import ScoreMatrix, StatisticsWarning
from metaeval.arrays import FloatArray
from metaeval.systems.ranking import rank_systems

HUMAN = "esa_1"
RULES = ("wmt26", "permutation")
DESIGNS = ((100, 1.0), (100, 0.5), (100, 1 / 3), (300, 1 / 3), (300, 0.1))


def equal_pair(human: FloatArray, size: int, share: float, rng: np.random.Generator) -> FloatArray:
    """2 x size: scores of two systems between which nothing but chance differs."""
    both = human[rng.choice(len(human), size=2, replace=False)]
    both = both[:, ~np.isnan(both).any(axis=0)]
    pair = both[:, rng.integers(both.shape[1], size=size)]
    swapped = rng.random(size) < 0.5
    pair = np.where(swapped, pair[::-1], pair)
    return np.asarray(np.where(rng.random(pair.shape) < share, pair, np.nan))


def rejects(pair: FloatArray, rule: str, seed: int) -> bool:
    """Whether the first system is called better."""
    matrix = ScoreMatrix(pair, ("A", "B"), tuple(map(str, range(pair.shape[1]))))
    found = rank_systems(matrix, test=rule, n_resamples=500, rng=seed)
    first, second = found.systems.index("A"), found.systems.index("B")
    return bool(found.pvalues[first, second] < 0.05)


def main(samples: int) -> None:
    """Print for each design how many of 100 equal pairs each rule distinguishes."""
    human, _ = real(HUMAN)
    warnings.simplefilter("ignore", StatisticsWarning)
    rng = np.random.default_rng(26)
    for size, share in DESIGNS:
        counts = dict.fromkeys(RULES, 0)
        for number in range(samples):
            pair = equal_pair(human, size, share, rng)
            for rule in RULES:
                counts[rule] += rejects(pair, rule, number)
        told = ", ".join(f"{rule} {100 * n / samples:.1f}" for rule, n in counts.items())
        print(f"{size} segments, each judged on {share:.0%}: {told}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
