"""Ridge regression against an ordinary least-squares solver, and a penalty chosen by groups."""

import numpy as np
import pytest

from training.head import ridge


@pytest.mark.parametrize("penalty", [1e-4, 0.1, 10.0])
def test_ridge_is_least_squares_with_added_rows(penalty):
    """Rows of √(n·penalty) per weight, aimed at 0, are the penalty (Hoerl and Kennard 1970)."""
    rng = np.random.default_rng(1)
    features = rng.normal(3.0, [1.0, 5.0, 0.1], (40, 3))
    values = features @ [1.0, -0.2, 3.0] + rng.normal(size=40)
    standard = (features - features.mean(0)) / features.std(0)
    rows = np.vstack([standard, np.sqrt(40 * penalty) * np.eye(3)])
    expected = np.linalg.lstsq(rows, np.append(values - values.mean(), np.zeros(3)), rcond=None)[0]
    found = ridge.fit(features, values, penalty)
    np.testing.assert_allclose(found.weights, expected, atol=1e-10)
    np.testing.assert_allclose(found.predict(features), standard @ expected + values.mean())


def test_a_constant_feature_counts_for_nothing():
    features = np.column_stack([np.arange(10.0), np.full(10, 0.1)])
    found = ridge.fit(features, np.arange(10.0), 1e-9)
    assert found.weights[1] == 0
    other = np.column_stack([np.arange(10.0), np.full(10, 7.0)])
    np.testing.assert_allclose(found.predict(other), np.arange(10.0), atol=1e-6)


def test_noise_is_shrunk_and_signal_is_not():
    rng = np.random.default_rng(2)
    features, groups = rng.normal(size=(60, 8)), np.repeat(np.arange(20), 3)
    noise = ridge.choose(features, rng.normal(size=60), groups, 1)
    signal = ridge.choose(features, 5 * features[:, 0], groups, 1)
    assert noise.penalty > signal.penalty
    assert signal.penalty == min(ridge.PENALTIES)


def test_groups_are_left_out_whole():
    """Each group has its own level, known from a feature that says nothing of other groups."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(30), 4)
    marks = rng.normal(size=(30, 25))[groups]
    values = rng.normal(size=30)[groups]
    by_group = ridge.choose(marks, values, groups, 1)
    by_row = ridge.choose(marks, values, np.arange(120), 1)
    assert by_group.penalty > by_row.penalty
