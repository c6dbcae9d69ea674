"""MT systems side by side, against sacrebleu's paired bootstrap, scipy and a plain count."""

import itertools
import math
import warnings

import numpy as np
import pytest
from sacrebleu.metrics import BLEU
from scipy import stats

from metaeval import ScoreMatrix
from metaeval.correlation.intervals import accuracy_interval
from metaeval.judgments import mean_scores
from metaeval.messages import DataError
from metaeval.results import TooFewWarning
from metaeval.scores import FORMULAS, CorpusStatistics, bleu_score
from metaeval.systems import paired_bootstrap, system_table
from metrics.families.lexical.bleu import brevity_penalty, geometric_mean_precision
from metrics.families.lexical.chrf import f_score
from metrics.families.lexical.ter import edit_rate
from tests.metaeval.published import numbers, table
from tests.refusals import refused

SEGMENTS = [str(n) for n in range(60)]


def matrix(rng: np.random.Generator, shifts: list[float]) -> ScoreMatrix:
    base = rng.normal(size=60)
    rows = [base + shift + rng.normal(scale=0.3, size=60) for shift in shifts]
    return ScoreMatrix(rows, "ABCD"[: len(shifts)], SEGMENTS)


def test_the_formulas_equal_the_metrics_to_the_last_bit() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 40, (3000, 10)).astype(float)
    counts[:, 2:6] = np.minimum(counts[:, 2:6], counts[:, 6:10])
    counts[:40] = 0
    precision = geometric_mean_precision(counts, effective_order=False)
    assert np.array_equal(FORMULAS["bleu-star"](counts), precision)
    assert np.array_equal(FORMULAS["bleu"](counts), precision * brevity_penalty(counts))
    grams = rng.integers(0, 30, (3000, 18)).astype(float)
    assert np.array_equal(FORMULAS["chrf"](grams), f_score(grams))
    edits = rng.integers(0, 9, (3000, 2)).astype(float)
    assert np.array_equal(FORMULAS["ter"](edits), edit_rate(edits))


def test_scores_order_and_agreement_with_the_humans() -> None:
    rng = np.random.default_rng(2)
    human = matrix(rng, [0.0, 2.0, 1.0])
    metric = matrix(rng, [0.0, 1.0, 2.0])
    table = system_table(human, {"m": metric}, rng=3)
    (column,) = table.columns
    assert table.ranking is not None
    assert table.ranking.systems == ("B", "C", "A")
    assert column.systems == ("C", "B", "A")
    means = metric.values.mean(axis=1)
    assert column.scores == pytest.approx([means[2], means[1], means[0]])
    ours = human.values.mean(axis=1)
    assert column.tau == pytest.approx(stats.kendalltau(ours, means).statistic)
    # Of the three pairs the metric has one the wrong way round.
    assert column.accuracy == pytest.approx(2 / 3)
    assert column.marks == ("‡", "‡", "")
    assert np.isnan(column.pvalues[-1])


def test_lower_is_better_turns_the_order_and_not_the_scores() -> None:
    human = matrix(np.random.default_rng(4), [0.0, 2.0, 4.0])
    errors = human.with_values(10 - human.values)
    (column,) = system_table(human, {"ter": errors}, lower=["ter"], rng=1).columns
    assert column.systems == ("C", "B", "A")
    assert (np.diff(column.scores) > 0).all()
    assert column.tau == 1.0


def test_against_the_best_is_one_paired_bootstrap() -> None:
    metric = matrix(np.random.default_rng(5), [0.0, 0.02, 1.0, 0.9])
    (column,) = system_table(metric, {"m": metric}, versus="best", rng=9).columns
    test = paired_bootstrap(metric, "C", n_resamples=1000, rng=9)
    known = dict(zip(test.systems, test.pvalues.tolist(), strict=True))
    assert column.systems[0] == "C"
    assert np.isnan(column.pvalues[0])
    assert column.pvalues[1:].tolist() == [known[name] for name in column.systems[1:]]


