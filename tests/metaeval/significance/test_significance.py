import tracemalloc
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from metaeval.correlation import Measure, acc_eq, kendall
from metaeval.correlation.measure import CORRELATIONS
from metaeval.correlation.soft_pairwise import normal_pvalues, normal_tail
from metaeval.correlation.ties import pair_table
from metaeval.messages import DataError
from metaeval.results import ConstantInputWarning, IdenticalInputWarning, MissingDataWarning
from metaeval.significance import boot_interval, compare_metrics, perm_test, rank_clusters
from metaeval.significance.bootstrap import _counts
from metaeval.significance.bootstrap_values import samples
from metaeval.significance.corrections import adjust_table
from metaeval.significance.permutation import correlations as tests
from metaeval.significance.permutation import masks, soft_pairwise
from metaeval.significance.permutation.tests import (
    default_swap,
    permutation_pvalue,
    permuted_differences,
    permuted_pvalues,
)
from tests.metaeval.plain import matrix, panel_of, permuted, resampled
from tests.refusals import refused

RNG = np.random.default_rng(7)
CASES = [
    Measure(name, grouping, variant, threshold=0.5)
    for name in CORRELATIONS
    for grouping in ("none", "item", "system", "system-level")
    for variant in ("bc" if name == "kendall" else "b")
    if (grouping == "system-level") == (name in CORRELATIONS[5:]) or name in CORRELATIONS[:3]
]


def scores(kind: str, shape=(5, 12), n_metrics=2):
    """Human scores and metrics: continuous, tied, or with cells missing."""
    values = np.random.default_rng(3).normal(size=(n_metrics + 1, *shape))
    if kind == "ties":
        values = values.round()
        values[1] = np.abs(values[1])
    if kind == "gaps":
        values[0][np.random.default_rng(4).random(shape) < 0.2] = np.nan
    return panel_of(*values)


@pytest.mark.parametrize("kind", ["continuous", "ties", "gaps"])
@pytest.mark.parametrize("measure", CASES, ids=lambda measure: measure.label)
def test_every_permutation_equals_the_plain_loop(measure, kind):
    panel = scores(kind)
    # Fewer and more than the bits of a word.
    for swap, n in {"both": 70, "xor": 20, "inputs": 70, "systems": 20}.items():
        fast = permuted_differences(panel, measure, swap, n, 5, [(0, 1)])[0]
        np.testing.assert_allclose(fast, permuted(panel, measure, swap, n, 5), atol=2e-6)


@pytest.mark.parametrize("kind", ["continuous", "ties", "gaps"])
@pytest.mark.parametrize("measure", CASES, ids=lambda measure: measure.label)
def test_every_bootstrap_sample_equals_copied_rows_and_columns(measure, kind):
    panel = scores(kind, (5, 9))
    for resample in ("both", "inputs", "systems"):
        rows, columns = _counts(5, (0, 0, 25), panel.valid.shape, resample)
        fast = samples(panel, 0, measure, rows, columns, 0)
        plain = resampled(panel, measure, rows, columns)
        np.testing.assert_allclose(fast, plain, atol=2e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 5),
    st.integers(1, 7),
    st.integers(0, 2**32 - 1),
    st.sampled_from(CASES[:9]),
    st.integers(0, 2),
)
def test_ties_constants_and_tiny_shapes_equal_the_plain_loop(systems, segments, seed, case, digits):
    values = np.random.default_rng(seed).normal(size=(3, systems, segments)).round(digits)
    panel = panel_of(*values)
    fast = permuted_differences(panel, case, "both", 12, seed, [(0, 1)])[0]
    if case.grouping == "system-level":
        return
    np.testing.assert_allclose(fast, permuted(panel, case, "both", 12, seed), atol=1e-7)


