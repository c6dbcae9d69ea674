"""Intervals clustered by document, against derivatives and jackknives computed one by one."""

import warnings

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata, t

from metaeval import ScoreMatrix
from metaeval.correlation import Measure, kendall, pearson, soft_pairwise_accuracy
from metaeval.correlation.hybrids import hybrid_limit_intervals, hybrid_limits
from metaeval.correlation.intervals import (
    correlation_intervals,
    soft_pairwise_intervals,
)
from metaeval.correlation.intervals.soft import soft_chance
from metaeval.correlation.soft_pairwise import soft_pairwise_limit
from metaeval.documents import effective_clusters
from metaeval.messages import DataError
from metaeval.results import TooFewWarning
from metaeval.scores import CorpusStatistics
from tests.metaeval.plain import matrix
from tests.refusals import refused

STEP = 1e-5
SIZES = np.array([9, 1, 4, 2, 7, 3, 5, 6, 2, 8, 4, 3])
# Segments of a document lie apart.
DOCUMENTS = np.random.default_rng(1).permutation(np.repeat(np.arange(len(SIZES)), SIZES))


def scores(
    n_metrics: int = 1, n_systems: int = 5, documents: np.ndarray = DOCUMENTS, seed: int = 4
) -> list[np.ndarray]:
    """Scores whose segments of one document resemble each other; some are missing."""
    rng = np.random.default_rng(seed)
    shape = (n_systems, len(documents))
    shared = rng.normal(size=(n_systems, documents.max() + 1))[:, documents]
    human = rng.normal(size=shape) + shared
    metrics = [human + rng.normal(size=shape) + rng.normal(size=shared.shape[1])[documents]
               for _ in range(n_metrics)]  # fmt: skip
    human[rng.random(shape) < 0.1] = np.nan
    return [human, *metrics]


def pooled(z: np.ndarray, x: np.ndarray, w: np.ndarray, measure: Measure) -> float:
    """Weighted r or tau-b of systems x segments, with a weight per segment."""
    valid = ~np.isnan(z)
    weights = np.broadcast_to(w, z.shape)[valid]
    z, x = z[valid], x[valid]
    if measure.correlation == "pearson":
        z, x = (side - np.average(side, weights=weights) for side in (z, x))
        return float(
            (weights * z * x).sum() / np.sqrt((weights * z * z).sum() * (weights * x * x).sum())
        )
    a, b = (np.sign(np.subtract.outer(side, side)) for side in (z, x))
    pairs = np.outer(weights, weights)
    return float((pairs * a * b).sum() / np.sqrt((pairs * a * a).sum() * (pairs * b * b).sum()))


def by_item(z: np.ndarray, x: np.ndarray, w: np.ndarray, measure: Measure) -> float:
    """The weighted mean of the segments' own values."""
    values = []
    for ours, theirs in zip(z.T, x.T, strict=True):
        known = ~np.isnan(ours)
        ours, theirs = ours[known], theirs[known]
        if measure.correlation == "pearson":
            values.append(np.corrcoef(ours, theirs)[0, 1])
        elif measure.correlation == "kendall":
            values.append(kendalltau(ours, theirs).statistic)
        else:
            upper, lower = np.triu_indices(len(ours), 1)
            gaps = theirs[upper] - theirs[lower]
            agrees = np.sign(ours[upper] - ours[lower]) == np.sign(gaps)
            values.append((agrees & (np.abs(gaps) > measure.epsilon)).mean())
    return float(np.average(values, weights=w))


def darr(z: np.ndarray, x: np.ndarray, w: np.ndarray, measure: Measure) -> float:
    """daRR τ with weights of segments: concordant less discordant pairs, of all pairs."""
    upper, lower = np.triu_indices(len(z), 1)
    human, metric = z[upper] - z[lower], x[upper] - x[lower]
    counted = np.abs(human) >= measure.threshold
    right = np.sign(human) == np.sign(metric)
    balance = (counted * np.where(right, 1, -1)).sum(axis=0)
    return float(w @ balance / (w @ counted.sum(axis=0)))