def test_corpus_scores_are_sacrebleu_s() -> None:
    rng = np.random.default_rng(6)
    words = [f"w{n}" for n in range(12)]
    references = [" ".join(rng.choice(words, 9)) for _ in range(60)]
    outputs = [
        [
            " ".join(w if rng.random() < keep else str(rng.choice(words)) for w in text.split())
            for text in references
        ]
        for keep in (0.4, 0.8)
    ]
    bleu = BLEU()
    counts = [
        [np.array([s.sys_len, s.ref_len, *s.counts, *s.totals], float) for s in (
            bleu.corpus_score([text], [[reference]])
            for text, reference in zip(own, references, strict=True)
        )]
        for own in outputs
    ]  # fmt: skip
    corpus = CorpusStatistics(counts, "AB", SEGMENTS, bleu_score)
    human = ScoreMatrix(np.zeros((2, 60)), "AB", SEGMENTS)
    (column,) = system_table(human, {"bleu": corpus}, rng=1).columns
    expected = [bleu.corpus_score(own, [references]).score for own in reversed(outputs)]
    assert column.scores == pytest.approx(expected, abs=1e-9)
    assert column.marks[0] == "‡"


def test_missing_scores_are_counted_and_told() -> None:
    human = matrix(np.random.default_rng(7), [0.0, 1.0, 2.0])
    values = human.values.copy()
    values[0] = np.nan
    values[1, :5] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measures = {"m": human.with_values(values)}
        table = system_table(human, measures, rng=1, labels={"m": "Metric M"})
    (column,) = table.columns
    assert column.systems == ("C", "B")
    assert (column.n, column.reasons["system-without-scores"]) == (55, 1)
    assert column.reasons["output-without-score"] == 5
    # Each system has its own segments, the pair those of both.
    assert (column.counts.tolist(), column.shared.tolist()) == ([60, 55], [55, 0])
    test = paired_bootstrap(ScoreMatrix(values[[2, 1], 5:], "CB", SEGMENTS[5:]), "B", rng=1)
    assert (column.pvalues[0], column.differences[0]) == (test.pvalues[0], test.differences[0])
    two, warning = table.warnings
    assert math.isnan(column.tau)
    assert (two.message.code, two.message.parameters["n"]) == ("correlation.few-systems", 2)
    assert warning.message.code == "systems.uneven-segments"
    assert warning.message.parameters["metrics"] == ["Metric M"]
    assert warning.message.parameters["counts"].parameters == {"low": 55, "high": 60}
    assert warning.message.parameters["shared"] == 55