@pytest.mark.parametrize("unit", [1.0, 0.1, 1e-13])
@pytest.mark.parametrize("name", ["kendall", "spearman", "pairwise_accuracy", "acc_eq"])
def test_the_statistic_is_the_observed_difference_whatever_the_unit(name, unit):
    grouping = "item" if name == "acc_eq" else "system-level"
    measure, rng = Measure(name, grouping), np.random.default_rng(8)
    for _ in range(20):
        values = rng.integers(0, 4, (3, 5, 6)).astype(float)
        panel = panel_of(*(values * unit + np.array([0.0, 0.0, 70 * unit])[:, None, None]))
        human, first, second = panel.human_matrix, panel.matrix(0), panel.matrix(1)
        found = perm_test(human, first, second, measure, swap="both", n_resamples=30, rng=1)
        plain = perm_test(*map(matrix, values), measure, swap="both", n_resamples=30, rng=1)
        deltas = permuted_differences(panel, measure, "both", 1, 1, [(0, 1)])[0]
        assert found.statistic == pytest.approx(plain.statistic, nan_ok=True)
        assert deltas[0] == pytest.approx(plain.statistic, nan_ok=True)
        np.testing.assert_allclose(found.null, plain.null, atol=1e-12)


def test_soft_accuracy_tests_the_humans_p_values_that_it_reports():
    rng = np.random.default_rng(37)
    human = rng.integers(40, 101, (3, 600)).astype(float)
    human[1] = human[0]
    human[1, 5] -= 2
    metrics = [human + rng.normal(size=human.shape) * 20 for _ in "xy"]
    measure = Measure("soft_pairwise_accuracy")
    for offset in (0.0, 70.0, 1e6):
        panel = panel_of(human - offset, *metrics)
        found = perm_test(*map(matrix, (human - offset, *metrics)), measure, swap="inputs", rng=1)
        deltas = permuted_differences(panel, measure, "inputs", 1, 1, [(0, 1)])[0]
        assert deltas[0] == pytest.approx(found.statistic, abs=2e-6)


@pytest.mark.parametrize("unit", [0.1, 1e-13, 1e9])
@pytest.mark.parametrize("name", ["kendall", "pairwise_accuracy", "acc_eq"])
def test_samples_do_not_hang_on_the_unit(name, unit):
    measure = Measure(name, "item" if name == "acc_eq" else "system-level")
    rng = np.random.default_rng(11)
    for _ in range(10):
        values = rng.integers(0, 4, (2, 5, 6)).astype(float)
        panels = panel_of(*values), panel_of(*(values * unit))
        rows, columns = _counts(5, (0, 0, 25), (5, 6), "both")
        plain, scaled = (samples(panel, 0, measure, rows, columns, 0) for panel in panels)
        np.testing.assert_allclose(scaled, plain)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_samples_of_sparse_scores_equal_copied_rows_and_columns():
    values = np.random.default_rng(9).normal(size=(2, 4, 8))
    values[0, np.random.default_rng(10).random((4, 8)) < 0.6] = np.nan
    values[0, :, 3] = np.nan
    panel, measure = panel_of(*values), Measure("soft_pairwise_accuracy")
    for resample in ("both", "inputs"):
        rows, columns = _counts(5, (0, 0, 60), panel.valid.shape, resample)
        has_cells = (rows * (columns @ panel.valid.T)).any(axis=1)
        rows, columns = rows[has_cells], columns[has_cells]
        fast = samples(panel, 0, measure, rows, columns, 0)
        plain = resampled(panel, measure, rows, columns)
        np.testing.assert_allclose(fast, plain, atol=2e-6)


def test_the_pvalue_tends_to_exact_enumeration():
    human, first, second = np.random.default_rng(1).normal(size=(3, 2, 4)).round(1)
    panel = panel_of(human, first, second)
    x, y = panel.standardized()
    deltas = []
    for bits in product([True, False], repeat=8):
        mask = np.array(bits).reshape(2, 4)
        pair = np.where(mask, x, y), np.where(mask, y, x)
        values = [kendall(human.ravel(), side.round(12).ravel()).statistic for side in pair]
        deltas.append(values[0] - values[1])
    exact = np.mean(np.array(deltas) >= deltas[0] - 1e-9)
    arguments = {"measure": "kendall", "n_resamples": 20_000, "rng": 2}
    result = perm_test(matrix(human), matrix(first), matrix(second), **arguments)
    assert result.pvalue == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))


