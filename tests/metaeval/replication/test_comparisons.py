"""Comparisons of metrics against scipy, against metaeval's tests of one pair, and on bad input."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from metaeval.correlation.hybrids import hybrid_supersample
from metaeval.replication.questions import STATISTICS, cells, parse
from metaeval.replication.questions import answer as compare
from metaeval.significance import boot_interval, perm_test, williams_test, zou_interval
from metaeval.significance.dependent import zou_pvalues
from tests.metaeval.replication.planted import planted, scored


@pytest.fixture(autouse=True)
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "N_PERMUTATIONS", 400)
    monkeypatch.setattr("metaeval.replication.questions.dependent.N_PERMUTATIONS", 400)


@pytest.mark.parametrize(
    ("key", "theirs"),
    [
        ("pearson/none", lambda x, y: stats.pearsonr(x.ravel(), y.ravel()).statistic),
        ("spearman/none", lambda x, y: stats.spearmanr(x.ravel(), y.ravel()).statistic),
        ("tau-b/none", lambda x, y: stats.kendalltau(x.ravel(), y.ravel()).statistic),
        (
            "tau-c/none",
            lambda x, y: stats.kendalltau(x.ravel(), y.ravel(), variant="c").statistic,
        ),
        (
            "tau-b/item",
            lambda x, y: np.mean(
                [stats.kendalltau(a, b).statistic for a, b in zip(x.T, y.T, strict=True)]
            ),
        ),
        (
            "pearson/system",
            lambda x, y: np.mean(
                [stats.pearsonr(a, b).statistic for a, b in zip(x, y, strict=True)]
            ),
        ),
        ("systems", lambda x, y: stats.pearsonr(x.mean(axis=1), y.mean(axis=1)).statistic),
        ("cells", lambda x, y: stats.pearsonr(x.mean(axis=1), y.mean(axis=1)).statistic),
    ],
)
def test_values_by_scipy(key: str, theirs: object) -> None:
    data = planted()
    found = compare(data, parse(key))
    turned = [data.oriented(key).values for key in data.metrics]
    expected = [theirs(data.human.values, values) for values in turned]
    assert found.values == pytest.approx(expected, abs=1e-9)
    assert found.differences[0, 1] == pytest.approx(expected[0] - expected[1], abs=1e-9)
    assert np.isnan(np.diag(found.pvalues)).all()


@pytest.mark.parametrize("key", ["pearson/none", "tau-b/item", "acc-eq"])
def test_intervals_are_near_those_of_a_bootstrap_over_segments(key: str) -> None:
    data, question = planted(), parse(key)
    found = compare(data, question)
    assert found.interval.parameters["question"].code == "interval.new-segments"
    human, metrics = data.matrices()
    first, second = metrics["GOOD"], metrics["FAIR"]
    options = {"measure": question.measure, "resample": "inputs"}
    gap = boot_interval(human, first, other=second, rng=5, **options)
    width = gap.interval[1] - gap.interval[0]
    ends = (found.difference_lows[0, 1], found.difference_highs[0, 1])
    assert ends == pytest.approx(gap.interval[:2], abs=0.25 * width)
    own = boot_interval(human, first, rng=5, **options)
    width = own.interval[1] - own.interval[0]
    assert (found.lows[0], found.highs[0]) == pytest.approx(own.interval[:2], abs=0.25 * width)


@pytest.mark.parametrize("key", ["pearson/none/perm", "tau-b/item/perm", "spa", "acc-eq//perm"])
def test_permutations_are_those_of_one_pair_alone(key: str) -> None:
    data, question = planted(), parse(key)
    found = compare(data, question)
    human, metrics = data.matrices()
    first, second = metrics["GOOD"], metrics["FAIR"]
    one = perm_test(human, first, second, question.measure, n_resamples=4000, rng=9)
    # Two Monte Carlo estimates of one p: five standard errors of the smaller sample.
    assert found.pvalues[0, 1] == pytest.approx(one.pvalue, abs=5 * 0.5 / np.sqrt(400))


@pytest.mark.parametrize("question", ["pearson/none/perm", "spa"])
@pytest.mark.parametrize(("n", "for_bonferroni"), [(18, True), (50, True), (300, False)])
def test_permutations_suffice_for_bonferroni_as_long_as_they_are_cheap(
    question: str, n: int, for_bonferroni: bool
) -> None:
    shape = SimpleNamespace(metrics=range(n), n_systems=4, n_segments=270, n=1080)
    found = cells._permutations(shape, parse(question))
    pairs = n * (n - 1) // 2
    assert (found + 1 >= pairs / 0.05) == for_bonferroni
    assert found * pairs <= 2**28


def test_hybrids_by_zou_and_williams() -> None:
    data = planted()
    drawn = data.hybrids
    signs = np.array([1.0, 1.0, -1.0])
    by_williams = compare(data, parse("hybrids/none/williams"))
    assert by_williams.values == pytest.approx(signs * drawn.r)
    rs = (drawn.r[0], -drawn.r[2], -drawn.between[0, 2])
    expected = williams_test(*rs, 10_000)
    assert by_williams.pvalues[0, 2] == pytest.approx(expected.pvalue)
    found = compare(data, parse("hybrids/none/zou"))
    interval = zou_interval(*rs, 10_000).interval
    assert (found.difference_lows[0, 2], found.difference_highs[0, 2]) == interval[:2]
    assert found.pvalues[0, 2] + found.pvalues[2, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("rs", [(0.72, 0.71, 0.6), (0.71, 0.72, 0.6), (0.4, -0.1, 0.2)])
def test_p_of_zou_is_where_its_interval_touches_zero(rs: tuple[float, float, float]) -> None:
    p = float(zou_pvalues(*rs, 200))
    ends = zou_interval(*rs, 200, confidence=abs(1 - 2 * p)).interval[:2]
    assert (ends[0] if rs[0] > rs[1] else ends[1]) == pytest.approx(0.0, abs=1e-5)
    assert (p < 0.5) == (rs[0] > rs[1])


def test_the_jackknife_over_systems_is_the_default() -> None:
    data = planted(systems=12)
    found = compare(data, parse("systems"))
    means = [data.oriented(key).values.mean(axis=1) for key in data.metrics]
    ours = data.human.values.mean(axis=1)

    def gap(keep: np.ndarray) -> float:
        first, second = (np.corrcoef(ours[keep], mean[keep])[0, 1] for mean in means[:2])
        return float(first - second)

    without = np.array([gap(np.arange(12) != left_out) for left_out in range(12)])
    error = np.sqrt(11 / 12 * ((without - without.mean()) ** 2).sum())
    difference = gap(np.ones(12, dtype=bool))
    assert found.differences[0, 1] == pytest.approx(difference)
    assert found.pvalues[0, 1] == pytest.approx(stats.t.sf(difference / error, 11))
    assert found.test.code == "test.jackknife"
    assert not any("Williams" in warning for warning in found.warnings)


def test_fewer_than_six_systems_are_not_tested() -> None:
    found = compare(planted(systems=5), parse("systems"))
    assert np.isnan(found.pvalues).all()
    assert "interval.few-systems" in [each.code for each in found.warnings]


def test_williams_over_systems() -> None:
    data = planted(systems=12)
    found = compare(data, parse("systems/none/williams"))
    means = [data.oriented(key).values.mean(axis=1) for key in data.metrics]
    ours = data.human.values.mean(axis=1)
    rs = [np.corrcoef(ours, means[0])[0, 1], np.corrcoef(ours, means[1])[0, 1]]
    expected = williams_test(*rs, np.corrcoef(means[0], means[1])[0, 1], 12)
    assert found.pvalues[0, 1] == pytest.approx(expected.pvalue)
    assert "test.heavy-tails" in [each.code for each in found.warnings]


def test_the_limit_is_that_of_the_draws() -> None:
    data = planted()
    found = compare(data, parse("limit"))
    human, metrics = data.matrices()
    drawn = hybrid_supersample(human, metrics, n_hybrids=2, rng=1)
    assert found.values == pytest.approx(drawn.limit, abs=1e-12)
    assert (found.lows < found.values).all()
    assert (found.values < found.highs).all()
    assert found.pvalues[0, 2] < 0.01 < 0.99 < found.pvalues[2, 0]


def test_wide_groups_are_tested_by_t_and_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cells, "WIDE_GROUP", 50)
    data = planted()
    found = compare(data, parse("tau-b/none/perm"))
    assert "test.too-wide" in [each.code for each in found.warnings]
    by_t = compare(data, parse("tau-b/none/segments"))
    assert found.pvalues[0, 1] == by_t.pvalues[0, 1]
    exact = compare(data, parse("pearson/none/perm"))
    assert "test.too-wide" not in [each.code for each in exact.warnings]


@pytest.mark.parametrize("key", STATISTICS)
def test_one_metric_a_constant_one_and_missing_scores(key: str) -> None:
    human = np.random.default_rng(0).normal(size=(3, 12))
    alone = compare(scored(human, {"only": human + 1}), parse(key))
    assert alone.pvalues.shape == (1, 1)
    gappy = human.copy()
    gappy[0, :3] = np.nan
    found = compare(scored(human, {"a": gappy, "flat": np.ones_like(human)}), parse(key))
    if key not in ("acc-eq", "spa", "pa"):
        assert np.isnan(found.values[1])
        assert np.isnan(found.pvalues[0, 1])
    assert found.n == (3 if key in ("systems", "pa") else 33)


def test_differences_of_soft_accuracy_have_p_and_its_values_intervals() -> None:
    found = compare(planted(), parse("spa"))
    assert found.interval.parameters["method"].code == "method.jackknife-segments-logit"
    assert (found.lows < found.values).all()
    assert (found.values < found.highs).all()
    assert np.isnan(found.difference_lows).all()
    assert np.isfinite(found.pvalues[0, 1])


def test_pairwise_accuracy_has_an_interval_for_new_systems() -> None:
    found = compare(planted(), parse("pa"))
    assert found.about.code == "interval.new-systems"
    assert (found.lows < found.values).all()
    assert ((found.values <= found.highs) & (found.highs <= 1)).all()
    assert np.isnan(found.difference_lows).all()
    assert np.isfinite(found.pvalues[0, 1])


def test_the_default_test_knows_of_segments_and_the_other_says_that_it_does_not() -> None:
    default = compare(planted(), parse("tau-b"))
    assert default.test.code == "test.t-clustered-by-segment"
    assert (default.n_informative, default.n_segments, default.n_systems) == (40, 40, 6)
    asked = compare(planted(), parse("tau-b/none/perm"))
    assert "test.swaps-outputs" in [note.code for note in asked.warnings]
    assert asked.lows == pytest.approx(default.lows)


def test_few_segments_leave_no_interval_no_test_and_a_warning() -> None:
    found = compare(planted(segments=19), parse("tau-b"))
    assert np.isfinite(found.values).all()
    for part in (found.lows, found.difference_lows, found.pvalues):
        assert np.isnan(part).all()
    assert any(each.parameters.get("n") == 19 for each in found.warnings)


def test_chance_of_accuracy_with_ties_is_what_a_random_metric_reaches() -> None:
    """The calibrated accuracy of pure noise, over humans who tie rarely and often."""
    rng = np.random.default_rng(3)
    for levels in (2, 6, 50):
        human = rng.integers(0, levels, (12, 400)).astype(float)
        data = scored(human, {"m": rng.normal(size=human.shape)})
        found = compare(data, parse("acc-eq"))
        assert found.chance == pytest.approx(found.values[0], abs=0.015)
        assert found.chance > 0.4
    assert compare(planted(), parse("tau-b")).chance == 0.0


def test_without_metrics_or_common_cells_there_are_no_hybrids() -> None:
    human = np.random.default_rng(0).normal(size=(3, 12))
    assert scored(human, {}).oriented_hybrids() == {}
    assert scored(human, {"unscored": np.full_like(human, np.nan)}).oriented_hybrids() == {}


@pytest.mark.parametrize("key", ["tau-b", "limit", "systems", "hybrids", "spa"])
def test_a_metric_with_few_scores_takes_nothing_from_the_others(key: str) -> None:
    data = planted()
    values = np.full(data.human.shape, np.nan)
    values[:, :5] = data.human.values[:, :5]
    sparse = replace(data, metrics={**data.metrics, "few": data.human.with_values(values)})
    alone, beside = (compare(each, parse(key)) for each in (data, sparse))
    assert beside.n == alone.n
    for name in ("values", "lows", "highs", "pvalues"):
        ours, theirs = getattr(beside, name), getattr(alone, name)
        assert np.array_equal(ours[tuple(slice(3) for _ in ours.shape)], theirs, equal_nan=True)
    assert np.isnan(beside.values[3])
    assert "metric.sparse" in [each.code for each in beside.warnings]
    # Compared alone, its value is that of its own outputs.
    one = replace(sparse, metrics={"few": sparse.metrics["few"]}, lower=[])
    assert compare(one, parse(key)).n in (5, 6, 30)
