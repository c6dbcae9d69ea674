"""WMT26's check of annotators: by hand, by its expectation, and on annotators who do not read."""

import numpy as np
import pytest

from metaeval.judgments.agreement import screen_agreement
from metaeval.judgments.agreement.screens import CHANCE
from metaeval.messages import DataError
from metaeval.results import TooFewWarning
from tests.refusals import refused


def table(rng, annotators, screens, k=3, spread=15.0, shared=0.0):
    """Scores of 8 systems of different quality, k on a screen of one segment."""
    rows = []
    for who in range(annotators):
        for screen in range(screens):
            hard = shared * rng.normal()
            for system in rng.choice(8, size=k, replace=False):
                score = 50 + 3 * system + hard + spread * rng.normal()
                rows.append((score, who, screen, (who, screen), int(system)))
    return [list(column) for column in zip(*rows, strict=True)]


def test_one_pair_by_hand() -> None:
    scores = [60.0, 40.0] + [50.0, 70.0] * 5 + [30.0, 50.0] * 5
    systems = ["A", "B"] + ["A"] * 10 + ["B"] * 10
    who = ["x", "x"] + [f"y{n}" for n in range(20)]
    found = screen_agreement(scores, who, [0] * 22, ["s"] * 22, systems, min_screens=1)
    first, second = np.array([60.0, *[50.0, 70.0] * 5]), np.array([40.0, *[30.0, 50.0] * 5])
    gap = 20 - (first.mean() - second.mean())
    expected = 2 ** -(gap**2 / (2 * (first.var() + second.var()) + 1e-6))
    assert found.annotators[0] == "x"
    assert found.agreement[0] == pytest.approx(expected)
    assert (found.n, found.pairs[0]) == (1, 1)
    assert np.isnan(found.agreement[1:]).all()
    assert not found.flagged.any()


def test_unrelated_noise_has_the_stated_expectation() -> None:
    """The bound of .75 is close to it, so honest annotators are flagged."""
    found = screen_agreement(*table(np.random.default_rng(1), 40, 60))
    assert found.agreement.mean() == pytest.approx(CHANCE, abs=0.01)
    assert found.flagged.mean() > 0.1


def test_who_does_not_read_is_flagged_among_those_who_agree() -> None:
    rng = np.random.default_rng(2)
    rows = table(rng, 10, 40, spread=5.0, shared=20.0)
    rows[0] = [rng.uniform(0, 100) if who == 9 else score
               for score, who in zip(rows[0], rows[1], strict=True)]  # fmt: skip
    assert screen_agreement(*rows).flagged.tolist() == [False] * 9 + [True]


def test_few_screens_and_few_scores_decide_nothing() -> None:
    rng = np.random.default_rng(3)
    assert not screen_agreement(*table(rng, 20, 2)).flagged.any()
    with pytest.warns(TooFewWarning):
        found = screen_agreement(*table(rng, 1, 3))
    assert found.n == 0
    assert np.isnan(found.agreement).all()


def test_lengths_must_agree() -> None:
    with refused(
        "argument.lengths",
        kind=DataError,
        names=["scores", "annotators", "screens", "segments", "systems"],
        lengths=[1, 2, 1, 1, 1],
    ):
        screen_agreement([1.0], ["a", "b"], [0], [0], ["A"])
