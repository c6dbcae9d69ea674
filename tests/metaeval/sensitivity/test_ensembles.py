"""Ensembles learn on other documents than they are measured on; bins of difficulty."""

import json

import numpy as np
import pytest
from scipy.optimize import nnls

from metaeval import ScoreMatrix
from metaeval.commands import main
from metaeval.correlation import pearson
from metaeval.messages import DataError
from metaeval.results import DirectionWarning
from metaeval.sensitivity.difficulty import by_difficulty
from metaeval.sensitivity.ensembles import ensemble
from metaeval.sensitivity.folds import folds
from tests.metaeval.published import DATA
from tests.refusals import refused

NAMES = list("ABCD"), [str(k) for k in range(90)], [f"d{k // 3}" for k in range(90)]


def scores(*spreads: float) -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
    rng = np.random.default_rng(6)
    human = rng.normal(size=(4, 90))
    metrics = {f"m{k}": human + spread * rng.normal(size=(4, 90)) for k, spread in
               enumerate(spreads)}  # fmt: skip
    return ScoreMatrix(human, *NAMES), {k: ScoreMatrix(v, *NAMES) for k, v in metrics.items()}


def test_held_out_scores_are_those_of_weights_from_the_other_documents() -> None:
    human, metrics = scores(1.0, 1.5, 3.0)
    found = ensemble(human, metrics)
    stack = np.array([each.values for each in metrics.values()])
    masks = folds(90, human.clusters) > 0
    combined = np.zeros((4, 90))
    for fold, held_out in enumerate(masks):
        train = stack[:, :, ~held_out].reshape(3, -1)
        mean, spread = train.mean(axis=1), train.std(axis=1)
        target = human.values[:, ~held_out].ravel()
        z = (train - mean[:, None]) / spread[:, None]
        weights = nnls(z.T, (target - target.mean()) / target.std())[0]
        assert found.weights[fold] == pytest.approx(weights, abs=1e-9)
        scaled = (stack - mean[:, None, None]) / spread[:, None, None]
        combined[:, held_out] = np.tensordot(weights, scaled, axes=1)[:, held_out]
    expected = np.corrcoef(combined.ravel(), human.values.ravel())[0, 1]
    assert found.held_out.values[0] == pytest.approx(expected, abs=1e-12)
    assert set(found.best) == {"m0"}
    assert found.gain[0] == pytest.approx(found.held_out.values[0] - found.held_out.values[1])
    assert found.held_out.unit == "documents"


def test_noise_gains_nothing_held_out_and_something_in_sample() -> None:
    human, metrics = scores(1.0, *[1e6] * 12)
    found = ensemble(human, metrics)
    assert found.in_sample > found.best_in_sample
    assert found.gain[0] < found.in_sample - found.best_in_sample
    assert found.gain[1].low < 0.0


def test_weights_need_other_documents_and_a_metric_that_varies() -> None:
    human, metrics = scores(1.0, 2.0)
    with refused("ensemble.one-document", kind=DataError):
        one = ScoreMatrix(human.values, *NAMES[:2], ["d"] * 90)
        ensemble(one, {name: one.with_values(each.values) for name, each in metrics.items()})
    flat = human.with_values(np.full((4, 90), 0.1))
    with refused("ensemble.undefined", kind=DataError):
        ensemble(human, {"a": flat, "b": flat})
    # A constant metric has no part in the ensemble.
    found = ensemble(human, metrics | {"flat": flat})
    assert (found.weights[:, 2] == 0.0).all()
    assert not found.warnings
    # Metrics of the wrong sign have none at all.
    against = {k: each.with_values(-each.values) for k, each in metrics.items()}
    with pytest.warns(DirectionWarning) as caught:
        found = ensemble(human, against)
    assert (found.weights == 0.0).all()
    assert [each.message.code for each in found.warnings] == ["ensemble.no-weight"]
    assert found.warnings[0] in [each.message for each in caught]


def test_bins_of_difficulty_are_parts_of_the_segments() -> None:
    human, metrics = scores(1.0, 2.0)
    ease = np.random.default_rng(1).permutation(90).astype(float)
    found = by_difficulty(human, metrics, ease, n_bins=3)
    assert [each.n_segments for each in found] == [30, 30, 30]
    assert (found[0].low, found[0].high, found[2].high) == (0.0, 29.0, 89.0)
    hardest = [NAMES[1][k] for k in np.flatnonzero(ease < 30)]
    part = human.subset(segments=hardest)
    expected = pearson(part, metrics["m1"].subset(segments=hardest)).statistic
    assert found[0].correlations.values[1] == pytest.approx(expected)
    assert found[0].human == pytest.approx(part.values.mean())
    assert found[0].human_interval.low < found[0].human < found[0].human_interval.high


def test_equal_difficulties_stay_together_and_missing_ones_are_left_out() -> None:
    human, metrics = scores(1.0)
    ease = np.r_[np.zeros(60), np.ones(20), np.full(10, np.nan)]
    found = by_difficulty(human, metrics, ease, n_bins=4)
    assert [each.n_segments for each in found] == [60, 20]


def test_segments_without_judgments_are_in_no_bin() -> None:
    human, metrics = scores(1.0)
    judged = np.where(np.arange(90) < 60, human.values, np.nan)
    found = by_difficulty(human.with_values(judged), metrics, np.arange(90.0), n_bins=2)
    assert [(each.n_segments, each.high) for each in found] == [(30, 29.0), (30, 59.0)]


@pytest.mark.parametrize(
    "words",
    [
        ["pdp"],
        ["agreement"],
        ["agreement", "--difference", "1"],
        ["ensemble"],
        ["difficulty", "--by", "CometKiwi-src"],
    ],
)
def test_commands(words: list[str], capsys) -> None:
    chosen = [word for name in ("COMET-refA", "CometKiwi-src") for word in ("--metric", name)]
    path = [str(DATA / "wmt23-meta"), "--language-pair", "en-de", "--human", "mqm"]
    assert main([words[0], *path, *words[1:], *chosen, "--output", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    if words == ["pdp"]:
        assert document["metrics"] == ["COMET-refA", "CometKiwi-src"]
        assert document["n_systems"] == 12
    if words[0] == "ensemble":
        assert {row["name"] for row in document["rows"]} == {"ensemble", "best single", "gain"}
