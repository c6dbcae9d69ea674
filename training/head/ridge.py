"""Ridge regression with its penalty chosen by cross-validation over groups. Pure numpy."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Times the number of rows, on standardised features.
PENALTIES = tuple(10.0**power for power in range(-4, 3))
FOLDS = 5


@dataclass(frozen=True)
class Fit:
    """A linear function of features standardised by the rows that it was fitted on."""

    mean: Array
    scale: Array
    weights: Array
    intercept: float
    penalty: float

    def predict(self, features: Array) -> Array:
        """Return (rows,) predictions of (rows, features)."""
        return np.asarray(((features - self.mean) / self.scale) @ self.weights + self.intercept)


def fit(features: Array, values: Array, penalty: float) -> Fit:
    """Minimise |y − Xw − b|² / n + penalty |w|² (Hoerl and Kennard 1970); b is not penalised.

    A constant feature gets the weight 0.
    """
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 1e-12 * (1.0 + np.abs(mean)), scale, np.inf)
    standard = (features - mean) / scale
    n, width = standard.shape
    left = standard.T @ standard / n + penalty * np.eye(width)
    weights = np.linalg.solve(left, standard.T @ (values - values.mean()) / n)
    return Fit(mean, np.where(np.isinf(scale), 1.0, scale), weights, float(values.mean()), penalty)


def choose(features: Array, values: Array, groups: Array, seed: int) -> Fit:
    """Fit with the penalty whose squared error is lowest on held-out groups."""
    folds = _folds(groups, seed)
    errors = [_error(features, values, folds, penalty) for penalty in PENALTIES]
    return fit(features, values, PENALTIES[int(np.argmin(errors))])


def _error(features: Array, values: Array, folds: Array, penalty: float) -> float:
    total = 0.0
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        predicted = fit(features[~out], values[~out], penalty).predict(features[out])
        total += float(((predicted - values[out]) ** 2).sum())
    return total


def _folds(groups: Array, seed: int) -> Array:
    """Return the fold of every row; rows of a group share it. At least two groups are needed."""
    distinct, place = np.unique(groups, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(distinct))
    return np.asarray((order % min(FOLDS, len(distinct)))[place])
