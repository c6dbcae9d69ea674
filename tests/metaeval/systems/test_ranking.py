import numpy as np
import pytest

from metaeval import ScoreMatrix
from metaeval.judgments import mean_scores, z_scores
from metaeval.judgments.controls import graham_filters
from metaeval.judgments.controls.workers import score_flags
from metaeval.messages import DataError
from metaeval.results import TooFewWarning
from metaeval.systems import rank_systems
from tests.metaeval.published import numbers, table
from tests.refusals import refused


@pytest.fixture(scope="module")
def ranking():
    rows = table("raw-crowd-da/wmt21-ru-en/judgments.tsv")
    kept = [i for i, kind in enumerate(rows["type"]) if kind in ("SYSTEM", "REPEAT")]
    z = z_scores(numbers(rows["raw"]), rows["worker"]).z
    columns = [[rows[name][i] for i in kept] for name in ("system", "sid")]
    return rank_systems(mean_scores(z[kept], *columns).matrix)


def test_all_55_labels_and_33_pvalues_of_wmt21_come_out(ranking):
    pairs = table("raw-crowd-da/wmt21-ru-en/published-system-pairs.tsv")
    index = {name: i for i, name in enumerate(ranking.systems)}
    stars, compared = ranking.stars(), 0
    for better, worse, label, p in zip(
        *(pairs[name] for name in ("system_better", "system_worse", "stars", "wilcoxon_p")),
        strict=True,
    ):
        i, j = index[better], index[worse]
        assert stars[i][j] == label
        if p:
            compared += 1
            # Equal z-scores of two workers differ in the last bits, here and in the source:
            # a few ties fall either way. From the published scores p agrees to 1e-6, below.
            assert ranking.pvalues[i, j] == pytest.approx(float(p), rel=1e-2)
    assert (len(pairs["stars"]), compared) == (55, 33)


def test_published_segment_scores_give_the_pvalues_to_six_digits():
    rows = table("raw-crowd-da/wmt21-ru-en/published-segment-scores.tsv")
    matrix = mean_scores(numbers(rows["z_mean"]), rows["system"], rows["sid"]).matrix
    result = rank_systems(matrix)
    index = {name: i for i, name in enumerate(result.systems)}
    pairs = table("raw-crowd-da/wmt21-ru-en/published-system-pairs.tsv")
    for better, worse, p in zip(
        pairs["system_better"], pairs["system_worse"], pairs["wilcoxon_p"], strict=True
    ):
        if p:
            assert result.pvalues[index[better], index[worse]] == pytest.approx(float(p), rel=1e-6)


def test_the_published_order_wins_and_clusters_follow(ranking):
    rows = table("raw-crowd-da/wmt21-ru-en/published-system-scores.tsv")
    published = dict(zip(rows["system"], rows["z_mean"], strict=True))
    for name, score in zip(ranking.systems, ranking.scores, strict=True):
        assert score == pytest.approx(float(published[name]), abs=6e-4)
    wins = dict(zip(rows["system"], map(int, rows["wins"]), strict=True))
    assert dict(zip(ranking.systems, ranking.wins.tolist(), strict=True)) == wins


def test_a_paired_test_separates_what_an_unpaired_one_cannot():
    rng = np.random.default_rng(2)
    difficulty = rng.normal(size=60)
    scores = np.array([difficulty, difficulty - 0.1 - 0.02 * rng.random(60)])
    matrix = ScoreMatrix(scores, ["A", "B"], map(str, range(60)))
    assert rank_systems(matrix).clusters.tolist() == [1, 1]
    paired = rank_systems(matrix, test="permutation", n_resamples=999, rng=1)
    assert paired.clusters.tolist() == [1, 2]
    assert (paired.first.tolist(), paired.last.tolist()) == ([1, 2], [1, 2])


@pytest.mark.parametrize(("test", "code"), [("rank-sum", "unpaired"), ("permutation", "paired")])
def test_pairs_that_share_too_few_segments_are_told_once(test, code):
    """B and C were never rated on one segment; the paired test cannot compare them."""
    nan, rng = np.nan, np.random.default_rng(3)
    values = rng.normal(size=(3, 60)) + np.array([[9], [5], [0]])
    values[1, 30:] = values[2, :30] = nan
    result = rank_systems(
        ScoreMatrix(values, "ABC", map(str, range(60))), test=test, n_resamples=99, rng=1
    )
    assert result.shared.tolist() == [[60, 30, 30], [30, 30, 0], [30, 0, 30]]
    (warning,) = result.warnings
    assert warning.message.code == f"ranking.small-overlap-{code}"
    names = ("pairs", "all", "first", "second", "shared")
    assert [warning.message.parameters[name] for name in names] == [1, 3, "B", "C", 0]


def test_complete_data_need_no_such_warning():
    matrix = ScoreMatrix(np.random.default_rng(4).normal(size=(3, 9)), "ABC", "stuvwxyz!")
    assert rank_systems(matrix).warnings == ()


def test_identical_systems_share_a_cluster():
    matrix = ScoreMatrix([[1, 2, 3], [1, 2, 3]], ["A", "B"], "stu")
    result = rank_systems(matrix, test="permutation", n_resamples=99, rng=1)
    assert result.clusters.tolist() == [1, 1]
    assert result.pvalues[0, 1] == 1.0
    with pytest.warns(TooFewWarning):
        rank_systems(matrix.subset(systems=["A"]))


def test_published_flags_of_all_wmt21_workers():
    rows = table("raw-crowd-da/wmt21-all-workers-qc.tsv")
    means = [numbers(rows[name]) for name in ("mean_system", "mean_ref", "mean_bad_ref")]
    flags = score_flags(*means, reference_rules=False)
    published = np.array([flag.startswith("flag") for flag in rows["flag_scores"]])
    known = ~np.isnan(means[2])
    # Means are printed with one digit, so a few ties cannot be decided.
    assert known.sum() > 1650
    assert (flags != published)[known].sum() <= 10


def test_flags_of_runs_and_times():
    kinds = ["SYSTEM"] * 10
    flags = graham_filters(
        [50.0] * 9 + [60.0], ["A"] * 10, kinds, tasks=[1] * 10, seconds=[200.0] * 10
    )
    assert (flags.longest_run.tolist(), flags.flag_sequence.tolist()) == ([9], [True])
    assert flags.flag_time.tolist() == [True]
    split = graham_filters([50.0] * 10, ["A"] * 10, kinds, tasks=[1] * 5 + [2] * 5)
    assert split.flag_sequence.tolist() == [False]
    missing = graham_filters([50.0] * 5 + [np.nan] + [50.0] * 4, ["A"] * 10, kinds)
    assert missing.longest_run.tolist() == [9]
    with refused(
        "argument.choice",
        kind=DataError,
        name="kinds",
        allowed=["SYSTEM", "REPEAT", "REF", "BAD_REF"],
        value="BAD",
    ):
        graham_filters([1.0], ["A"], ["BAD"])
