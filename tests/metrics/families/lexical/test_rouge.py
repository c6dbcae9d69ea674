"""ROUGE against google's rouge-score, digit for digit, and the examples of Lin (2004)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenize import tokenize

from metrics.base import SegmentInput
from metrics.families.lexical.tokens import character_tokens, unicode_tokens
from metrics.registry import get_info, load
from tests.metrics.families.lexical import examples
from tests.metrics.families.lexical.conftest import Newstest

TYPES = ["rouge1", "rouge2", "rougeL"]


class Tokenizer:
    """What rouge-score accepts as ``tokenizer=``."""

    def __init__(self, tokenize):
        self.tokenize = tokenize


def metric(language="en", name="rouge"):
    return load(name, source_language="fr", target_language=language)


def oracle(segments, tokenize=None):
    scorer = RougeScorer(TYPES, tokenizer=Tokenizer(tokenize) if tokenize else None)
    scores = [scorer.score_multi(s.references, s.hypothesis) for s in segments]
    return [[value for kind in TYPES for value in score[kind]] for score in scores]


@pytest.mark.parametrize("language", examples.LANGUAGES)
def test_equals_rouge_score_in_every_language(language):
    segments = examples.inputs(language)
    tokenize = None if language == "en" else unicode_tokens
    assert metric(language).score(segments).tolist() == oracle(segments, tokenize)


@pytest.mark.parametrize("language", examples.LANGUAGES)
def test_all_characters_equal_rouge_score(language):
    segments = examples.inputs(language)
    scores = metric(language, "rouge-characters").score(segments)
    assert scores.tolist() == oracle(segments, character_tokens)


def test_long_text_equals_rouge_score():
    assert metric().score([examples.LONG]).tolist() == oracle([examples.LONG])


def test_long_text_against_itself_is_perfect():
    text = examples.LONG.hypothesis
    assert metric().score([SegmentInput("", text, (text,))]).tolist() == [[1.0] * 9]


@given(st.lists(st.text("ab c", max_size=30), min_size=2, max_size=4))
def test_few_words_and_many_ties_equal_rouge_score(texts):
    segments = [SegmentInput("", texts[0], tuple(texts[1:]))]
    assert metric().score(segments).tolist() == oracle(segments)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_unicode_equals_rouge_score(hypothesis, reference):
    segments = [SegmentInput("", hypothesis, (reference,))]
    assert metric("ru").score(segments).tolist() == oracle(segments, unicode_tokens)
    assert metric("en").score(segments).tolist() == oracle(segments)


def test_newstest2017_equals_rouge_score(newstests: dict[str, Newstest]):
    segments = newstests["de-en"].inputs[::11]
    assert metric("en").score(segments).tolist() == oracle(segments)


def test_real_chinese_equals_rouge_score(newstests: dict[str, Newstest]):
    sources = dict.fromkeys(segment.source for segment in newstests["zh-en"].inputs)
    segments = [SegmentInput("", left, (right, left[:20])) for left, right in pairwise(sources)]
    scores = metric("zh").score(segments)
    assert scores.tolist() == oracle(segments, unicode_tokens)
    assert (scores[:, 0] > 0).all()


@pytest.mark.parametrize(
    ("hypothesis", "rouge_2", "rouge_l"),
    [
        ("police kill the gunman", 1 / 3, 3 / 4),
        ("the gunman kill police", 1 / 3, 2 / 4),
        ("the gunman police killed", 2 / 3, 2 / 4),
    ],
)
def test_examples_of_lin(hypothesis, rouge_2, rouge_l):
    segment = SegmentInput("", hypothesis, ("police killed the gunman",))
    scores = metric().score([segment])[0]
    assert scores[3:].tolist() == [rouge_2] * 3 + [rouge_l] * 3


def test_punctuation_alone_scores_zero():
    assert not metric("zh").score([SegmentInput("", "。，！", ("。，！",))]).any()
    assert metric("zh", "rouge-characters").score([SegmentInput("", "。", ("。",))])[0, 0] == 1.0


def test_signatures_tell_tokens_apart():
    assert metric("en").signature() == "rouge|nrefs:var|case:lc|tok:ascii|stem:no|version:1"
    assert "|tok:unicode-regex-" in metric("zh").signature()
    assert "|tok:characters|" in metric("zh", "rouge-characters").signature()


EXAMPLE = "Über 3,5 GB – 我买了iPhone 15。"


def test_the_page_shows_where_rouge_score_differs() -> None:
    notes = str(get_info("rouge").notes)
    assert EXAMPLE in notes
    assert f"keeps: {' '.join(tokenize(EXAMPLE, stemmer=None))};" in notes
    assert f"here keeps: {' '.join(metric('de').tokenizer.tokenize(EXAMPLE))}." in notes
    assert tokenize("Café", stemmer=None) == ["caf"]
    theirs = RougeScorer(["rouge1"], use_stemmer=False).score(EXAMPLE, EXAMPLE[::-1])
    ours = metric("de").score([SegmentInput("", EXAMPLE[::-1], (EXAMPLE,))])[0]
    assert ours[2] != theirs["rouge1"].fmeasure


def test_nothing_is_stemmed() -> None:
    segment = SegmentInput("", "winning harbours", ("wins harbour",))
    assert not metric().score([segment]).any()
    stemmed = RougeScorer(["rouge1"], use_stemmer=True).score("wins harbour", "winning harbours")
    assert stemmed["rouge1"].fmeasure == 1.0
