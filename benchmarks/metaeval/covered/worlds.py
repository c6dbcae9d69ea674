"""Human and metric scores over systems x segments whose correlations are known."""

from __future__ import annotations

from functools import cache

import numpy as np

from metaeval import ScoreMatrix
from metaeval.arrays import FloatArray

# Shares of variance of a score, and how far humans and metric agree on each part: r = .465.
SHARES = {"system": 0.1, "segment": 0.4, "cell": 0.5}
AGREED = {"system": 0.9, "segment": 0.5, "cell": 0.35}


def sides(rng: np.random.Generator, part: str, shape: tuple[int, ...], n: int = 1) -> FloatArray:
    """Return one part of the scores of the humans and of n metrics: (1 + n) x shape."""
    rho, scale = AGREED[part], np.sqrt(SHARES[part])
    human = rng.normal(size=shape)
    others = rho * human + np.sqrt(1.0 - rho * rho) * rng.normal(size=(n, *shape))
    return np.asarray(scale * np.concatenate([human[None], others]))


@cache
def fixed_systems(systems: int) -> FloatArray:
    """Return the effects of some systems on humans and metrics: 2 x systems, always the same."""
    return sides(np.random.default_rng(systems), "system", (systems,))


def scores(
    rng: np.random.Generator,
    systems: int,
    segments: int,
    *,
    n: int = 1,
    is_fixed: bool = True,
    is_same_text: bool = False,
) -> FloatArray:
    """Return scores of the humans and of n equally good metrics: (1 + n) x systems x segments.

    Fixed systems mean all metrics the same, so that none is better on them; segments do where the
    question is about these (``is_same_text``).
    """
    effects = fixed_systems(systems) if is_fixed else sides(rng, "system", (systems,), n)
    if is_fixed:
        effects = effects[[0] + [1] * n]
    difficulty = sides(rng, "segment", (segments,), n)
    difficulty = difficulty[[0] + [1] * n] if is_same_text else difficulty
    cells = sides(rng, "cell", (systems, segments), n)
    return np.asarray(effects[:, :, None] + difficulty[:, None, :] + cells)


def matrices(values: FloatArray) -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
    """Return the humans and the metrics by name."""
    names = [f"S{i}" for i in range(values.shape[1])], [str(j) for j in range(values.shape[2])]
    human, *metrics = (ScoreMatrix(each, *names) for each in values)
    return human, {f"m{k}": metric for k, metric in enumerate(metrics)}


def covariances(systems: int) -> FloatArray:
    """Return the 2 x 2 covariances of pooled scores: these systems, infinitely many segments."""
    effects = fixed_systems(systems)
    return np.asarray(np.cov(effects, ddof=0) + _random(("segment", "cell")))


def covariances_within(systems: int) -> FloatArray:
    """Return those of differences from a segment's mean over these systems."""
    part = _random(("cell",)) * (systems - 1) / systems
    return np.asarray(np.cov(fixed_systems(systems), ddof=0) + part)


def covariances_of_means(segments: int) -> FloatArray:
    """Return those of the means of new systems over the same segments."""
    return np.asarray(_random(("system",)) + _random(("cell",)) / segments)


def covariances_anywhere() -> FloatArray:
    """Return those over infinitely many systems and segments."""
    return _random(tuple(SHARES))


def correlation_of(covariance: FloatArray) -> float:
    """Return r."""
    return float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))


def _random(parts: tuple[str, ...]) -> FloatArray:
    spread = sum(SHARES[part] for part in parts)
    shared = sum(SHARES[part] * AGREED[part] for part in parts)
    return np.array([[spread, shared], [shared, spread]])
