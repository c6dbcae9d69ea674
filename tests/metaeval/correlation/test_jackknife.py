"""Correlations over few systems, and what the score of a system is."""

import json
from pathlib import Path

import numpy as np
import pytest

from metaeval import ScoreMatrix
from metaeval.correlation import Measure, correlate_metrics, pairwise_accuracy, system_correlation
from metaeval.correlation.intervals import jackknife_interval, system_intervals
from metaeval.messages import DataError
from metaeval.replication import questions
from metaeval.results import MissingDataWarning, TooFewWarning
from tests.refusals import refused


def test_worked_case(data_dir: Path) -> None:
    path = data_dir.parent / "specs" / "estimation-checks.json"
    checks = {one["id"]: one for one in json.loads(path.read_text("utf-8"))["checks"]}
    given, expected = checks["1-system-jack"]["inputs"], checks["1-system-jack"]["expected"]
    found = jackknife_interval(given["human"], given["metric"])
    assert found[:2] == pytest.approx((expected["low"], expected["high"]), abs=1e-6)
    alone = system_correlation(given["human"], given["metric"])
    assert alone.statistic == pytest.approx(expected["r"], abs=1e-6)
    assert alone.interval == found
    assert alone.pvalue is not None
    assert (alone.pvalue < 0.05) == (found.low > 0)


@pytest.mark.parametrize("draw", ["normal", "t"])
def test_coverage_over_eight_systems(draw: str) -> None:
    covered, trials = 0, 800
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        make = rng.normal if draw == "normal" else lambda size, rng=rng: rng.standard_t(3, size)
        x, noise = make(size=8), make(size=8)
        low, high, _ = jackknife_interval(x, 0.5 * x + np.sqrt(0.75) * noise)
        covered += low <= 0.5 <= high
    # Three standard errors of 800 trials are 2.3 points.
    assert 0.92 <= covered / trials <= 0.985


def test_fewer_than_six_systems_have_no_interval() -> None:
    x, y = [1, 2, 3, 4, 5.0], [1, 3, 2, 5, 4.0]
    with pytest.warns(TooFewWarning):
        found = system_correlation(x, y)
    assert found.statistic == pytest.approx(0.8)
    assert found.interval is not None
    assert np.isnan(found.interval.low)
    with pytest.warns(TooFewWarning):
        several = system_intervals(x, {"m": y})
    assert np.isnan(several.lows).all()


@pytest.mark.parametrize("key", ["systems", "cells"])
def test_pages_show_the_jackknife_from_six_systems(key: str) -> None:
    rng = np.random.default_rng(1)
    for systems in (5, 6):
        values = rng.normal(size=(systems, 30)) + rng.normal(size=(systems, 1))
        human = ScoreMatrix(values, map(str, range(systems)), map(str, range(30)))
        metrics = {n: human.with_values(values + rng.normal(size=values.shape)) for n in "ab"}
        found = questions.answer(questions.Scored(human, metrics, 1), questions.parse(key))
        assert found.n_systems == systems
        if systems < 6:
            assert np.isnan(found.lows).all()
            assert "interval.few-systems" in [note.code for note in found.warnings]
        else:
            means = [human.system_means(), metrics["a"].system_means()]
            assert found.lows[0] == pytest.approx(jackknife_interval(*means).low)
            assert found.interval.parameters["method"].code == "method.jackknife-systems"


def gappy() -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
    """Metrics that miss other cells than the humans; segments differ in difficulty."""
    rng = np.random.default_rng(4)
    truth = rng.normal(size=(6, 12)) + 3 * rng.normal(size=(1, 12))
    human = np.where(rng.random(truth.shape) < 0.5, np.nan, truth)
    metric = np.where(rng.random(truth.shape) < 0.3, np.nan, truth + rng.normal(size=truth.shape))
    ours = ScoreMatrix(human, "ABCDEF", map(str, range(12)))
    return ours, {"m": ours.with_values(metric)}


def test_one_definition_of_a_systems_score() -> None:
    human, metrics = gappy()
    both = human.mask & metrics["m"].mask
    means = [
        [row[there].mean() for row, there in zip(side.values, both, strict=True)]
        for side in (human, metrics["m"])
    ]
    expected = np.corrcoef(*means)[0, 1]
    with pytest.warns(MissingDataWarning):
        alone = system_correlation(human, metrics["m"])
    assert alone.statistic == pytest.approx(expected)
    lost = int(human.mask.sum() + metrics["m"].mask.sum() - 2 * both.sum())
    assert alone.reasons == {"correlation.unmatched-scores": lost}
    together = correlate_metrics(human, metrics, Measure(grouping="system-level"))
    assert together.correlations[0] == pytest.approx(expected)
    scored = questions.Scored(human, metrics, 1)
    for key in ("systems", "cells"):
        found = questions.answer(scored, questions.parse(key))
        assert found.values[0] == pytest.approx(expected)
    agreed = pairwise_accuracy(human, metrics["m"])
    assert agreed.statistic == pairwise_accuracy(*means).statistic
    left = int(human.mask.sum() - both.sum())
    found = questions.answer(scored, questions.parse("systems"))
    (excluded,) = [each for each in found.warnings if each.code == "systems.excluded-outputs"]
    assert excluded.parameters["n"] == left


def test_each_side_over_its_own_cells_as_published() -> None:
    human, metrics = gappy()
    own = [np.nanmean(side.values, axis=1) for side in (human, metrics["m"])]
    found = system_correlation(human, metrics["m"], cells="own")
    assert found.statistic == pytest.approx(np.corrcoef(*own)[0, 1])
    with refused(
        "argument.choice", kind=DataError, name="cells", allowed=["common", "own"], value="mine"
    ):
        system_correlation(human, metrics["m"], cells="mine")


def test_a_metric_may_be_called_human() -> None:
    """Its length is compared under another name than that of the human scores."""
    about = {"names": ["human", "metrics['human']"], "lengths": [3, 2]}
    with refused("argument.lengths", kind=DataError, **about):
        system_intervals([0.1, 0.2, 0.3], {"human": [0.1, 0.2]})
    with refused("argument.lengths", kind=DataError, **about):
        correlate_metrics([0.1, 0.2, 0.3], {"human": [0.1, 0.2]})
