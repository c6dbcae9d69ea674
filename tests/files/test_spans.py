"""Check every door with marked errors: the same words are marked in the text as it is stored.

Offsets are computed here by the rules of each format, not by our functions. CRLF becomes LF in
our texts.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from annotation.imports import sources
from annotation.models import Output
from annotation.uploads import InputFile
from annotation.uploads.problems import Report
from annotation.uploads.waiting import Sent
from metrics.imported.files import Choices
from metrics.spans import importing
from tests.files.doors import of_talks

pytestmark = pytest.mark.django_db
WORD = "Fehler"
TEXTS = [
    "ein Fehler hier",
    "a\r\nb Fehler, c",
    "a\rb e\u0301\r\n😀 Fehler\r.",
    "😀 二\r\n\r\n😀 ein Fehler\r\n.",
    "  Fehler\t😀 x",
]
Span = dict[str, Any]
Found = tuple[list[str], Report]
BASE = {"segment": "1", "system": "Nemo", "annotator": "R", "source": "S 1", "score": 50}
LANGUAGES = {"source_language": "de", "target_language": "en"}


def points(text: str) -> tuple[int, int]:
    start = text.index(WORD)
    return start, start + len(WORD)


def units(text: str) -> tuple[int, int]:
    """UTF-16 code units, the end excluded."""
    start, end = (len(text[:each].encode("utf-16-le")) // 2 for each in points(text))
    return start, end


def drafted(door: str, words: dict[str, Any], **files: Any) -> Found:
    made = {
        name: InputFile.holding(f"{name}.{end}", json.dumps(values).encode())
        for name, (end, values) in files.items()
    }
    reading, report = sources.check(Sent(door, made, words))
    found = []
    for test_set, campaign in reading.drafts:
        outputs = {system.name: system.outputs for system in test_set.systems}
        marks = [(each.item, span) for each in campaign.judgments for span in each.spans]
        marks += [(n, s) for n, own in enumerate(campaign.items) for s in own.suggestions]
        for number, span in marks:
            own = campaign.items[number]
            text = own.text or outputs[own.system or ""][own.segment]
            found.append(text[span.start : span.end])
    return found, report


def table(rows: list[Span]) -> Found:
    return drafted(sources.JUDGMENTS, LANGUAGES, tables=("json", rows))


def in_points(text: str, words: str) -> Found:
    start, end = points(text)
    span = {"start": start, "end": end, "severity": "minor", "text": words}
    return table([BASE | {"output": text, "spans": [span]}])


def in_units(text: str, words: str) -> Found:
    start, end = units(text)
    span = {"start_i": start, "end_i": end - 1, "severity": "minor", "text": words}
    return table([BASE | {"output": text, "spans": [span]}])


def as_appraise_has(text: str, words: str) -> Found:
    span = appraise(text, words) | {"error_type": ["accuracy", "omission"]}
    return table([BASE | {"output": text, "spans": [span]}])


def appraise(text: str, words: str) -> Span:
    start, end = units(text.strip())
    return {"start_i": start, "end_i": end - 1, "severity": "minor", "text": words}


def of_a_metric(text: str, words: str) -> Found:
    start, end = points(text)
    span = {"start": start, "end": end, "severity": "minor", "text": words}
    return metric(text, {"spans": [span]})


def metric(text: str, cells: Mapping[str, Any], *, skip: frozenset[str] = frozenset()) -> Found:
    test_set = of_talks(2)
    stored = text.replace("\r\n", "\n").replace("\r", "\n")
    outputs = Output.objects.filter(system__test_set=test_set, system__name="Nemo")
    outputs.update(text=stored)
    rows = [{"segment": n, "system": "Nemo", "output": text} for n in ("1", "2")]
    file = InputFile.holding("t.json", json.dumps([rows[0] | cells, rows[1]]).encode())
    checked = importing.check(test_set, [file], "m", False, choices=Choices(skip=skip))
    found = [stored[s.start : s.end] for own in checked.spans.values() for s in own]
    return found, checked.report


DOORS = [in_points, in_units, as_appraise_has, of_a_metric]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("door", DOORS)
def test_offsets_are_those_of_the_words(door: Callable[[str, str], Found], text: str) -> None:
    found, report = door(text, WORD)
    assert [str(error) for error in report.errors] == []
    assert found == [WORD]


@pytest.mark.parametrize("door", DOORS)
def test_offsets_of_other_words_are_an_error(door: Callable[[str, str], Found]) -> None:
    _, report = door(TEXTS[0], "Anders")
    codes = [error.code for error in report.errors]
    assert codes == ["judgments.span-marks-other-words"]


# The cells of a row whose error has its words and no offsets.
ALONE: dict[str, Callable[[str], dict[str, Any]]] = {
    "objects": lambda words: {"spans": [{"text": words, "severity": "minor"}]},
    "words by severity": lambda words: {"errors": {"Minor": [words], "major": []}},
    "objects by severity": lambda words: {"errors": {"minor": [{"error_span": words}]}},
    "an object with a list": lambda words: {
        "esa_spans": json.dumps({"errors": [{"span": words, "severity": "minor"}]})
    },
    "a column": lambda words: {"marked_text": words, "severity": "minor", "category": "style"},
    "empty offsets": lambda words: {
        "span": words, "severity": "minor", "start": "", "end": None
    },
}  # fmt: skip
# The same error, of the first six characters, as people and programs write it.
WRITTEN: dict[str, Any] = {
    "Python": "[{'start': 0, 'end': 6, 'severity': 'minor', 'text': None}]",
    "triples": [[0, 6, "minor"]],
    "triples in Python": "[(0, 6, 'minor')]",
    "JSON": '[{"start": 0, "end": 6, "severity": "minor"}]',
}
WITHOUT_OFFSETS: dict[str, Callable[[str, dict[str, Any]], Found]] = {
    "judgments": lambda text, cells: table([BASE | {"output": text} | cells]),
    "spans": metric,
}


@pytest.mark.parametrize("door", WITHOUT_OFFSETS)
@pytest.mark.parametrize("shape", ALONE)
def test_words_without_offsets_are_marked_where_they_are(door: str, shape: str) -> None:
    """The composed letter is stored as it came; its words may be given in either form."""
    for text in TEXTS if door == "judgments" else TEXTS[:1]:
        found, report = WITHOUT_OFFSETS[door](text, ALONE[shape](WORD))
        assert [str(error) for error in report.errors] == []
        assert found == [WORD]
        assert "spans.by-words" in [note.code for note in report.notes]


@pytest.mark.parametrize("door", WITHOUT_OFFSETS)
@pytest.mark.parametrize("cell", WRITTEN.values(), ids=WRITTEN)
def test_lists_of_errors_are_read_as_pandas_and_people_write_them(door: str, cell: Any) -> None:
    found, report = WITHOUT_OFFSETS[door]("Fehler sind hier", {"spans": cell})
    assert [str(error) for error in report.errors] == []
    assert found == [WORD]


@pytest.mark.parametrize("door", WITHOUT_OFFSETS)
@pytest.mark.parametrize("cell", ["[1 + 2]", "{", "[[0, 6]]", [7], "['x', 7]", "[" * 3000, "minor"])
def test_what_is_no_list_of_errors_is_refused(door: str, cell: Any) -> None:
    _, report = WITHOUT_OFFSETS[door]("Fehler sind hier", {"spans": cell})
    assert [error.code for error in report.errors] == ["spans.not-a-list"]


@pytest.mark.parametrize("door", WITHOUT_OFFSETS)
@pytest.mark.parametrize("shape", ALONE)
@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        ("ein Fehler, noch ein Fehler", WORD, "spans.words-repeated"),
        ("aXaXa", "aXa", "spans.words-repeated"),
        ("ein Fehler", "Anders", "spans.words-absent"),
    ],
)
def test_words_with_no_or_several_places_are_an_error(
    door: str, shape: str, text: str, words: str, code: str
) -> None:
    _, report = WITHOUT_OFFSETS[door](text, ALONE[shape](words))
    assert [(error.code, error.place.row) for error in report.errors] == [(code, 1)]


def test_spellings_of_words_are_alike_in_blanks_case_and_composition() -> None:
    found, report = table(
        [BASE | {"output": "Das Cafe\u0301\r\n  ist  zu", "marked_text": "CAF\u00c9 ist",
                 "severity": "minor"}]
    )  # fmt: skip
    assert report.errors == []
    assert found == ["Cafe\u0301\n  ist"]


def test_rows_whose_words_have_no_place_can_be_skipped() -> None:
    marks = {"severity": "minor"}
    rows = [BASE | marks | {"segment": n, "output": f"Fehler {n}", "marked_text": words}
            for n, words in (("1", "Fehler"), ("2", "anders"))]  # fmt: skip
    found, report = drafted(sources.JUDGMENTS, LANGUAGES | {"skip": "span"}, tables=("json", rows))
    assert (found, report.errors) == ([WORD], [])
    found, report = metric("ein Fehler", {"marked_text": "Anders", "severity": "minor"},
                           skip=frozenset({"span"}))  # fmt: skip
    assert report.errors == []


@pytest.mark.parametrize("cells", [{"marked_text": WORD}, {"start": 0, "end": 3, "severity": ""}])
@pytest.mark.parametrize("door", WITHOUT_OFFSETS)
def test_a_mark_without_a_severity_is_no_output_without_errors(
    door: str, cells: dict[str, Any]
) -> None:
    _, report = WITHOUT_OFFSETS[door]("ein Fehler", cells | {"severity": ""})
    codes = {"judgments.no-severity", "spans.severity-length", "spans.lists-differ"}
    assert {error.code for error in report.errors} <= codes
    assert report.errors


def test_a_stated_severity_is_that_of_words_without_one() -> None:
    row = BASE | {"output": "ein Fehler", "errors": [WORD]}
    found, report = drafted(
        sources.JUDGMENTS, LANGUAGES | {"severity": "minor"}, tables=("json", [row])
    )
    assert (found, report.errors) == ([WORD], [])
