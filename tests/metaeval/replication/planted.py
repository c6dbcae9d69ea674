"""Made-up humans and metrics on one grid."""

from collections.abc import Mapping

import numpy as np

from metaeval import ScoreMatrix
from metaeval.replication.questions import Scored


def scored(human: np.ndarray, metrics: Mapping[str, np.ndarray], *, lower: str = "") -> Scored:
    """Metrics by key; their labels are the keys in capitals."""
    systems = [f"s{row}" for row in range(len(human))]
    matrix = ScoreMatrix(human, systems, [str(column) for column in range(human.shape[1])])
    return Scored(
        matrix,
        {key: matrix.with_values(values) for key, values in metrics.items()},
        5,
        lower=[lower] if lower else [],
        labels={key: key.upper() for key in metrics},
    )


def planted(systems: int = 6, segments: int = 40) -> Scored:
    """Three metrics of falling quality; the last is better when lower."""
    rng = np.random.default_rng(11)
    human = rng.normal(size=(systems, segments)) + rng.normal(size=(systems, 1))
    noise = [rng.normal(size=human.shape) for _ in range(3)]
    metrics = {
        "good": human + noise[0],
        "fair": human + 2 * noise[1],
        "poor": -(human + 4 * noise[2]),
    }
    return scored(human, metrics, lower="poor")