@pytest.mark.parametrize("documents", [None, [str(n // 3) for n in range(60)]])
def test_neighbours_are_drawn_together_as_each_pair_alone(documents: list[str] | None) -> None:
    values = np.random.default_rng(7).normal(size=(6, 60)).round(1) + [[0.2 * n] for n in range(6)]
    values[3, :7] = np.nan
    values[4] = values[5]
    metric = ScoreMatrix(values, "ABCDEF", SEGMENTS, documents)
    (column,) = system_table(metric, {"m": metric}, rng=3).columns
    for place, (first, second) in enumerate(itertools.pairwise(column.systems)):
        rows = values[["ABCDEF".index(name) for name in (first, second)]]
        known = ~np.isnan(rows).any(axis=0)
        shared = [name for name, is_in in zip(SEGMENTS, known, strict=True) if is_in]
        own = documents and [name for name, is_in in zip(documents, known, strict=True) if is_in]
        pair = ScoreMatrix(rows[:, known], [first, second], shared, own)
        alone = paired_bootstrap(pair, second, rng=3)
        assert column.pvalues[place] == alone.pvalues[0]
        assert column.differences[place] == pytest.approx(alone.differences[0], abs=1e-12)
        assert (column.shared[place], column.shared_units[place]) == (alone.n, alone.n_units)


@pytest.fixture(scope="module")
def crowd() -> tuple[ScoreMatrix, ScoreMatrix]:
    """A real crowd campaign, where few segments have all systems: z-means, words of each output."""
    folder = "raw-crowd-da/wmt21-ru-en"
    rows, texts = table(f"{folder}/published-segment-scores.tsv"), table(f"{folder}/outputs.tsv")
    human = mean_scores(numbers(rows["z_mean"]), rows["system"], rows["sid"]).matrix
    words = [len(text.split()) for text in texts["output"]]
    return human, mean_scores(words, texts["system"], texts["sid"]).matrix


def cells(matrix: ScoreMatrix) -> dict[str, dict[str, float]]:
    return {
        name: {s: v for s, v in zip(matrix.segments, row, strict=True) if v == v}
        for name, row in zip(matrix.systems, matrix.values.tolist(), strict=True)
    }


@pytest.mark.parametrize("versus", ["next", "best"])
def test_sparse_systems_are_compared_on_what_they_share(
    crowd: tuple[ScoreMatrix, ScoreMatrix], versus: str
) -> None:
    human, words = crowd
    found = system_table(human, {"words": words}, versus=versus, n_resamples=200, rng=1)
    (column,) = found.columns
    ours, theirs = cells(human), cells(words)
    assert column.counts.tolist() == [len(theirs[name]) for name in column.systems]
    means = [np.mean(list(theirs[name].values())) for name in column.systems]
    assert column.scores == pytest.approx(means)
    others = (*column.systems[1:], "") if versus == "next" else ("", *[column.systems[0]] * 9)
    for name, other, n, difference in zip(
        column.systems, others, column.shared, column.differences, strict=True
    ):
        both = theirs[name].keys() & theirs[other].keys() if other else set()
        assert n == len(both)
        if both:
            gaps = [theirs[name][s] - theirs[other][s] for s in both]
            assert difference == pytest.approx(np.mean(gaps))
    in_all = set.intersection(*(set(own) for own in theirs.values()))
    assert min(n for n in column.shared if n) > len(in_all)
    both_sides = {name: ours[name].keys() & theirs[name].keys() for name in column.systems}
    assert column.judged.tolist() == [len(both_sides[name]) for name in column.systems]
    for side, own in ((column.human, ours), (column.compared, theirs)):
        same = [np.mean([own[name][s] for s in both_sides[name]]) for name in column.systems]
        assert side == pytest.approx(same)
    assert column.tau == pytest.approx(stats.kendalltau(column.human, column.compared).statistic)


def test_sparse_data_are_told_once(crowd: tuple[ScoreMatrix, ScoreMatrix]) -> None:
    human, words = crowd
    measures = {f"m{n}": words.with_values(words.values * (n + 1)) for n in range(5)}
    found = system_table(human, measures, n_resamples=50, rng=1)
    codes = [each.message.code for each in found.warnings if "m0, m1, m2 and 2 more" in str(each)]
    assert 1 <= len(codes) == len(set(codes)) <= 2
    assert codes[0] == "systems.uneven-segments"
    assert len(found.warnings) <= 3


def test_agreement_is_over_the_same_segments() -> None:
    """The humans judged one half, where the metric agrees; on the other half it does not."""
    rng = np.random.default_rng(11)
    human = matrix(rng, [0.0, 1.0, 2.0])
    judged = human.values.copy()
    judged[:, 30:] = np.nan
    metric = human.values.copy()
    metric[:, 30:] = -4 * human.values[:, 30:]
    table = system_table(
        human.with_values(judged), {"m": human.with_values(metric)}, n_resamples=50, rng=1
    )
    (column,) = table.columns
    assert column.systems == ("A", "B", "C")
    assert column.scores == pytest.approx(metric.mean(axis=1))
    assert column.tau == 1.0
    assert column.judged.tolist() == [30, 30, 30]
    assert column.human == pytest.approx(human.values[:, :30].mean(axis=1))


@pytest.mark.filterwarnings("ignore::metaeval.results.TooFewWarning")
def test_rounding_breaks_no_ties_of_systems() -> None:
    values = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.2], [0.5, 0.4, 0.6]])
    ranks = np.repeat([[1.0], [2.0], [3.0], [4.0]], 3, axis=1)
    for order in itertools.permutations(range(3)):
        human, metric = (ScoreMatrix(x[:, order], "ABCD", "stu") for x in (values, ranks))
        column, itself = system_table(human, {"m": metric, "h": human}, rng=1).columns
        assert (column.accuracy, column.tau) == (0.5, pytest.approx(np.sqrt(0.5)))
        assert column.accuracy_interval == accuracy_interval([2, 2, 2, 5], [1, 2, 3, 4])
        assert itself.systems == ("D", "A", "B", "C")
        assert (itself.accuracy, itself.tau) == (1.0, pytest.approx(1.0))


def test_too_few_shared_segments_have_no_p_and_no_mark() -> None:
    metric = matrix(np.random.default_rng(12), [0.0, 5.0, 9.0])
    values = metric.values.copy()
    values[1, 24:] = np.nan
    table = system_table(metric, {"m": metric.with_values(values)}, n_resamples=99, rng=1)
    (column,) = table.columns
    assert (column.systems, column.shared.tolist()) == (("C", "B", "A"), [24, 24, 0])
    assert np.isnan(column.pvalues).all()
    assert column.marks == ("", "", "")
    assert "systems.few-shared-segments" in [each.message.code for each in table.warnings]


def test_no_mark_where_the_shared_segments_say_the_opposite() -> None:
    """A has the easy segments besides: ahead on its own, behind where both were scored."""
    easy, hard = np.full(30, 9.0), np.random.default_rng(13).normal(size=30)
    rows = [[*hard, *easy], [*(hard + 2), *np.full(30, np.nan)]]
    metric = ScoreMatrix(rows, "AB", SEGMENTS)
    for versus in ("next", "best"):
        table = system_table(metric, {"m": metric}, versus=versus, n_resamples=99, rng=1)
        (column,) = table.columns
        assert column.systems == ("A", "B")
        assert np.nanmin(column.pvalues) == 0.01
        assert column.marks == ("", "")
        assert "systems.reordered" in [each.message.code for each in table.warnings]


def test_no_human_scores_leave_the_metrics() -> None:
    metric = matrix(np.random.default_rng(8), [0.0, 1.0])
    human = metric.with_values(np.full((2, 60), np.nan))
    with pytest.warns(TooFewWarning):
        table = system_table(human, {"m": metric}, rng=1)
    assert table.ranking is None
    assert np.isnan(table.columns[0].tau)
    with refused(
        "argument.choice", kind=DataError, name="versus", allowed=["next", "best"], value="worst"
    ):
        system_table(human, {}, versus="worst")


@pytest.mark.parametrize("versus", ["next", "best"])
def test_marks_compare_judged_systems_whatever_else_has_scores(versus: str) -> None:
    """Two systems that nobody judged: one best of all, one between the judged two."""
    rng = np.random.default_rng(31)
    base = rng.normal(size=60)
    rows = [base + shift + rng.normal(scale=0.5, size=60) for shift in (0.6, 0.3, 0.0, 0.9)]
    metric = ScoreMatrix(rows, ["high", "hidden", "low", "top"], SEGMENTS)
    human = metric.with_values(np.where([[True], [False], [True], [False]], metric.values, np.nan))
    table = system_table(human, {"m": metric}, versus=versus, n_resamples=2000, rng=1)
    (column,) = table.columns
    assert table.unjudged == ("hidden", "top")
    assert column.systems == ("high", "low")
    assert column.unjudged == {
        "hidden": pytest.approx(metric.values[1].mean()),
        "top": pytest.approx(metric.values[3].mean()),
    }
    # The bootstrap of the mean difference of the two that are there, by numpy alone.
    gap = metric.values[0] - metric.values[2]
    drawn = np.random.default_rng(1).choice(gap, (20_000, 60)).mean(axis=1)
    p = (np.abs(drawn - gap.mean()) >= abs(gap.mean())).mean()
    assert p < 0.005
    place = 0 if versus == "next" else 1
    assert column.marks[place] == "‡"
    assert abs(column.differences[place]) == pytest.approx(gap.mean())
    # Without any human score all systems are compared with each other.
    nobody = metric.with_values(np.full((4, 60), np.nan))
    with pytest.warns(TooFewWarning):
        alone = system_table(nobody, {"m": metric}, versus=versus, n_resamples=99, rng=1)
    assert (alone.columns[0].systems[0], alone.unjudged) == ("top", ())
    # A system score that was published makes a system a judged one.
    published = {"high": 1.0, "low": 0.5, "hidden": 0.7}
    with pytest.warns(TooFewWarning):
        whole = system_table(nobody, {"m": metric}, human_systems=published, n_resamples=99, rng=1)
    assert whole.columns[0].systems == ("high", "hidden", "low")
    assert whole.unjudged == ("top",)