N = len(SIZES)
# Of unequal documents the effective number counts.
EFFECTIVE = SIZES.sum() ** 2 / (SIZES**2).sum()
HALF = t.ppf(0.975, EFFECTIVE - 1)


def spread_by_weights(value, documents: np.ndarray = DOCUMENTS) -> float:
    """The cluster-robust error: what a little more weight of each document changes."""
    n, sizes = documents.max() + 1, np.bincount(documents)
    effective = sizes.sum() ** 2 / (sizes**2).sum()
    changes = []
    for document in range(n):
        w = np.ones((2, len(documents)))
        w[:, documents == document] += np.array([[STEP], [-STEP]])
        changes.append((value(w[0]) - value(w[1])) / (2.0 * STEP))
    return float(np.sqrt(effective / (effective - 1) * (np.array(changes) ** 2).sum()))


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (Measure("pearson"), pooled),
        (Measure("kendall"), pooled),
        (Measure("pearson", "item"), by_item),
        (Measure("kendall", "item"), by_item),
        (Measure("acc_eq", "item", epsilon=0.1), by_item),
        (Measure("kendall_like", threshold=0.05), darr),
    ],
    ids=lambda part: getattr(part, "label", ""),
)
@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_the_error_is_what_weights_of_documents_change(measure: Measure, value) -> None:
    human, first, second = scores(2)
    ours, *theirs = (matrix(each, DOCUMENTS) for each in (human, first, second))
    found = correlation_intervals(ours, {"a": theirs[0], "b": theirs[1]}, measure)
    assert (found.unit, found.n_units, found.n_segments) == ("documents", N, len(DOCUMENTS))
    se = spread_by_weights(lambda w: value(human, first, w, measure), DOCUMENTS)
    r = value(human, first, np.ones(len(DOCUMENTS)), measure)
    if measure.grouping == "none":
        ends = np.tanh(np.arctanh(r) + np.array([-1.0, 1.0]) * HALF * se / (1.0 - r * r))
    else:
        ends = r + np.array([-1.0, 1.0]) * HALF * se
    assert [found.lows[0], found.highs[0]] == pytest.approx(ends, abs=1e-6)
    se = spread_by_weights(
        lambda w: value(human, first, w, measure) - value(human, second, w, measure), DOCUMENTS
    )
    width = found.difference_highs[0, 1] - found.difference_lows[0, 1]
    assert width == pytest.approx(2.0 * HALF * se, abs=1e-6)
    gap = r - value(human, second, np.ones(len(DOCUMENTS)), measure)
    assert found.difference_pvalues[0, 1] == pytest.approx(t.sf(gap / se, EFFECTIVE - 1), abs=1e-6)


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_the_error_of_the_limit_is_what_weights_of_documents_change() -> None:
    ours, theirs = (matrix(each, DOCUMENTS) for each in scores())
    found = hybrid_limit_intervals(ours, {"m": theirs})
    se = spread_by_weights(
        lambda w: float(hybrid_limits(ours, {"m": theirs}, w[None])[0, 0]), DOCUMENTS
    )
    r = found.values[0]
    assert (found.unit, found.n_units) == ("documents", N)
    ends = np.tanh(np.arctanh(r) + np.array([-1, 1]) * HALF * se / (1 - r * r))
    assert [found.lows[0], found.highs[0]] == pytest.approx(ends, abs=1e-6)


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_a_corpus_metric_leaves_out_one_document_at_a_time() -> None:
    rng = np.random.default_rng(6)
    human = rng.normal(size=(4, len(DOCUMENTS)))
    ratio = lambda sums: sums[:, 0] / sums[:, 1]  # noqa: E731
    counts = np.stack([rng.normal(5, 1, human.shape) + human, rng.normal(9, 1, human.shape)], 2)
    ours = matrix(human, DOCUMENTS)

    def limit_of(keep: np.ndarray):
        part = ours.subset(segments=[ours.segments[k] for k in np.flatnonzero(keep)])
        corpus = CorpusStatistics(counts[:, keep], part.systems, part.segments, ratio)
        return hybrid_limit_intervals(part, {}, statistics={"counted": corpus})

    whole = limit_of(np.ones(len(DOCUMENTS), dtype=bool))
    left_out = np.array([limit_of(k != DOCUMENTS).values[0] for k in range(N)])
    parts = (N - 1) / N * (left_out - left_out.mean())
    se = np.sqrt(EFFECTIVE / (EFFECTIVE - 1) * (parts**2).sum())
    width = HALF * se / (1.0 - whole.values[0] ** 2)
    assert np.arctanh(whole.highs[0]) - np.arctanh(whole.values[0]) == pytest.approx(width)


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_new_systems_and_new_documents_are_clustered_both_ways() -> None:
    human, metric = scores(n_systems=8)
    found = correlation_intervals(
        matrix(human, DOCUMENTS), {"m": matrix(metric, DOCUMENTS)}, target="systems"
    )
    valid = ~np.isnan(human)

    def change(cells: np.ndarray) -> float:
        """By the weights of the cells."""
        r = []
        for step in (STEP, -STEP):
            w = np.ones(human.shape)
            w[cells] += step
            z, x, w = human[valid], metric[valid], w[valid]
            z, x = z - np.average(z, weights=w), x - np.average(x, weights=w)
            r.append((w * z * x).sum() / np.sqrt((w * z * z).sum() * (w * x * x).sum()))
        return float((r[0] - r[1]) / (2.0 * STEP))

    parts = []
    for n, masks in (
        (8, [np.arange(8)[:, None] == k for k in range(8)]),
        (EFFECTIVE, [DOCUMENTS[None] == k for k in range(N)]),
    ):
        changes = [change(np.broadcast_to(mask, human.shape)) for mask in masks]
        parts.append((n / (n - 1) * float((np.array(changes) ** 2).sum()), n - 1))
    total = sum(v for v, _ in parts)
    df = total**2 / sum(v * v / f for v, f in parts)
    r = found.values[0]
    half = t.ppf(0.975, df) * np.sqrt(total) / (1.0 - r * r)
    assert found.highs[0] == pytest.approx(np.tanh(np.arctanh(r) + half), abs=1e-6)
    assert found.method.code == "method.t-systems-documents"
    assert found.method.parameters == {"systems": 8, "n": 12}


