import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF

from metaeval import ScoreMatrix
from metaeval.messages import DataError
from metaeval.resampling import resample_counts, stream
from metaeval.results import IdenticalInputWarning, MissingDataWarning, TooFewWarning
from metaeval.scores import CorpusStatistics, bleu_score, chrf_score
from metaeval.systems import approximate_randomization, paired_bootstrap
from tests.metaeval.published import table
from tests.refusals import refused

NAMES = ["A", "B", "C"]


def outputs():
    rows = table("length-control/en-de/outputs.tsv")
    texts = {}
    for system, text in zip(rows["system"], rows["output"], strict=True):
        texts.setdefault(system, []).append(text)
    return texts, table("length-control/en-de/segments.tsv")["reference"]


def counts_of(metric, score, texts, reference):
    stack = [metric._extract_corpus_statistics(lines, [reference]) for lines in texts.values()]
    segments = map(str, range(len(reference)))
    return CorpusStatistics(np.array(stack, dtype=float), list(texts), segments, score)


@pytest.mark.parametrize(("metric", "score"), [(BLEU(), bleu_score), (CHRF(), chrf_score)])
def test_every_resample_scores_as_sacrebleu_scores_the_drawn_segments(metric, score):
    texts, reference = outputs()
    corpus = counts_of(metric, score, texts, reference)
    baseline = next(iter(texts))
    result = paired_bootstrap(corpus, baseline, n_resamples=200, rng=3)
    whole = metric.corpus_score(texts[baseline], [reference]).score
    assert result.baseline_score == pytest.approx(whole)
    row = resample_counts(stream(3, 0), 128, len(reference))[0].astype(int)
    drawn = np.repeat(np.arange(len(reference)), row)
    sums = (row[:, None] * corpus.values[0]).sum(axis=0)[None]
    again = metric.corpus_score(
        [texts[baseline][i] for i in drawn], [[reference[i] for i in drawn]]
    )
    assert score(sums)[0] == pytest.approx(again.score)
    assert ((result.lows <= result.differences) & (result.differences <= result.highs)).all()


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
def test_identical_systems_are_never_significant(test):
    counts = np.random.default_rng(1).integers(1, 20, (1, 50, 10)).astype(float)
    corpus = CorpusStatistics(np.repeat(counts, 2, axis=0), "AB", map(str, range(50)), bleu_score)
    with pytest.warns(IdenticalInputWarning):
        result = test(corpus, "A", n_resamples=99, rng=1)
    assert result.pvalues.tolist() == [1.0]


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
def test_a_true_null_is_rejected_about_as_often_as_it_should(test):
    rng, rejected = np.random.default_rng(5), 0
    for seed in range(300):
        matrix = ScoreMatrix(rng.normal(size=(2, 60)), "AB", map(str, range(60)))
        rejected += test(matrix, "A", n_resamples=199, rng=seed).pvalues[0] <= 0.05
    assert 4 <= rejected <= 30


def test_randomisation_tends_to_the_exact_sign_flip_test():
    values = np.array([[1.0, 2.0, 0.5, 3.0, 2.5, 1.0], [0.2, 1.5, 0.7, 1.0, 2.0, 0.1]])
    differences = values[0] - values[1]
    signs = 1 - 2 * ((np.arange(64)[:, None] >> np.arange(6)) & 1)
    exact = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12)
    matrix = ScoreMatrix(values, "AB", "stuvwx")
    result = approximate_randomization(matrix, "B", n_resamples=20_000, rng=1)
    assert result.pvalues[0] == pytest.approx(exact, abs=0.006)


def test_missing_segments_and_bad_names():
    values = np.random.default_rng(5).normal(size=(3, 8))
    values[2, 0] = np.nan
    matrix = ScoreMatrix(values, NAMES, "stuvwxyz")
    with pytest.warns(MissingDataWarning):
        result = paired_bootstrap(matrix, "A", n_resamples=50, rng=1)
    assert (result.n, result.systems) == (7, ("B", "C"))
    with refused(
        "argument.choice", kind=DataError, name="baseline", allowed=["A", "B", "C"], value="D"
    ):
        paired_bootstrap(matrix, "D")


def drawn(n, seed=1):
    return np.round(np.random.default_rng(seed).normal(size=(2, n)), 1)


def test_the_bootstrap_of_few_segments_says_that_p_is_too_small():
    """Simulated at .05: rejects 16% of 5 segments, 8.7% of 10, under a true null."""
    with pytest.warns(TooFewWarning):
        found = paired_bootstrap(ScoreMatrix(drawn(24), "AB", map(str, range(24))), "A", rng=1)
    assert [each.code for each in found.warnings] == ["too_few"]
    enough = ScoreMatrix(drawn(25), "AB", map(str, range(25)))
    assert paired_bootstrap(enough, "A", rng=1).warnings == ()
    few = ScoreMatrix(drawn(24), "AB", map(str, range(24)))
    assert approximate_randomization(few, "A", rng=1).warnings == ()


def test_the_bootstrap_of_one_segment_has_no_p_and_no_interval():
    with pytest.warns(TooFewWarning):
        found = paired_bootstrap(ScoreMatrix([[1], [2.0]], "AB", "s"), "A", rng=1)
    assert np.isnan([found.pvalues, found.lows, found.highs, found.wins]).all()
    assert (found.differences.tolist(), len(found.warnings)) == ([1.0], 1)


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
@pytest.mark.parametrize(
    ("scale", "shift"), [(1e-13, 0), (1e-200, 0), (1e13, 0), (1, 1e10), (10, 1e12)]
)
def test_neither_the_unit_nor_the_zero_of_the_scores_decides(test, scale, shift):
    """Scores in tenths: many resamples reach the difference exactly, up to rounding."""
    values, names = drawn(30, seed=4), list(map(str, range(30)))
    plain = test(ScoreMatrix(values, "AB", names), "A", rng=1).pvalues[0]
    assert plain < 0.9
    moved = test(ScoreMatrix(values * scale + shift, "AB", names), "A", rng=1).pvalues[0]
    assert moved == pytest.approx(plain, abs=0.002)


@pytest.mark.parametrize("unit", [0.1, 1 / 7])
def test_ties_of_many_segments_are_ties_in_any_unit(unit):
    """Whole numbers are summed exactly; a fixed slack of some roundings lost ties of 2,000."""
    rng, names = np.random.default_rng(6), list(map(str, range(2000)))
    values = np.where(rng.random((2, 2000)) < 0.01, rng.integers(0, 3, (2, 2000)), 1.0)
    found = [
        approximate_randomization(ScoreMatrix(values * k, "AB", names), "A", n_resamples=999, rng=1)
        for k in (1.0, unit)
    ]
    assert found[0].pvalues == found[1].pvalues