def test_pairs_of_outputs_swap_their_outcomes_with_fixed_thresholds():
    human, first, second = np.random.default_rng(2).normal(size=(3, 4, 6)).round(1)
    result = perm_test(
        matrix(human), matrix(first), matrix(second), "acc_eq", n_resamples=500, rng=3
    )
    single = [acc_eq(matrix(human), matrix(m)) for m in (first, second)]
    assert result.swap == "pairs"
    assert result.statistic == pytest.approx(single[0].statistic - single[1].statistic)
    assert np.abs(result.null).max() <= 1.0
    assert result.null.mean() == pytest.approx(0.0, abs=0.05)


def test_a_seed_gives_one_result_for_any_chunks_and_workers(monkeypatch):
    values = np.random.default_rng(6).normal(size=(5, 4, 30)).round(1)
    human, metrics = matrix(values[0]), {str(k): matrix(values[k]) for k in range(1, 5)}
    arguments = {"measure": "kendall", "n_resamples": 600, "rng": 11}
    whole = compare_metrics(human, metrics, **arguments)
    monkeypatch.setattr(masks, "CHUNK", 1)
    parts = compare_metrics(human, metrics, **arguments)
    np.testing.assert_array_equal(whole.pvalues, parts.pvalues)
    single = perm_test(human, metrics["1"], metrics["2"], **arguments)
    assert whole.pvalues[0, 1] == single.pvalue


@pytest.mark.parametrize("kind", ["continuous", "ties", "gaps"])
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("measure", CASES, ids=lambda measure: measure.label)
def test_counting_as_permutations_are_made_gives_the_p_of_all_of_them(
    measure, alternative, kind, monkeypatch
):
    panel = scores(kind, n_metrics=4)
    pairs, swap = list(combinations(range(4), 2)), default_swap(measure)
    deltas = permuted_differences(panel, measure, swap, 150, 5, pairs)
    # One pair of metrics and one block of masks at once, and columns by the word.
    for module, name, least in ((tests, "HELD", 1), (masks, "CHUNK", 1), (masks, "COLUMNS", 64)):
        monkeypatch.setattr(module, name, least)
    there, back = permuted_pvalues(panel, measure, swap, 150, 5, pairs, alternative)
    for place, row in enumerate(deltas):
        assert there[place] == permutation_pvalue(row, alternative, measure)
        assert back[place] == permutation_pvalue(-row, alternative, measure)


