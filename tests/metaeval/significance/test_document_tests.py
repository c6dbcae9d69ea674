"""Permutations swap whole documents, and the bootstrap draws them: against plain loops."""

from itertools import product

import numpy as np
import pytest

from metaeval.correlation import Measure
from metaeval.correlation.measure import CORRELATIONS
from metaeval.correlation.panel import Panel, grouped
from metaeval.correlation.ties import pair_table
from metaeval.results import TooFewWarning
from metaeval.significance import boot_interval, compare_metrics, contest_of_metrics, perm_test
from metaeval.significance.bootstrap import _counts
from metaeval.significance.bootstrap_values import samples
from metaeval.significance.permutation.masks import Swaps
from metaeval.significance.permutation.tests import permuted_differences, permuted_test
from tests.metaeval.correlation.test_document_intervals import world
from tests.metaeval.plain import matrix, panel_of, permuted, resampled

# Segments of a document lie apart, and documents have different sizes.
DOCUMENTS = np.array([0, 1, 0, 2, 2, 1, 3, 2, 4, 4, 0, 3])
CASES = [
    Measure(name, grouping, variant, threshold=0.5)
    for name in CORRELATIONS
    for grouping in ("none", "item", "system", "system-level")
    for variant in ("bc" if name == "kendall" else "b")
    if (grouping == "system-level") == (name in CORRELATIONS[5:]) or name in CORRELATIONS[:3]
]
CASES.append(Measure("soft_pairwise_accuracy", n_flips=30))


def scores(kind: str, documents: np.ndarray = DOCUMENTS, n_systems: int = 5) -> Panel:
    values = np.random.default_rng(3).normal(size=(3, n_systems, len(documents)))
    if kind == "ties":
        values = values.round()
    if kind == "gaps":
        values[0][np.random.default_rng(4).random(values.shape[1:]) < 0.2] = np.nan
    return panel_of(*values, documents=documents)


@pytest.mark.parametrize("kind", ["continuous", "ties", "gaps"])
@pytest.mark.parametrize("measure", CASES, ids=str)
def test_every_permutation_of_documents_equals_the_plain_loop(measure: Measure, kind: str) -> None:
    if measure.n_flips:
        return  # The plain loop draws other flips for its rounded scores.
    panel = scores(kind)
    for swap in ("both", "xor", "inputs"):
        fast = permuted_differences(panel, measure, swap, 20, 5, [(0, 1)])[0]
        np.testing.assert_allclose(fast, permuted(panel, measure, swap, 20, 5), atol=2e-6)


@pytest.mark.parametrize("kind", ["continuous", "ties", "gaps"])
@pytest.mark.parametrize("measure", CASES, ids=str)
def test_every_sample_of_documents_equals_copied_documents(measure: Measure, kind: str) -> None:
    panel = scores(kind)
    for resample in ("both", "inputs"):
        rows, columns = _counts(5, (0, 0, 15), panel.valid.shape, resample, panel.clusters)
        drawn = columns[:, [0, 1, 3, 6, 8]]
        assert (drawn.sum(axis=1) == 5).all()
        assert (columns == drawn[:, DOCUMENTS]).all()
        fast = samples(panel, 0, measure, rows, columns, 0)
        plain = resampled(panel, measure, rows, columns)
        np.testing.assert_allclose(fast, plain, atol=2e-6)


@pytest.mark.parametrize(
    ("scheme", "n_masks"), [("both", 2**15), ("xor", 2**7), ("inputs", 2**5), ("systems", 2**3)]
)
def test_a_systems_outputs_of_a_document_swap_together(scheme: str, n_masks: int) -> None:
    chunks = Swaps(1, 2_000, (3, len(DOCUMENTS)), scheme, DOCUMENTS).chunks()
    made = np.concatenate(list(chunks)).reshape(-1, 3, len(DOCUMENTS))
    first = made[:, :, [0, 1, 3, 6, 8]]
    assert (made == first[:, :, DOCUMENTS]).all()
    distinct = len(np.unique(made.reshape(len(made), -1), axis=0))
    assert distinct <= n_masks
    assert distinct == n_masks or n_masks > 2_000


