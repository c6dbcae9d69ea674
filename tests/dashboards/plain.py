"""Scores of a campaign without a database."""

from collections.abc import Sequence

import numpy as np

from annotation.models import System
from dashboards.scored import Scored
from dashboards.selectors import HumanScores
from metrics.scores import MeasureScores


def measure(key: str, values: np.ndarray, *, higher_is_better: bool = True) -> MeasureScores:
    return MeasureScores(
        key=key,
        label=key.upper(),
        metric=key,
        signature=key,
        higher_is_better=higher_is_better,
        values=values,
        statistics=None,
        corpus=None,
        n_outputs=values.size,
        n_missing=int(np.isnan(values).sum()),
    )


def scored(human: np.ndarray, measures: Sequence[MeasureScores], seed: int = 5) -> Scored:
    systems = tuple(System(name=f"s{row}") for row in range(len(human)))
    rows = HumanScores(systems, tuple(range(human.shape[1])), human, None, "planted scores")
    return Scored(rows, measures, seed)


def planted(systems: int = 6, segments: int = 40) -> Scored:
    """Three metrics of falling quality; the last is better when lower."""
    rng = np.random.default_rng(11)
    human = rng.normal(size=(systems, segments)) + rng.normal(size=(systems, 1))
    noise = [rng.normal(size=human.shape) for _ in range(3)]
    return scored(
        human,
        [
            measure("good", human + noise[0]),
            measure("fair", human + 2 * noise[1]),
            measure("poor", -(human + 4 * noise[2]), higher_is_better=False),
        ],
    )
