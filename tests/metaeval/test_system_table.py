"""MT systems side by side, against sacrebleu's paired bootstrap, scipy and a plain count."""

import warnings

import numpy as np
import pytest
from sacrebleu.metrics import BLEU
from scipy import stats

import metaeval as me
from metaeval.corpus import FORMULAS, bleu_score
from metaeval.scores import ScoreMatrix
from metrics.families.lexical.bleu import brevity_penalty, geometric_mean_precision
from metrics.families.lexical.chrf import f_score
from metrics.families.lexical.ter import edit_rate

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
    table = me.system_table(human, {"m": metric}, rng=3)
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
    human = matrix(np.random.default_rng(4), [0.0, 2.0])
    errors = human.with_values(10 - human.values)
    (column,) = me.system_table(human, {"ter": errors}, lower=["ter"], rng=1).columns
    assert column.systems == ("B", "A")
    assert column.scores[0] < column.scores[1]
    assert column.tau == 1.0


def test_against_the_best_is_one_paired_bootstrap() -> None:
    metric = matrix(np.random.default_rng(5), [0.0, 0.02, 1.0, 0.9])
    (column,) = me.system_table(metric, {"m": metric}, versus="best", rng=9).columns
    test = me.paired_bootstrap(metric, "C", n_resamples=1000, rng=9)
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
    corpus = me.CorpusStatistics(counts, "AB", SEGMENTS, bleu_score)
    human = ScoreMatrix(np.zeros((2, 60)), "AB", SEGMENTS)
    (column,) = me.system_table(human, {"bleu": corpus}, rng=1).columns
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
        table = me.system_table(human, {"m": human.with_values(values)}, rng=1)
    (column,) = table.columns
    assert column.systems == ("C", "B")
    assert (column.n, column.reasons["system without scores"]) == (55, 1)
    assert any("5 segments" in warning.message for warning in table.warnings)


def test_no_human_scores_leave_the_metrics() -> None:
    metric = matrix(np.random.default_rng(8), [0.0, 1.0])
    human = metric.with_values(np.full((2, 60), np.nan))
    with pytest.warns(me.TooFewWarning, match="no human ranking"):
        table = me.system_table(human, {"m": metric}, rng=1)
    assert table.ranking is None
    assert np.isnan(table.columns[0].tau)
    with pytest.raises(ValueError, match="versus"):
        me.system_table(human, {}, versus="worst")