@pytest.mark.parametrize("grouping", ["item", "system", "none"])
def test_pairs_of_the_same_systems_and_documents_swap_together(grouping: str) -> None:
    panel = scores("gaps")
    measure = Measure("acc_eq", grouping)
    _, shape, clusters = permuted_test(measure, panel, "pairs", 1)
    human, *metrics = (
        grouped(each, panel.valid, grouping).T for each in (panel.human, *panel.metrics)
    )
    tables = [pair_table(human, metric) for metric in metrics]
    table = tables[0]
    assert shape == (1, len(table.human))
    systems, segments = np.nonzero(panel.valid)
    cells = {
        "item": lambda group, member: (member, group),
        "system": lambda group, member: (group, member),
        "none": lambda group, member: (systems[member], segments[member]),
    }[grouping]
    blocks: dict[frozenset, set[int]] = {}
    for pair, group in enumerate(table.groups):
        sides = [cells(group, table.first[pair]), cells(group, table.second[pair])]
        block = frozenset((int(s), int(DOCUMENTS[j])) for s, j in sides)
        blocks.setdefault(block, set()).add(int(clusters[pair]))
    assert all(len(numbers) == 1 for numbers in blocks.values())
    assert len({number for numbers in blocks.values() for number in numbers}) == len(blocks)
    # The coefficients of a block act together: the null has as many values as signs of blocks.
    right = [each.agreement(each.calibrate()[1]).astype(float) for each in tables]
    coefficients = np.bincount(clusters, table.weights * (right[0] - right[1]))
    deltas = permuted_differences(panel, measure, "pairs", 50, 1, [(0, 1)])[0]
    masks = np.concatenate(list(Swaps(1, 50, shape, "pairs", clusters).chunks()))[:, 0]
    signs = masks[:, np.unique(clusters, return_index=True)[1]]
    np.testing.assert_allclose(deltas, signs @ coefficients, atol=1e-12)


def test_p_tends_to_that_of_all_swaps_of_documents() -> None:
    documents = np.repeat(np.arange(8), [1, 5, 2, 3, 2, 4, 1, 2])
    rng = np.random.default_rng(5)
    human = rng.normal(size=(3, len(documents)))
    first, second = human + rng.normal(size=human.shape), human + 1.5 * rng.normal(size=human.shape)
    panel = panel_of(human, first, second, documents=documents)
    x, y = panel.standardized()
    r = lambda side: np.corrcoef(human.ravel(), side.ravel())[0, 1]  # noqa: E731
    null = []
    for swapped in product([False, True], repeat=8):
        mask = np.array(swapped)[documents]
        null.append(r(np.where(mask, y, x)) - r(np.where(mask, x, y)))
    exact = np.mean(np.array(null) >= null[0] - 1e-12)
    sides = [matrix(each, documents) for each in (human, first, second)]
    with pytest.warns(TooFewWarning):
        found = perm_test(*sides, swap="inputs", n_resamples=20_000, rng=1)
    assert found.pvalue == pytest.approx(exact, abs=0.01)
    assert (found.unit, found.n_units) == ("documents", 8)
    assert found.method.parameters["documents"] == 8


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_the_order_of_segments_does_not_change_the_draws() -> None:
    """Where documents keep the order of their first segments the seed gives the same swaps."""
    rng = np.random.default_rng(6)
    documents = np.repeat(np.arange(9), 3)
    sides = rng.normal(size=(3, 4, 27))
    # The first segment of each document stays first.
    order = np.concatenate(
        [np.arange(0, 27, 3), rng.permutation(np.delete(np.arange(27), np.s_[::3]))]
    )
    for measure in (Measure("kendall", "item"), Measure("soft_pairwise_accuracy"), Measure()):
        plain, moved = (
            perm_test(*(matrix(side[:, at], documents[at]) for side in sides), measure,
                      n_resamples=99, rng=1)
            for at in (np.arange(27), order)
        )  # fmt: skip
        assert moved.pvalue == plain.pvalue
        np.testing.assert_allclose(moved.null, plain.null, atol=1e-6)
        plain, moved = (
            boot_interval(*(matrix(side[:, at], documents[at]) for side in sides[:2]), measure,
                          n_resamples=50, rng=1)
            for at in (np.arange(27), order)
        )  # fmt: skip
        assert moved.interval == pytest.approx(plain.interval, abs=1e-9)


