"""TER against sacrebleu's public scores, tercom's and Snover's published numbers."""

import importlib

import numpy as np
import pytest
from nltk.metrics.distance import edit_distance
from sacrebleu.metrics import TER

from metrics.base import MetricWarning, SegmentInput
from metrics.registry import load
from tests.metrics.families.lexical import examples

ASIAN = {"zh", "ja"}

TERCOM = [
    ("aaaa bbbb cccc dddd", "aaaa bbbb cccc dddd", 0),
    ("dddd eeee ffff", "aaaa bbbb cccc", 1),
    ("d e f g h a b c", "a b c d e f g h", 1 / 8),
    ("", "a", 1),
    # Snover et al. (2006), section 3: one shift, two substitutions, one insertion
    (
        "THIS WEEK THE SAUDIS denied information published in the new york times",
        "SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times",
        4 / 13,
    ),
]


def metric(language="en"):
    return load("ter", source_language="de", target_language=language)


def oracle(language):
    asian = language in ASIAN
    return TER(normalized=asian, asian_support=asian)


@pytest.mark.parametrize(("hypothesis", "reference", "rate"), TERCOM)
def test_published_rates(hypothesis, reference, rate):
    score = metric().score([SegmentInput("", hypothesis, (reference,))])[0, 0]
    assert score == pytest.approx(100 * rate, 1e-12)


@pytest.mark.parametrize("language", examples.LANGUAGES)
def test_segments_equal_sentence_score(language):
    segments = examples.inputs(language)
    expected = [oracle(language).sentence_score(s.hypothesis, s.references) for s in segments]
    scores = metric(language).score(segments)
    np.testing.assert_allclose(scores[:, 0], [score.score for score in expected], rtol=1e-14)
    assert scores[:, 1].tolist() == [score.num_edits for score in expected]
    assert scores[:, 2].tolist() == [score.ref_length for score in expected]


@pytest.mark.parametrize("language", examples.LANGUAGES)
@pytest.mark.parametrize("n_references", [1, 2, None])
def test_corpus_equals_corpus_score(language, n_references):
    segments = examples.inputs(language, n_references=n_references)
    hypotheses = [segment.hypothesis for segment in segments]
    expected = oracle(language).corpus_score(hypotheses, examples.streams(segments))
    ter = metric(language)
    score = examples.corpus_score(ter, ter.score(segments))
    assert score == pytest.approx(expected.score, 1e-14)


def test_empty_references_as_sacrebleu():
    ter = metric()
    both_empty, only_reference = SegmentInput("", "", ("",)), SegmentInput("", "a b", ("",))
    assert ter.score([both_empty, only_reference])[:, 0].tolist() == [0.0, 100.0]


def test_long_text_counts_edits_without_shifts(monkeypatch):
    distance = importlib.import_module("nltk.metrics.distance")
    monkeypatch.setattr(distance, "MAX_DISTANCE_INPUT_LEN", 20_000)
    words, reference = examples.LONG.hypothesis.split(), examples.LONG.references[0].split()
    references = (examples.LONG.references[0], "end")
    with pytest.warns(MetricWarning) as caught:
        score = metric().score([SegmentInput("", examples.LONG.hypothesis, references)])[0]
    (warning,) = [
        each.message.message for each in caught if isinstance(each.message, MetricWarning)
    ]
    assert (warning.code, warning.parameters["n"]) == ("lexical.ter-without-shifts", 1)
    assert score[1] == edit_distance(words, reference)
    assert score[2] == (len(reference) + 1) / 2
    assert score[0] == pytest.approx(100 * score[1] / score[2], 1e-14)


@pytest.mark.parametrize(("n_tokens", "edits"), [(1000, 1), (1001, 6)])
def test_shifts_are_searched_up_to_1000_tokens(n_tokens, edits):
    words = [f"w{number}" for number in range(n_tokens)]
    moved = words[:100] + words[103:120] + words[100:103] + words[120:]
    segment = SegmentInput("", " ".join(moved), (" ".join(words),))
    if n_tokens > 1000:
        with pytest.warns(MetricWarning):
            assert metric().score([segment])[0, 1] == edits
    else:
        assert metric().score([segment])[0, 1] == edits


def test_identical_long_text_has_no_edits():
    text = examples.LONG.hypothesis
    with pytest.warns(MetricWarning):
        assert metric().score([SegmentInput("", text, (text,))])[0].tolist() == [0, 0, 10001]


def test_signature_names_language_and_limit():
    assert metric("ja").signature() == (
        "ter|nrefs:var|case:lc|tok:tercom|norm:yes|punct:yes|asian:yes|shift:1000tok|version:2.6.0"
    )
    assert "|norm:no|punct:yes|asian:no|" in metric("ko").signature()
