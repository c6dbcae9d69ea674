"""chrF and chrF++ against sacrebleu's public scores and published numbers."""

import numpy as np
import pytest
from sacrebleu.metrics import CHRF

from metrics.registry import load
from tests.metrics.families.lexical import examples
from tests.metrics.families.lexical.conftest import Newstest

WORD_ORDERS = [("chrf", 0), ("chrf++", 2)]


def metric(name, language="en"):
    return load(name, source_language="de", target_language=language)


@pytest.mark.parametrize("language", examples.LANGUAGES)
@pytest.mark.parametrize(("name", "word_order"), WORD_ORDERS)
def test_segments_equal_sentence_score(name, word_order, language):
    segments = [*examples.inputs(language), examples.LONG]
    oracle = CHRF(word_order=word_order)
    expected = [oracle.sentence_score(s.hypothesis, s.references).score for s in segments]
    assert metric(name, language).score(segments)[:, 0].tolist() == expected


@pytest.mark.parametrize("language", examples.LANGUAGES)
@pytest.mark.parametrize("n_references", [1, 2, None])
@pytest.mark.parametrize(("name", "word_order"), WORD_ORDERS)
def test_corpus_equals_corpus_score(name, word_order, language, n_references):
    segments = examples.inputs(language, n_references=n_references)
    hypotheses = [segment.hypothesis for segment in segments]
    expected = CHRF(word_order=word_order).corpus_score(hypotheses, examples.streams(segments))
    chrf = metric(name, language)
    assert examples.corpus_score(chrf, chrf.score(segments)) == expected.score


def test_readme_example_of_sacrebleu():
    chrf = metric("chrf")
    score = examples.corpus_score(chrf, chrf.score(examples.inputs("en")[:3]))
    assert round(score, 2) == 59.73


@pytest.mark.parametrize(("pair", "pearson"), [("zh-en", 0.5872), ("de-en", 0.5159)])
def test_segment_pearson_on_newstest2017(pair, pearson, newstests: dict[str, Newstest]):
    newstest = newstests[pair]
    scores = metric("chrf").score([newstest.inputs[row] for row in newstest.judged])[:, 0]
    assert round(np.corrcoef(scores, newstest.human)[0, 1], 4) == pearson


@pytest.mark.parametrize("pair", ["zh-en", "de-en"])
def test_corpus_scores_of_newstest2017(pair, newstests: dict[str, Newstest]):
    newstest, chrf = newstests[pair], metric("chrf")
    scores = chrf.score(newstest.inputs)
    for check in newstest.checks:
        score = examples.corpus_score(chrf, scores[newstest.rows_of(check["system"])])
        assert score == pytest.approx(float(check["check_chrf_subset"]), abs=5.1e-5)


def test_signatures_tell_the_variants_apart():
    assert metric("chrf").signature() == (
        "chrf|nrefs:var|case:mixed|eff:yes|space:no|nc:6|nw:0|beta:2|version:2.6.0"
    )
    assert "|nw:2|" in metric("chrf++").signature()