@pytest.mark.parametrize("resample", ["both", "inputs", "systems"])
def test_few_documents_have_no_bootstrap_interval(resample: str) -> None:
    sides = [
        matrix(side, np.arange(30) % 5) for side in np.random.default_rng(1).normal(size=(2, 4, 30))
    ]
    if resample == "systems":
        found = boot_interval(*sides, resample=resample, n_resamples=50, rng=1)
        assert (found.unit, found.n_units) == ("systems", 4)
        assert np.isfinite(found.interval.low)
        return
    with pytest.warns(TooFewWarning):
        found = boot_interval(*sides, resample=resample, n_resamples=50, rng=1)
    assert (found.unit, found.n_units) == ("documents", 5)
    assert np.isnan(found.interval[:2]).all()
    with pytest.warns(TooFewWarning):
        compared = compare_metrics(sides[0], {"a": sides[1], "b": sides[0]}, n_resamples=20, rng=1)
    assert (compared.unit, compared.n_units) == ("documents", 5)


def test_copies_of_segments_in_one_document_make_no_contest_more_certain() -> None:
    once = np.random.default_rng(2).normal(size=(3, 3, 30))
    once[1:] += once[0]
    documents = np.repeat(np.arange(30), 4)
    alone = contest_of_metrics(*once)
    found = contest_of_metrics(*once[:, :, documents], clusters=documents)
    assert (alone.unit, alone.n_units) == ("segments", 30)
    assert (found.unit, found.n_units) == ("documents", 30)
    assert found.wins.interval == pytest.approx(alone.wins.interval)
    assert found.lead_interval == pytest.approx(alone.lead_interval)
    with pytest.warns(TooFewWarning):
        few = contest_of_metrics(*once, clusters=np.arange(30) % 3)
    assert few.wins.interval is None
    assert few.lead_interval is None


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
@pytest.mark.parametrize("measure", [Measure(), Measure("soft_pairwise_accuracy")], ids=str)
def test_swaps_of_documents_keep_their_level(measure: Measure) -> None:
    """Of two equally good metrics; swaps of segments find 10 and 16 of 100 different."""
    rng, n = np.random.default_rng(12), 120
    rejected = {"documents": 0, "segments": 0}
    for seed in range(n):
        sides = world(rng)
        for unit in rejected:
            used = sides if unit == "documents" else [each.by_segment() for each in sides]
            found = perm_test(*used, measure, swap="inputs", n_resamples=99, rng=seed)
            rejected[unit] += found.pvalue <= 0.05
    # 5% and three standard errors.
    assert rejected["documents"] <= n * 0.05 + 3 * np.sqrt(n * 0.05 * 0.95)
    assert rejected["segments"] > rejected["documents"]


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_bootstrap_intervals_of_differences_cover_zero() -> None:
    rng, n, covered = np.random.default_rng(13), 100, {"documents": 0, "segments": 0}
    for seed in range(n):
        sides = world(rng)
        for unit in covered:
            human, first, second = sides if unit == "documents" else [s.by_segment() for s in sides]
            found = boot_interval(
                human, first, other=second, resample="inputs", n_resamples=128, rng=seed
            )
            covered[unit] += found.interval.low <= 0.0 <= found.interval.high
    # A percentile bootstrap of 27 documents covers 93%.
    assert covered["documents"] >= n * 0.93 - 3 * np.sqrt(n * 0.93 * 0.07)
    assert covered["segments"] < covered["documents"]
