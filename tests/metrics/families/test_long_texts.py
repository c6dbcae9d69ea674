"""Sentences and their alignment against nltk's Gale–Church, and scores of texts in parts."""

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from nltk.translate.gale_church import LanguageIndependent, align_blocks

from metaeval.messages import message
from metrics.base import MeanOfSegments, MetricError, Scores, SegmentInput, one_measure
from metrics.error_spans import TARGET, FoundSpan
from metrics.families import sentences
from metrics.families.long_texts import HALVES, OPTION, SENTENCES, InParts
from metrics.families.passages import InDocuments, described
from metrics.options import OptionError
from metrics.registry import configure
from tests.refusals import refused

LIMIT = 5


def letters(count: int) -> str:
    return "".join(chr(97 + n % 26) for n in range(count))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("  It is 3.5 m, e.g. here.  Yes ", ["It is 3.5 m, e.g. here.", "Yes"]),
        ("“Go!” He went…\n\nTitle\nEnd", ["“Go!”", "He went…", "Title", "End"]),
        ("他来了。“好！”她说。", ["他来了。", "“好！”", "她说。"]),
        ("वह आया। ठीक है॥", ["वह आया।", "ठीक है॥"]),
        ("كيف؟ نعم.", ["كيف؟", "نعم."]),
        ("ไม่มี เครื่องหมาย", ["ไม่มี เครื่องหมาย"]),
        (" ", []),
    ],
)
def test_sentences_end_where_their_script_ends_them(text: str, expected: list[str]) -> None:
    assert [text[a:b] for a, b in sentences.split(text)] == expected


def links_of_nltk(left: Sequence[int], right: Sequence[int]) -> set[tuple[int, int]]:
    class Params(LanguageIndependent):
        AVERAGE_CHARACTERS = sum(right) / sum(left)

    return set(align_blocks(left, right, Params))


