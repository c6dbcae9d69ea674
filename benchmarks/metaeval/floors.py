"""How often the floor's mark errs, and how often good metrics pass it.

``PYTHONPATH=. python -m benchmarks.metaeval.floors [samples]``. Real scores with their ties (WMT23
en-de, TOUCHSTONE_DATA) on segments drawn with replacement. A metric's twin agrees with the humans
as well as itself (`corrections`): as a floor it makes a hard null, beside random numbers. Four
metrics and a floor that are the humans with equal noise (`alike`) make the hardest.
`errs` counts tables in which any metric that is no better than the floor is called above it, at
most 5 in 100; `passes` the share of the 13 metrics that are above random numbers.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.metaeval.corrections import drawn, real
from metaeval import ScoreMatrix, StatisticsWarning
from metaeval.replication.bounds import ABOVE, against_floors
from metaeval.replication.questions import Scored, parse

QUESTIONS = ("tau-b", "pearson", "tau-b/item", "acc-eq", "limit")
RANDOM, N_NULL = "random", 4


def states(
    data: Scored, keys: Sequence[str], floors: dict[str, ScoreMatrix], key: str
) -> list[str]:
    """Return the marks of some metrics against some baselines."""
    some = replace(data, metrics={name: data.metrics[name] for name in keys})
    return list(against_floors(some, floors, parse(key), random=RANDOM).states)


def shuffled(data: Scored, rng: np.random.Generator) -> Scored:
    """Return some metrics with shuffled cells, which carry no information."""
    names = list(data.metrics)[: 2 * N_NULL : 2]
    matrices = {
        name: data.human.with_values(
            rng.permutation(data.metrics[name].values.ravel()).reshape(data.human.shape)
        )
        for name in names
    }
    return replace(data, metrics=matrices)


def alike(data: Scored, rng: np.random.Generator) -> tuple[Scored, ScoreMatrix]:
    """Some metrics, and a floor as good as they: the humans with noise of twice their spread."""
    human = data.human.values
    noisy = human + rng.normal(0.0, 2 * human.std(), (N_NULL + 1, *human.shape))
    floor, *metrics = map(data.human.with_values, noisy)
    return replace(data, metrics={f"m{n}": each for n, each in enumerate(metrics)}), floor


def one_table(data: Scored, key: str, rng: np.random.Generator) -> tuple[bool, bool, bool, float]:
    """Whether nulls pass random numbers, metrics a floor like them, one its twin; how many pass."""
    random = {RANDOM: data.human.with_values(rng.random(data.human.shape))}
    null = shuffled(data, rng)
    knows_nothing = ABOVE in states(null, list(null.metrics), random, key)
    equal, floor = alike(data, rng)
    passes_equal = ABOVE in states(equal, list(equal.metrics), random | {"alike": floor}, key)
    # The metrics that agree best: random numbers do not hold them down.
    one = list(data.metrics)[-2]
    twin = ABOVE in states(data, [one], random | {"twin": data.metrics[f"{one}'"]}, key)
    passes = states(data, list(data.metrics)[::2], random, key)
    return knows_nothing, passes_equal, twin, passes.count(ABOVE) / len(passes)


def run(samples: int) -> None:
    """Print a line for each kind of human score, statistic and number of segments."""
    for human in ("mqm", "esa_1"):
        found = real(human)
        for key in QUESTIONS:
            for n in (60, 200):
                rng = np.random.default_rng(n)
                rows = [one_table(drawn(found, n, rng), key, rng) for _ in range(samples)]
                null, equal, twin, passes = np.mean(rows, axis=0)
                print(
                    f"{human:6} {key:11} {n:4} segments: errs {100 * null:4.1f} (nothing), "
                    f"{100 * equal:4.1f} (alike), {100 * twin:4.1f} (twin); "
                    f"passes {100 * passes:5.1f} %"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    warnings.simplefilter("ignore", StatisticsWarning)
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
