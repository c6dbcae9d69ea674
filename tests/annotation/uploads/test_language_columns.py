"""Columns that are called by the languages of their texts, as parallel corpora have them."""

import json
from typing import Any

import pytest

from annotation.uploads import InputFile
from tests.annotation.uploads.test_workbooks import codes
from tests.files.doors import of_talks
from tests.files.test_rules import DOORS, ROWS, Reading, separated

pytestmark = pytest.mark.django_db
# From German to English.
NAMES = (("de", "en"), ("German", "English"), ("Deutsch", "Englisch"), ("deu_Latn", "eng_Latn"))
WITH_TEXTS = ("test set", "judgments", "human scores")


def called(door: str, source: str, target: str) -> list[dict[str, Any]]:
    field = "reference" if door == "test set" else "output"
    kept = [{k: v for k, v in row.items() if k not in ("source", field)} for row in ROWS[door]]
    return [row | {source: f"Satz {n}", target: f"Sentence {n}"} for n, row in enumerate(kept)]


def read(door: str, rows: list[dict[str, Any]], name: str = "t.csv") -> Reading:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    text = separated(rows) if name == "t.csv" else lines
    return DOORS[door](InputFile.holding(name, text.encode()), frozenset(), {})


@pytest.mark.parametrize("door", WITH_TEXTS)
def test_they_are_source_and_other_text(door: str) -> None:
    wanted, report = read(
        door, called(door, "source", "reference" if door == "test set" else "output")
    )
    assert report.errors == []
    for source, target in NAMES:
        found, report = read(door, called(door, source, target))
        assert (found, report.errors) == (wanted, [])
        assert "columns.of-languages" in codes(report.notes)
    rows = called(door, "de", "en")
    nested = [row | {"translation": {"de": row.pop("de"), "en": row.pop("en")}} for row in rows]
    found, report = read(door, nested, "t.jsonl")
    assert (found, report.errors) == (wanted, [])


def test_named_columns_and_other_languages_are_left() -> None:
    named = [row | {"de": "x", "fr": "y"} for row in called("test set", "source", "reference")]
    wanted, _ = read("test set", called("test set", "source", "reference"))
    found, report = read("test set", named)
    assert found == wanted
    assert "columns.unused" in codes(report.warnings)
    assert "columns.of-languages" not in codes(report.notes)


def test_a_pointer_of_git_is_no_table() -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + 64 * "5" + "\nsize 9\n"
    of_talks(2)
    for door, reader in DOORS.items():
        _, report = reader(InputFile.holding("t.tsv", pointer.encode()), frozenset(), {})
        assert codes(report.errors) == {"file.git-lfs"}, door