def test_alignment_is_that_of_nltk() -> None:
    rng = random.Random(5)
    n_merged = 0
    for _ in range(200):
        left = [rng.randint(8, 120) for _ in range(rng.randint(2, 12))]
        right = []
        for length in left:
            kind = rng.random()
            own = max(4, round(length * rng.uniform(0.3, 0.5)))
            right += [] if kind < 0.05 else [own // 2, own - own // 2] if kind < 0.25 else [own]
        if not right:
            continue
        links = links_of_nltk(left, right)
        cuts = sentences.align(left, right)
        assert cuts[-1] == (len(left), len(right))
        # No link crosses a cut, and where all sentences are linked, no cut is missing.
        for i, j in cuts:
            assert all((a < i) == (b < j) for a, b in links)
        if len({a for a, _ in links}) == len(left) and len({b for _, b in links}) == len(right):
            possible = [
                (i, j)
                for i in range(1, len(left) + 1)
                for j in range(1, len(right) + 1)
                if all((a < i) == (b < j) for a, b in links)
            ]
            assert cuts == possible
            n_merged += len(cuts) < len(left)
    assert n_merged > 10


@pytest.mark.parametrize(("left", "right"), [([], [3]), ([4], []), ([], [])])
def test_nothing_is_aligned_with_nothing(left: list[int], right: list[int]) -> None:
    assert sentences.align(left, right) == []


def test_lengths_far_apart_are_aligned() -> None:
    assert sentences.align([1, 100_000], [100_000, 1]) == [(2, 2)]


class Reader(MeanOfSegments):
    """Reads five words of a text; a score is 100 times its output's words plus its reference's."""

    def __init__(self, treatment: str, documents: str = "segments") -> None:
        options = (("long_texts", treatment), ("documents", documents))
        self.info = one_measure(
            "reader", "Reader", needs_source=False, needs_reference=True, options=options
        )
        self.truncated: Iterable[int] | None = None
        self.calls: list[SegmentInput] = []

    def signature(self) -> str:
        return "reader"

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        self.calls += inputs
        words = [[each.hypothesis.split(), each.references[0].split()] for each in inputs]
        self.truncated = [n for n, each in enumerate(words) if max(map(len, each)) > LIMIT]
        return np.array([[100.0 * min(LIMIT, len(a)) + min(LIMIT, len(b))] for a, b in words])


class Marker(Reader):
    """Marks each word “bad”."""

    def score_with_spans(
        self, inputs: Sequence[SegmentInput]
    ) -> tuple[Scores, list[list[FoundSpan]]]:
        spans = []
        for each in inputs:
            places = [
                n for n in range(len(each.hypothesis)) if each.hypothesis[n:].startswith("bad")
            ]
            spans.append([FoundSpan(TARGET, n, n + 3, "major") for n in places])
        return self.score(inputs), spans


SHORT = SegmentInput("s", "a b", ("c d e",))
LONG = SegmentInput(
    "s", "a b c. D e f g. H i", ("r s t. U v w x. Y z",)
)  # nine words, in sentences of three, four and two


def test_short_texts_are_scored_as_before_and_long_ones_by_sentence() -> None:
    metric = Reader(SENTENCES)
    scores = InParts(metric)
    found = scores.score([SHORT, LONG, SHORT])
    assert found.tolist() == [[203.0], [np.mean([303, 404, 202])], [203.0]]
    assert scores.truncated == {1}
    assert "long-texts:sentences" in scores.signature()


def test_halves_are_cut_between_sentences_near_the_middle() -> None:
    metric = Reader(HALVES)
    found = InParts(metric).score([LONG])
    # a b c | D e f g. H i: the second half has six words and is cut again.
    assert found.tolist() == [[np.mean([303, 404, 202])]]
    read = [each.hypothesis for each in metric.calls[1:]]
    assert read == ["a b c.", "D e f g. H i", "D e f g.", "H i"]


@pytest.mark.parametrize("treatment", [SENTENCES, HALVES])
@pytest.mark.parametrize("text", ["w " * 37, "w" * 40 + " v" * 12, "w, " * 90 + "End. Other " * 3])
def test_all_words_are_read_once(treatment: str, text: str) -> None:
    metric = Reader(treatment)
    given = SegmentInput("s", text, (text,))
    InParts(metric).score([given])
    read = [each for each in metric.calls if max(len(each.hypothesis.split()), 1) <= LIMIT]
    assert " ".join(each.hypothesis for each in read if each.hypothesis).split()
    words = sorted(word for each in read for word in each.hypothesis.split())
    assert words == sorted(text.split())


def test_texts_without_blanks_are_cut_between_characters() -> None:
    class ByCharacter(Reader):
        def score(self, inputs: Sequence[SegmentInput]) -> Scores:
            self.truncated = [n for n, each in enumerate(inputs) if len(each.hypothesis) > LIMIT]
            return np.array([[float(len(each.hypothesis))] for each in inputs])

    found = InParts(ByCharacter(HALVES)).score([SegmentInput("s", letters(16), (letters(16),))])
    assert found.tolist() == [[4.0]]


def test_what_cannot_be_cut_stays_truncated() -> None:
    class Never(Reader):
        def score(self, inputs: Sequence[SegmentInput]) -> Scores:
            self.truncated = range(len(inputs))
            return np.ones((len(inputs), 1))

    assert InParts(Never(SENTENCES)).score([SegmentInput("s", "ab", ("",))]).tolist() == [[1.0]]


def test_spans_of_parts_are_where_they_are_in_the_output() -> None:
    text = "bad b c d e. Bad is not bad, e f g h. I bad"
    _, spans = InParts(Marker(SENTENCES)).score_with_spans(
        [SegmentInput("s", text, (text,)), SHORT]
    )
    assert spans is not None
    assert [(each.start, each.end) for each in spans[0]] == [
        (n, n + 3) for n in range(len(text)) if text[n:].startswith("bad")
    ]
    assert spans[1] == []


def test_an_error_names_the_input_that_a_part_is_of() -> None:
    class Failing(Reader):
        def score(self, inputs: Sequence[SegmentInput]) -> Scores:
            if len(inputs) == 3:
                raise MetricError(message("a.b", "No."), permanent=True, index=2)
            return super().score(inputs)

    with pytest.raises(MetricError) as raised:
        InParts(Failing(SENTENCES)).score([SHORT, LONG])
    assert raised.value.index == 1


def document(*texts: tuple[str, str]) -> list[SegmentInput]:
    """Segments of a document from their outputs and references."""
    segments = tuple(SegmentInput("s", output, (reference,)) for output, reference in texts)
    return [
        SegmentInput(each.source, each.hypothesis, each.references, segments, position)
        for position, each in enumerate(segments)
    ]


REFERENCES = [
    "The harbour was quiet this morning when we came to see it.", "All saw it.",
    "The old ships had left in the night and nobody could tell us why they did so. Yes, nobody.",
]  # fmt: skip


def aligned(texts: Sequence[tuple[str, str]]) -> list[SegmentInput]:
    metric = Reader("truncate", "aligned")
    InDocuments(metric, described(metric.info)).score(document(*texts))
    return metric.calls


def test_sentences_are_scored_with_the_segments_that_they_translate() -> None:
    """However a system divides its document among the segments, the same passages are scored."""
    whole = " ".join(REFERENCES)
    expected = [SegmentInput("s", each, (each,)) for each in REFERENCES]
    moved = [REFERENCES[0], "", " ".join(REFERENCES[1:])]
    for outputs in (REFERENCES, [whole, "", ""], ["", "", whole], moved):
        assert aligned(list(zip(outputs, REFERENCES, strict=True))) == expected


def test_a_segment_that_was_left_out_is_scored_with_its_neighbour() -> None:
    calls = aligned([(REFERENCES[0], REFERENCES[0]), ("", REFERENCES[1]), ("", REFERENCES[2])])
    assert sum(each.hypothesis == REFERENCES[0] for each in calls) == 1
    for first, second in pairwise(calls):
        assert first != second
    assert " ".join(each.references[0] for each in calls) == " ".join(REFERENCES)


@pytest.mark.parametrize("empty", [("", "r"), ("o", ""), ("", "")])
def test_a_document_without_sentences_on_one_side_is_one_passage(empty: tuple[str, str]) -> None:
    assert aligned([empty, empty])[0].references == (f"{empty[1]} {empty[1]}",)


def test_one_sentence_may_have_a_thousand_counterparts() -> None:
    assert sentences.align([3_000], [3] * 1_000) == [(1, 1_000)]
    assert sentences.align([3] * 1_000, [3_000]) == [(1_000, 1)]


@pytest.mark.needs("extensions.neural")
def test_context_is_not_read_in_parts() -> None:
    given = {"checkpoint": "x", OPTION.name: SENTENCES, "documents": "context"}
    with refused("option.problem", kind=OptionError) as caught:
        configure("comet", "mine", "Mine", given)
    assert caught.value.problem.code == "documents.context-in-parts"
