"""BLEU, BLEU* and sentence BLEU against sacrebleu's public scores and published numbers."""

import importlib
import math

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from metrics.base import MetricError, SegmentInput
from metrics.registry import load
from tests.metrics.families.lexical import examples
from tests.metrics.families.lexical.conftest import Newstest
from tests.refusals import refused

TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}


def metric(name, language="en"):
    return load(name, source_language="de", target_language=language)


def oracle(language, **options):
    return BLEU(tokenize=TOKENIZERS.get(language, "13a"), **options)


@pytest.mark.parametrize("language", examples.LANGUAGES)
@pytest.mark.parametrize("name", ["bleu", "sentbleu"])
def test_segments_equal_sentence_score(name, language):
    segments = [*examples.inputs(language), examples.LONG]
    expected = [
        oracle(language, effective_order=True).sentence_score(s.hypothesis, s.references).score
        for s in segments
    ]
    scores = metric(name, language).score(segments)[:, 0]
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("language", examples.LANGUAGES)
def test_statistics_are_those_of_sentence_score(language):
    segments = examples.inputs(language)
    for segment, row in zip(segments, metric("bleu", language).score(segments), strict=True):
        score = oracle(language).sentence_score(segment.hypothesis, segment.references)
        expected = [score.sys_len, score.ref_len, *score.counts, *score.totals]
        assert row[1:].tolist() == expected


@pytest.mark.parametrize("language", examples.LANGUAGES)
@pytest.mark.parametrize("n_references", [1, 2, None])
def test_corpus_equals_corpus_score(language, n_references):
    segments = [*examples.inputs(language, n_references=n_references)]
    hypotheses = [segment.hypothesis for segment in segments]
    score = oracle(language).corpus_score(hypotheses, examples.streams(segments))
    bleu, star = metric("bleu", language), metric("bleu-star", language)
    assert examples.corpus_score(bleu, bleu.score(segments)) == pytest.approx(score.score, 1e-12)
    assert examples.corpus_score(star, star.score(segments)) == pytest.approx(
        score.score / score.bp, 1e-12
    )


@pytest.mark.parametrize("language", examples.LANGUAGES)
def test_star_is_bleu_without_its_penalty(language):
    segments = [*examples.inputs(language), examples.LONG]
    scores = metric("bleu-star", language).score(segments)[:, 0]
    for segment, star in zip(segments, scores, strict=True):
        score = oracle(language, effective_order=True).sentence_score(
            segment.hypothesis, segment.references
        )
        assert star * score.bp == pytest.approx(score.score, 1e-12)


def test_star_stays_defined_where_the_penalty_underflows():
    reference = " ".join(["word"] + [f"other{number}" for number in range(2000)])
    segment = SegmentInput("", "word", (reference,))
    assert oracle("en").sentence_score("word", [reference]).bp == 0.0
    assert metric("bleu", "en").score([segment])[0, 0] == 0.0
    assert metric("bleu-star", "en").score([segment])[0, 0] == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("hypothesis", "reference"), [("", "some words"), ("", ""), ("nothing here", "else there")]
)
def test_star_without_matches_is_zero(hypothesis, reference):
    star = metric("bleu-star")
    scores = star.score([SegmentInput("", hypothesis, (reference,))])
    assert scores[0, 0] == 0.0
    assert examples.corpus_score(star, scores) == 0.0


def test_readme_example_of_sacrebleu():
    segments = examples.inputs("en")[:3]
    bleu, star = metric("bleu"), metric("bleu-star")
    scores = bleu.score(segments)
    assert round(examples.corpus_score(bleu, scores), 2) == 48.53
    # 14/17, 7/14, 5/11 and 3/8, printed there as 82.4/50.0/45.5/37.5
    expected = 100 * math.prod([14 / 17, 7 / 14, 5 / 11, 3 / 8]) ** 0.25
    assert examples.corpus_score(star, scores) == pytest.approx(expected, 1e-12)


def test_clipped_count_of_papineni():
    references = ("The cat is on the mat", "There is a cat on the mat")
    row = metric("bleu").score([SegmentInput("", "the the the the the the the", references)])[0]
    correct, total = row[3], row[7]
    # 1 instead of the paper's 2 of 7, because sacrebleu keeps the case of "The"
    assert (correct, total) == (1, 7)
    lower = tuple(reference.lower() for reference in references)
    row = metric("bleu").score([SegmentInput("", "the the the the the the the", lower)])[0]
    assert (row[3], row[7]) == (2, 7)


@pytest.mark.parametrize(("pair", "pearson"), [("zh-en", 0.5032), ("de-en", 0.4145)])
def test_segment_pearson_on_newstest2017(pair, pearson, newstests: dict[str, Newstest]):
    newstest = newstests[pair]
    scores = metric("sentbleu").score([newstest.inputs[row] for row in newstest.judged])[:, 0]
    assert round(np.corrcoef(scores, newstest.human)[0, 1], 4) == pearson


@pytest.mark.parametrize("pair", ["zh-en", "de-en"])
def test_corpus_scores_of_newstest2017(pair, newstests: dict[str, Newstest]):
    newstest, bleu = newstests[pair], metric("bleu")
    scores = bleu.score(newstest.inputs)
    for check in newstest.checks:
        rows = newstest.rows_of(check["system"])
        score = examples.corpus_score(bleu, scores[rows])
        assert score == pytest.approx(float(check["check_bleu_subset"]), abs=5.1e-5)


def test_hybrids_in_one_call_equal_corpus_score(newstests: dict[str, Newstest]):
    newstest, bleu = newstests["zh-en"], metric("bleu")
    rng = np.random.default_rng(5)
    n_systems, n_segments = 16, 490
    picks = rng.integers(n_systems, size=(6, n_segments)) + n_systems * np.arange(n_segments)
    statistics = bleu.score(newstest.inputs)[:, 1:]
    scores = bleu.corpus(statistics[picks].sum(axis=1))
    for pick, score in zip(picks, scores, strict=True):
        hybrid = [newstest.inputs[row] for row in pick]
        expected = oracle("en", force=True).corpus_score(
            [segment.hypothesis for segment in hybrid], examples.streams(hybrid)
        )
        assert score == pytest.approx([expected.score], 1e-12)


def test_sentence_bleu_has_no_corpus_score():
    with pytest.raises(MetricError) as caught:
        metric("sentbleu").corpus(np.zeros((1, 0)))
    assert caught.value.permanent
    assert caught.value.message.code == "metric.no-corpus-statistics"


def test_signature_names_tokenizer_and_version():
    assert metric("bleu-star", "zh").signature() == (
        "bleu-star|nrefs:var|case:mixed|eff:segment|bp:no|tok:zh|smooth:exp|version:2.6.0"
    )
    assert "tok:ja-mecab-0.996-IPA" in metric("bleu", "ja").signature()
    assert "tok:13a" in metric("bleu", "de").signature()


def test_missing_korean_tokenizer_names_the_command(monkeypatch):
    module = importlib.import_module("sacrebleu.tokenizers.tokenizer_ko_mecab")
    monkeypatch.setattr(module, "MeCab", None)
    bleu = metric("bleu", "ko")
    command = "pip install -r requirements.txt"
    with refused("lexical.tokenizer-missing", kind=MetricError, command=command) as caught:
        bleu.signature()
    assert caught.value.permanent
    # A web server without the package still shows the scores.
    assert bleu.corpus(np.array([[4, 4, 4, 3, 2, 1, 4, 3, 2, 1.0]])) == pytest.approx(100)
