"""Metrics that came with scores of systems, and metrics without segments, among others."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import kendalltau, pearsonr

from metaeval import ScoreMatrix
from metaeval.replication import questions
from metaeval.replication.questions import Scored
from metaeval.systems import system_table
from tests.refusals import refused

SYSTEMS = [f"s{n}" for n in range(8)]
SEGMENTS = [str(n) for n in range(40)]


def planted(**options: object) -> Scored:
    """Two metrics of segments, a part of the humans' cells missing."""
    rng = np.random.default_rng(3)
    human = rng.normal(size=(8, 40)) + rng.normal(size=(8, 1))
    metrics = {
        name: human + noise * rng.normal(size=human.shape) for name, noise in (("a", 1), ("b", 2))
    }
    human[:, :7] = np.nan
    matrix = ScoreMatrix(human, SYSTEMS, SEGMENTS)
    found = {name: matrix.with_values(values) for name, values in metrics.items()}
    return Scored(matrix, found, 5, **options)  # type: ignore[arg-type]


def with_alone(scored: Scored, given: np.ndarray) -> Scored:
    """The same with a metric that has scores of systems alone."""
    empty = scored.human.with_values(np.full(scored.human.shape, np.nan))
    return Scored(
        scored.human, {**scored.metrics, "alone": empty}, scored.seed, given={"alone": given}
    )


def test_scores_that_came_stand_beside_all_that_was_judged() -> None:
    given = np.arange(8.0) ** 2
    scored = planted(given={"a": given}, lower=["a"])
    human = np.nanmean(scored.human.values, axis=1)
    values, _ = questions.values_of(scored, questions.parse("systems"))
    theirs = np.mean(scored.metrics["b"].values[:, 7:], axis=1)
    expected = [pearsonr(human, -given).statistic, pearsonr(human, theirs).statistic]
    assert values.tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("key", ["tau-b", "pearson", "limit", "hybrids", "acc-eq", "spa"])
def test_a_metric_of_systems_alone_moves_no_other(key: str) -> None:
    question = questions.parse(key)
    before = questions.answer(planted(), question)
    found = questions.answer(with_alone(planted(), np.arange(8.0)), question)
    assert np.isnan(found.values[2])
    assert np.isnan(found.pvalues[2]).all()
    for name in ("values", "lows", "highs"):
        assert_array_equal(getattr(found, name)[:2], getattr(before, name))
    for name in ("differences", "difference_lows", "difference_highs", "pvalues"):
        assert_array_equal(getattr(found, name)[:2, :2], getattr(before, name))
    assert "metric.no-segment-scores" in [each.code for each in found.warnings]


def test_it_answers_for_systems() -> None:
    given = np.arange(8.0)
    found = questions.answer(with_alone(planted(), given), questions.parse("systems"))
    human = np.nanmean(planted().human.values, axis=1)
    assert found.values[2] == pytest.approx(pearsonr(human, given).statistic, abs=1e-12)
    assert found.n_systems == 8


def test_a_system_without_a_score_is_left_out_for_all() -> None:
    given = np.arange(8.0)
    given[2] = np.nan
    found = questions.answer(with_alone(planted(), given), questions.parse("systems"))
    human = np.nanmean(planted().human.values, axis=1)
    kept = np.arange(8) != 2
    theirs = np.mean(planted().metrics["a"].values[:, 7:], axis=1)
    assert found.n_systems == 7
    assert found.values[2] == pytest.approx(pearsonr(human[kept], given[kept]).statistic)
    assert found.values[0] == pytest.approx(pearsonr(human[kept], theirs[kept]).statistic)


def test_systems_alone_on_both_sides() -> None:
    """Neither the humans nor the metric say anything of segments."""
    human = ScoreMatrix(np.empty((8, 0)), SYSTEMS, [])
    told, given = np.arange(8.0), np.array([0.0, 2, 1, 3, 4, 6, 5, 7])
    scored = Scored(human, {"m": human}, 1, human_systems=told, given={"m": given})
    found = questions.answer(scored, questions.parse("systems"))
    assert found.values.tolist() == pytest.approx([pearsonr(told, given).statistic])
    assert not questions.can_answer(scored, questions.parse("tau-b"))
    with refused("question.no-common-output", kind=ValueError):
        questions.answer(scored, questions.parse("tau-b"))


def test_the_table_of_systems_shows_what_came() -> None:
    scored = planted()
    given = dict(zip(SYSTEMS, np.arange(8.0)[::-1].tolist(), strict=True))
    del given["s3"]
    table = system_table(scored.human, scored.metrics, given={"a": given}, n_resamples=100, rng=1)
    column = table.columns[0]
    assert column.is_given
    assert dict(zip(column.systems, column.scores.tolist(), strict=True)) == given
    human = dict(zip(SYSTEMS, scored.human.system_means().tolist(), strict=True))
    pairs = [(human[name], score) for name, score in given.items()]
    assert column.tau == pytest.approx(kendalltau(*zip(*pairs, strict=True)).statistic)
    assert column.n_shared == 7
    assert np.isfinite(column.pvalues[:-1]).all()
    assert not table.columns[1].is_given