@pytest.mark.parametrize("name", ["kendall", "spearman"])
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_screening_decides_wide_groups_as_all_of_their_pairs_do(name, alternative):
    """Whole numbers, half zeros and two decimals of 1,600 outputs; metrics that hardly differ."""
    rng = np.random.default_rng(4)
    human = rng.normal(size=(4, 400)).round(1)
    base = human + 4 * rng.normal(size=human.shape)
    metrics = base.round(), np.where(rng.random(human.shape) < 0.5, 0.0, base), base.round(2)
    panel, pairs = panel_of(human, *metrics), [(0, 1), (0, 2), (1, 2)]
    arguments = panel, Measure(name, "none"), "both", 60, 3, pairs
    there, back = permuted_pvalues(*arguments, alternative)
    for place, row in enumerate(permuted_differences(*arguments)):
        assert there[place] == permutation_pvalue(row, alternative, arguments[1])
        assert back[place] == permutation_pvalue(-row, alternative, arguments[1])


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("n_documents", [40, 9])
def test_approximate_soft_accuracies_decide_as_exact_ones_do(n_documents, alternative, monkeypatch):
    rng = np.random.default_rng(6)
    human = rng.normal(size=(30, 40)) + rng.normal(size=(30, 1)) / 4
    metrics = [human / 2 + rng.normal(size=human.shape) for _ in range(4)]
    # Equal but for a few outputs; whole numbers on another scale; offsets of segments.
    metrics += [metrics[0] + (rng.random(human.shape) < 0.02), 100 * metrics[1].round()]
    metrics[2] += 9 * rng.normal(size=40)
    documents = [str(k * n_documents // 40) for k in range(40)]
    panel = replace(panel_of(human, *metrics), documents=tuple(documents))
    measure, pairs = Measure("soft_pairwise_accuracy"), list(combinations(range(6), 2))
    arguments = panel, measure, "both", 300, 3, pairs
    exact = permuted_differences(*arguments)
    made = []
    one_by_one = soft_pairwise.SoftPairwiseTest._exact
    monkeypatch.setattr(
        soft_pairwise.SoftPairwiseTest,
        "_exact",
        lambda self, *rest: made.append(len(rest[2])) or one_by_one(self, *rest),
    )
    there, back = permuted_pvalues(*arguments, alternative)
    # Most permutations are decided without their exact difference.
    assert 0 < sum(made) < 300 * len(pairs) / 2
    for place, row in enumerate(exact):
        assert there[place] == permutation_pvalue(row, alternative, measure)
        assert back[place] == permutation_pvalue(-row, alternative, measure)


def test_the_fast_normal_tail_is_scipys():
    z = np.linspace(-1000, 1000, 400_001).astype(np.float32)
    z = np.concatenate([z, np.linspace(-7, 7, 400_001).astype(np.float32)])
    np.testing.assert_allclose(normal_tail(z), ndtr(-z.astype(np.float64)), atol=2e-7)


def test_p_values_of_documents_do_not_depend_on_how_they_are_summed():
    """Complete scores by products of documents' sums, incomplete ones by pairs of systems."""
    values = np.random.default_rng(2).normal(size=(2, 5, 12))
    valid, clusters = np.ones((5, 12), dtype=np.bool_), np.arange(12) // 3
    sums = values.reshape(2, 5, 4, 3).sum(axis=-1)
    gaps = sums[:, 1] - sums[:, 3]
    expected = ndtr(-gaps.sum(axis=-1) / np.sqrt((gaps**2).sum(axis=-1)))
    # A system without the last document has no part in this pair.
    lacking = np.where((np.arange(5) == 0)[:, None] & (clusters == 3), False, valid)
    for known in (valid, lacking):
        found = normal_pvalues(values, known, clusters)[:, 5]
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["continuous", "ties", "gaps"])
def test_a_hundred_systems_swap_their_outcomes_one_by_one(kind):
    panel = scores(kind, (100, 7))
    right = []
    for metric in panel.metrics:
        table = pair_table(panel.human, metric)
        right.append(table.agreement(table.calibrate()[1]))
    units = len(table.weights)
    drawn = np.concatenate(list(masks.Swaps(1, 200, (1, units), "pairs").chunks()))[:, 0] > 0
    plain = [table.weights @ np.where(kept, *right) - table.weights @ np.where(kept, *right[::-1])
             for kept in drawn]  # fmt: skip
    fast = permuted_differences(panel, Measure("acc_eq"), "pairs", 200, 1, [(0, 1)])[0]
    np.testing.assert_allclose(fast, plain, atol=1e-12)


@pytest.mark.parametrize("name", ["soft_pairwise_accuracy", "acc_eq"])
def test_three_hundred_metrics_take_the_memory_of_a_few(name, monkeypatch):
    monkeypatch.setattr(tests, "HELD", 2**18)
    rng = np.random.default_rng(2)
    human = rng.normal(size=(3, 20))
    metrics = {f"m{k}": matrix(human + (1 + k % 7) * rng.normal(size=(3, 20))) for k in range(300)}
    options = {"measure": Measure(name), "n_resamples": 200, "rng": 3}
    tracemalloc.start()
    table = compare_metrics(matrix(human), metrics, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Tables and numbers of the pairs; all differences under 200 permutations would be 72 MB more.
    assert peak < 20e6 + 10 * 44_850 * 8
    for other in ("m1", "m150", "m299"):
        p = perm_test(matrix(human), metrics["m0"], metrics[other], **options).pvalue
        assert table.pvalues[0, int(other[1:])] == pytest.approx(p, abs=1.5 / 201)


def test_row_and_column_agree_with_the_alternative():
    values = np.random.default_rng(6).normal(size=(3, 4, 30))
    human, metrics = matrix(values[0]), {"a": matrix(values[1]), "b": matrix(values[2])}
    one = perm_test(human, metrics["a"], metrics["b"], rng=1)
    other = perm_test(human, metrics["a"], metrics["b"], alternative="less", rng=1)
    both = perm_test(human, metrics["a"], metrics["b"], alternative="two-sided", rng=1)
    table = compare_metrics(human, metrics, rng=1).pvalues
    assert (table[0, 1], table[1, 0]) == (one.pvalue, other.pvalue)
    assert both.pvalue <= 2.2 * min(one.pvalue, other.pvalue)
    assert one.statistic == pytest.approx(one.first - one.second)


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_identical_and_affine_metrics_never_differ(correlation):
    human, metric = np.random.default_rng(8).normal(size=(2, 4, 25))
    measure = Measure(correlation, threshold=0.5)
    options = {"measure": measure, "n_resamples": 99, "rng": 1}
    if correlation != "acc_eq":
        affine = matrix(0.1 * metric + 3.0)
        result = perm_test(matrix(human), matrix(metric), affine, **options)
        assert result.pvalue == 1.0
    with pytest.warns(IdenticalInputWarning):
        result = perm_test(matrix(human), matrix(metric), matrix(metric), **options)
    assert (result.pvalue, result.statistic) == (1.0, 0.0)


def test_a_constant_metric_leaves_the_test_undefined():
    human, metric = np.random.default_rng(8).normal(size=(2, 4, 25))
    with pytest.warns(ConstantInputWarning):
        result = perm_test(matrix(human), matrix(metric), matrix(np.ones((4, 25))), rng=1)
    assert np.isnan(result.pvalue)


def test_missing_cells_are_left_out_for_all_metrics():
    human, first, second = np.random.default_rng(8).normal(size=(3, 4, 25))
    first[0, 0] = np.nan
    with pytest.warns(MissingDataWarning):
        result = perm_test(matrix(human), matrix(first), matrix(second), n_resamples=99, rng=1)
    assert (result.n, result.n_excluded) == (99, 1)


def test_an_undefined_permutation_counts_as_reaching():
    assert permutation_pvalue(np.array([0.5, np.nan, 0.1, 0.5]), "greater", Measure()) == 0.75
    assert permutation_pvalue(np.array([0.5, -0.5, 0.1, 0.2]), "two-sided", Measure()) == 0.5


def test_options_that_do_not_fit_are_refused():
    human = matrix(RNG.normal(size=(3, 5)))
    with refused("argument.pairs-swap", kind=DataError, measure="pearson"):
        perm_test(human, human, human, swap="pairs")
    with refused(
        "argument.choice", kind=DataError, name="grouping", allowed=["system-level"], value="item"
    ):
        perm_test(human, human, human, Measure("pairwise_accuracy", "item"))
    with refused("argument.threshold-swap", kind=DataError):
        perm_test(human, human, human, Measure("acc_eq", epsilon=0.1), swap="both")


def test_the_interval_of_inputs_covers_the_truth_as_often_as_it_says():
    rng, covered = np.random.default_rng(9), 0
    for seed in range(100):
        human = rng.normal(size=80)
        metric = 0.6 * human + 0.8 * rng.normal(size=80)
        low, high, _ = boot_interval(human, metric, n_resamples=200, rng=seed).interval
        covered += low <= 0.6 <= high
    assert 86 <= covered <= 99


def test_the_difference_of_two_metrics_is_paired():
    human, noise = np.random.default_rng(9).normal(size=(2, 200))
    metric = matrix((human + noise)[None])
    result = boot_interval(matrix(human[None]), metric, other=metric, n_resamples=100, rng=1)
    assert result.interval[:2] == (0.0, 0.0)


def test_clusters_consult_only_the_current_cluster():
    pvalues = np.ones((4, 4))
    pvalues[0, 1] = 0.01
    pvalues[0, 3] = 0.01
    assert rank_clusters([4, 3, 2, 1], pvalues).ranks.tolist() == [1, 2, 2, 2]
    assert rank_clusters([1, 1], np.ones((2, 2)), names="ba").order == ("a", "b")


def test_adjusting_by_table_and_by_row():
    values = np.random.default_rng(6).normal(size=(4, 4, 60))
    metrics = {"a": matrix(values[0] + 0.1 * values[1]), "b": matrix(values[1])}
    metrics["c"] = matrix(values[0] + values[2])
    result = compare_metrics(matrix(values[0]), metrics, n_resamples=999, rng=1)
    table, rows = result.adjusted("bonferroni"), result.adjusted("bonferroni", scope="row")
    assert (table.n, rows.n) == (3, 6)
    assert table.pvalues[0, 1] == pytest.approx(2 * 3 * result.pvalues[0, 1])
    assert rows.pvalues[0, 1] == pytest.approx(2 * result.pvalues[0, 1])
    assert np.isnan(table.pvalues[1, 0])


@pytest.mark.parametrize("method", ["bonferroni", "holm"])
def test_a_family_of_all_pairs_keeps_its_level(method: str) -> None:
    """One false alarm in at most a twentieth of families of equally good metrics."""
    rng = np.random.default_rng(8)
    m, n = 4, 4_000
    z = rng.normal(size=(n, m))
    one_sided = ndtr(-(z[:, :, None] - z[:, None, :]) / np.sqrt(2))
    alarms = [adjust_table(each, method=method).is_significant.any() for each in _off(one_sided)]
    assert 0.02 < np.mean(alarms) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


def _off(tables: np.ndarray) -> np.ndarray:
    tables[:, np.arange(tables.shape[1]), np.arange(tables.shape[1])] = np.nan
    return tables


def test_the_limit_of_the_flips_is_close_to_many_flips():
    values = np.random.default_rng(12).normal(size=(3, 6, 150))
    panel = panel_of(values[0], values[0] + values[1], values[0] + 3 * values[2])
    limit = permuted_differences(panel, Measure("soft_pairwise_accuracy"), "both", 6, 1, [(0, 1)])
    many = Measure("soft_pairwise_accuracy", n_flips=20_000)
    flips = permuted_differences(panel, many, "both", 6, 1, [(0, 1)])
    np.testing.assert_allclose(limit, flips, atol=0.01)
    plain = permuted(panel, many, "both", 6, 1)
    np.testing.assert_allclose(flips[0], plain, atol=0.02)


@pytest.mark.parametrize("shape", [(1, 6), (2, 1), (2, 5)])
@pytest.mark.parametrize("measure", CASES, ids=lambda measure: measure.label)
def test_too_few_systems_or_segments_are_undefined_or_defined_never_an_error(measure, shape):
    human, first, second = map(matrix, np.random.default_rng(1).normal(size=(3, *shape)))
    options = {"measure": measure, "rng": 1}
    result = perm_test(human, first, second, n_resamples=9, **options)
    assert np.isnan(result.pvalue) == np.isnan(result.statistic)
    interval = boot_interval(human, first, n_resamples=9, **options)
    assert np.isnan(interval.interval.low) or interval.interval.low <= interval.interval.high


def test_no_common_cell_is_refused():
    human = matrix(np.full((2, 3), np.nan))
    with pytest.raises(DataError) as caught:
        perm_test(human, human, human)
    assert caught.value.message.code == "data.no-cell"


@pytest.mark.parametrize(
    ("scheme", "n_masks"), [("both", 2**12), ("xor", 2**6), ("inputs", 2**4), ("systems", 2**3)]
)
def test_schemes_have_as_many_masks_as_their_null_says(scheme, n_masks):
    made = np.concatenate(list(masks.Swaps(1, 60_000, (3, 4), scheme).chunks()))
    assert len({mask.tobytes() for mask in made}) == n_masks
    assert (made[0] == 1).all()
    assert made[1:].mean() == pytest.approx(0.0, abs=0.02)