def flipped(values: np.ndarray, documents: np.ndarray) -> np.ndarray:
    """One-sided p of pairs of systems over all signs of documents, as a test would count them."""
    n = documents.max() + 1
    signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    found = np.full((len(values), len(values)), np.nan)
    for a, b in zip(*np.triu_indices(len(values), 1), strict=True):
        gaps = np.nan_to_num(values[a] - values[b])
        sums = np.array([gaps[documents == k].sum() for k in range(n)])
        found[a, b] = (signs @ sums >= sums.sum() - 1e-9).mean()
    return found


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_soft_accuracy_flips_whole_documents() -> None:
    documents = DOCUMENTS[DOCUMENTS < 10]
    human, metric = scores(documents=documents)
    metric = np.where(np.isnan(human), np.nan, metric)
    ours, theirs = matrix(human, documents), matrix(metric, documents)
    exact = [flipped(side, documents) for side in (human, metric)]
    found = soft_pairwise_accuracy(ours, theirs, n_resamples=20_000, rng=1)
    np.testing.assert_allclose(found.human_pvalues, exact[0], atol=0.02)
    np.testing.assert_allclose(found.metric_pvalues, exact[1], atol=0.02)
    assert (found.unit, found.n_units) == ("documents", 10)
    limit = soft_pairwise_limit(human, metric, ~np.isnan(human), ours.clusters).statistic
    assert limit == pytest.approx(found.statistic, abs=0.03)
    upper = np.triu_indices(5, 1)
    p = exact[0][upper]
    assert soft_chance(ours) == pytest.approx((0.5 + p - p * p).mean(), abs=0.03)


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_soft_accuracys_jackknife_leaves_out_one_document_at_a_time() -> None:
    human, metric = scores()
    ours, theirs = matrix(human, DOCUMENTS), matrix(metric, DOCUMENTS)
    found = soft_pairwise_intervals(ours, {"m": theirs})
    n, left = N, []
    for document in range(n):
        keep = document != DOCUMENTS
        part = human[:, keep], metric[:, keep], ~np.isnan(human[:, keep]), DOCUMENTS[keep]
        left.append(soft_pairwise_limit(*part).statistic)
    z = np.log(np.array(left) / (1.0 - np.array(left)))
    se = np.sqrt((n - 1) / n * ((z - z.mean()) ** 2).sum())
    end = np.log(found.values[0] / (1 - found.values[0])) + t.ppf(0.975, n - 1) * se
    assert found.highs[0] == pytest.approx(1.0 / (1.0 + np.exp(-end)))
    assert (found.unit, found.n_units) == ("documents", n)


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_the_order_of_segments_and_the_names_of_documents_do_not_matter() -> None:
    human, metric = scores()
    order = np.random.default_rng(3).permutation(len(DOCUMENTS))
    names = rankdata(-DOCUMENTS, method="dense")
    for measure in (Measure("kendall"), Measure("pearson", "item"), Measure("acc_eq")):
        plain, moved = (
            correlation_intervals(
                matrix(human[:, at], each), {"m": matrix(metric[:, at], each)}, measure
            )
            for at, each in ((slice(None), DOCUMENTS), (order, names[order]))
        )
        assert moved.lows == pytest.approx(plain.lows, abs=1e-10)
        assert moved.highs == pytest.approx(plain.highs, abs=1e-10)
    plain, moved = (
        soft_pairwise_intervals(matrix(human[:, at], each), {"m": matrix(metric[:, at], each)})
        for at, each in ((slice(None), DOCUMENTS), (order, names[order]))
    )
    assert moved.lows == pytest.approx(plain.lows, abs=1e-10)


