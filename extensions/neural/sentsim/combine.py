"""Combine three parts as SentSim does (Song et al. 2021). Imports only numpy.

The published scores scale every part to its minimum and maximum over the test set, so a segment's
score depends on all other segments. Here the ranges are fitted once and then fixed. With ranges
fitted on a test set its scores equal the published ones, and other texts are scored on the same
scale.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metaeval.messages import message
from metrics.options import OptionError

Array = NDArray[np.float64]
PARTS = ("cosine", "f", "wmd")


@dataclass(frozen=True)
class Ranges:
    """Hold (minimum, maximum) of sentence cosine, token F1 and word mover's distance."""

    cosine: tuple[float, float]
    f: tuple[float, float]
    wmd: tuple[float, float]

    def __post_init__(self) -> None:
        for part in PARTS:
            low, high = getattr(self, part)
            if not low < high:
                problem = message(
                    "sentsim.range-order",
                    "The maximum of {part} must be greater than its minimum.",
                    part=part,
                )
                raise OptionError(problem, f"{part}-max")


def fit(cosine: Array, f: Array, wmd: Array) -> Ranges:
    """Return the ranges of a test set; ValueError if a part has fewer than two values."""
    parts = zip(PARTS, (cosine, f, wmd), strict=True)
    return Ranges(**{part: _range(part, values) for part, values in parts})


def _range(part: str, values: Array) -> tuple[float, float]:
    if len(np.unique(values)) < 2:
        raise OptionError(
            message(
                "sentsim.no-range",
                "All values of {part} are the same, so there is no range to scale by.",
                part=part,
            )
        )
    return float(values.min()), float(values.max())


def combine(cosine: Array, f: Array, wmd: Array, ranges: Ranges) -> Array:
    """Return combinations, (n, 3): cosine with F1, cosine with distance, and all three.

    exp(A') + exp(B'), exp(A') + exp(1 - W'), and the sum of all three terms, with v' = (v - min) /
    (max - min). Values outside the fitted range are scaled in the same way, not limited.
    """
    a = np.exp(_scale(cosine, ranges.cosine))
    b = np.exp(_scale(f, ranges.f))
    w = np.exp(1 - _scale(wmd, ranges.wmd))
    return np.stack([a + b, a + w, a + b + w], axis=1)


def _scale(values: Array, bounds: tuple[float, float]) -> Array:
    low, high = bounds
    return (values - low) / (high - low)
