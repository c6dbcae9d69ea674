"""Check marked errors of other tools as `tests/files/test_spans.py` checks those of tables.

Campaigns of Appraise and Pearmut with CRLF are refused, because they go out as they came.
"""

from collections.abc import Callable

import pytest

from tests.extensions.formats.appraise.batches import item, manifest, tasks
from tests.files import test_spans as of_tables
from tests.files.samples import label, marked, result
from tests.files.test_spans import (
    LANGUAGES,
    TEXTS,
    WORD,
    Found,
    appraise,
    drafted,
    points,
    table,
    units,
)

pytestmark = pytest.mark.django_db


def label_studio(text: str, words: str, **at: str) -> Found:
    marks = marked(WORD, text, label("category", "labels", "Minor: Spelling"))
    for each in marks:
        each["value"] |= {"text": words, **at}
    score = result("quality", "target", "number", number=70)
    data = {"segment_id": "1", "source": "S 1", "target": text, "system": "Nemo"}
    annotation = {"id": 1, "completed_by": 3, "result": [score, *marks]}
    return table([{"id": 1, "data": data, "annotations": [annotation], "predictions": []}])


def potato(text: str, words: str, **at: str) -> Found:
    start, end = points(text)
    span = {"start": start, "end": end, "span": words, "annotation": "minor", **at}
    row = {
        "id": "1", "displayed_text": text, "system": "Nemo", "user": "u", "source": "S 1",
        "label_annotations": {"quality": {"scale_70": "70"}}, "span_annotations": [span],
    }  # fmt: skip
    return table([row])


def of_batches(text: str, words: str) -> Found:
    own = item(1, targetText=text, mqm=[appraise(text, words)], documentID="d1",
               isCompleteDocument=False)  # fmt: skip
    esa = manifest(CAMPAIGN_URL="x", TASKS_TO_ANNOTATORS=[["deu", "eng", "uniform", 1, 1]]) | {
        "REDUNDANCY": 1, "TASK_TYPE": "Document", "TASK_OPTIONS": "ESA",
    }  # fmt: skip
    words_of = {"ends": "included"}
    batches, about = ("json", tasks([own])), ("json", esa)
    return drafted("appraise", words_of, batches=batches, manifest=about)


def of_pearmut(text: str, words: str) -> Found:
    start, end = units(text)
    span = {"start_i": start, "end_i": end - 1, "severity": "minor", "text": words}
    values = {
        "campaign_id": "c",
        "info": {"assignment": "task-based", "protocol": "ESA", "users": 1},
        "data": [[[{"src": "S 1", "tgt": {"A": text}, "error_spans": {"A": [span]}}]]],
    }
    about = LANGUAGES | {"ends": "included", "breaks": "counted"}
    return drafted("pearmut", about, campaign=("json", values))


DOORS = [label_studio, potato, of_batches, of_pearmut]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("door", DOORS)
def test_offsets_are_those_of_the_words(door: Callable[[str, str], Found], text: str) -> None:
    of_tables.test_offsets_are_those_of_the_words(door, text)


@pytest.mark.parametrize("door", DOORS)
def test_offsets_of_other_words_are_an_error(door: Callable[[str, str], Found]) -> None:
    of_tables.test_offsets_of_other_words_are_an_error(door)


@pytest.mark.parametrize("door", [label_studio, potato])
def test_marks_of_tools_without_offsets_are_those_of_their_words(
    door: Callable[..., Found],
) -> None:
    """Regions of HTML have paths in the page, not numbers."""
    found, report = door("ein Fehler hier", WORD, start="/p[1]/text()[1]", end="/p[1]/text()[1]")
    assert report.errors == []
    assert found == [WORD]