INTERVALS = {
    "pooled": lambda h, m: correlation_intervals(h, {"m": m}),
    "by item": lambda h, m: correlation_intervals(h, {"m": m}, Measure("kendall", "item")),
    "limit": lambda h, m: hybrid_limit_intervals(h, {"m": m}),
    "soft": lambda h, m: soft_pairwise_intervals(h, {"m": m}),
}


@pytest.mark.parametrize(
    ("sizes", "is_shown"), [([60], False), ([12] * 5, False), ([10] * 6, True)], ids=str
)
@pytest.mark.parametrize("name", INTERVALS)
def test_few_documents_have_no_interval_or_a_warning(name, sizes, is_shown) -> None:
    documents = np.repeat(np.arange(len(sizes)), sizes)
    human, metric = (matrix(each, documents) for each in scores(documents=documents))
    with pytest.warns(TooFewWarning):
        found = INTERVALS[name](human, metric)
    assert np.isfinite([found.lows[0], found.highs[0]]).all() == is_shown
    assert np.isfinite(found.values[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", TooFewWarning)
        chosen = INTERVALS[name](human.by_segment(), metric.by_segment())
    assert (chosen.unit, chosen.n_units) == ("segments", 60)
    assert np.isfinite(chosen.lows[0])


@pytest.mark.parametrize("statistic", [pearson, kendall])
def test_a_correlation_of_two_matrices_has_the_interval_of_documents(statistic) -> None:
    human, metric = (matrix(each, DOCUMENTS) for each in scores())
    with pytest.warns(TooFewWarning):
        found = statistic(human, metric)
    with pytest.warns(TooFewWarning):
        many = correlation_intervals(human, {"m": metric}, statistic.__name__)
    assert found.interval[:2] == (many.lows[0], many.highs[0])
    assert (found.unit, found.n_units) == ("documents", 12)
    few = matrix(human.values[:, :30], np.arange(30) % 5)
    with pytest.warns(TooFewWarning):
        found = statistic(few, few.with_values(metric.values[:, :30]))
    assert np.isnan(found.interval.low)
    assert np.isnan(found.pvalue)


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_one_systems_correlation_knows_of_documents_too() -> None:
    human, metric = (matrix(np.nan_to_num(each[:1]), DOCUMENTS) for each in scores())
    found = pearson(human, metric)
    se = spread_by_weights(
        lambda w: pooled(human.values, metric.values, w, Measure("pearson")), DOCUMENTS
    )
    r = np.corrcoef(human.values[0], metric.values[0])[0, 1]
    half = HALF * se / (1.0 - r * r)
    assert found.interval.high == pytest.approx(np.tanh(np.arctanh(r) + half), abs=1e-6)
    assert found.unit == "documents"
    assert pearson(human.by_segment(), metric.by_segment()).unit == "pairs"


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_only_documents_with_judged_segments_count() -> None:
    human, metric = scores()
    human[:, DOCUMENTS == 0] = np.nan
    ours, theirs = matrix(human, DOCUMENTS), matrix(metric, DOCUMENTS)
    found = correlation_intervals(ours, {"m": theirs})
    assert found.n_units == N - 1
    assert found.n_effective == pytest.approx(effective_clusters(SIZES[1:]))
    # One judged segment per document: the unit is the segment again.
    documents = np.arange(40) // 2
    human, metric = scores(documents=documents)
    human[:, 1::2] = np.nan
    found = correlation_intervals(matrix(human, documents), {"m": matrix(metric, documents)})
    alone = correlation_intervals(matrix(human), {"m": matrix(metric)})
    assert (found.unit, found.n_units) == ("segments", 20)
    assert (found.lows[0], found.highs[0]) == (alone.lows[0], alone.highs[0])


def test_documents_that_disagree_are_an_error() -> None:
    human, metric = scores()
    with refused("data.documents-differ", kind=DataError):
        correlation_intervals(matrix(human, DOCUMENTS), {"m": matrix(metric, DOCUMENTS[::-1])})


TENS = np.arange(270) // 10


def world(rng: np.random.Generator, documents: np.ndarray = TENS) -> list[ScoreMatrix]:
    """4 systems x 27 documents x 10 segments; 30% of the variance is the document's."""
    n, n_segments = documents.max() + 1, len(documents)

    def layer() -> np.ndarray:
        difficulty, style = rng.normal(size=n), rng.normal(size=(4, n))
        segments, cells = rng.normal(size=n_segments), rng.normal(size=(4, n_segments))
        own = np.sqrt(0.4) * segments + np.sqrt(0.6) * cells
        return np.sqrt(0.15) * (difficulty[documents] + style[:, documents]) + np.sqrt(0.7) * own

    quality = 0.15 * np.arange(4)[:, None] + layer()
    sides = [quality + 0.8 * layer(), quality + layer(), quality + layer()]
    return [matrix(each, documents) for each in sides]


@pytest.mark.parametrize("name", ["pearson", "kendall", "limit"])
@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_intervals_of_two_equally_good_metrics_cover_zero(name: str) -> None:
    """Clustered by segment the same intervals cover 82 to 88 of 100."""
    rng, covered = np.random.default_rng(11), {"documents": 0, "segments": 0}
    n = 150
    for _ in range(n):
        human, *metrics = world(rng)
        for unit in covered:
            sides = [
                each if unit == "documents" else each.by_segment() for each in (human, *metrics)
            ]
            both = {"a": sides[1], "b": sides[2]}
            found = (
                hybrid_limit_intervals(sides[0], both)
                if name == "limit"
                else correlation_intervals(sides[0], both, name)
            )
            low, high = found.difference_lows[0, 1], found.difference_highs[0, 1]
            covered[unit] += bool(low <= 0.0 <= high)
    # 95% less three standard errors, and what segments reach.
    assert covered["documents"] >= n * 0.95 - 3 * np.sqrt(n * 0.95 * 0.05)
    assert covered["documents"] > covered["segments"] + 0.03 * n


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_intervals_cover_where_three_documents_have_most_of_the_segments() -> None:
    """With t of 23 - 1 degrees of freedom they would cover 70 of 100."""
    rng, documents = np.random.default_rng(14), np.repeat(np.arange(23), [1] * 20 + [50, 80, 100])
    n, covered = 150, 0
    for _ in range(n):
        human, *metrics = world(rng, documents)
        found = correlation_intervals(human, dict(zip("ab", metrics, strict=True)))
        covered += bool(found.difference_lows[0, 1] <= 0.0 <= found.difference_highs[0, 1])
    assert covered >= n * 0.95 - 3 * np.sqrt(n * 0.95 * 0.05)
