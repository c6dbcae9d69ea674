"""Errors name columns as the file does, whatever names of the field it uses."""

from collections.abc import Callable, Sequence

import pytest

from annotation import uploads
from annotation.imports import human_scores, judgments
from annotation.imports.judgments import Options
from annotation.uploads import InputFile, Report, Submission
from metaeval.files.names import NAMES

# Cells that at least one field of each table does not accept.
BROKEN = ("", "\x07", "many words in a cell of a number", "x" * 100_001)
Rows = Sequence[Sequence[str]]


def _test_set(file: InputFile) -> Report:
    return uploads.check_submission(
        Submission(
            slug="set", name="Set", tables=[file], source_language="de", target_language="en"
        )
    ).report


def _judgments(file: InputFile) -> Report:
    report = Report()
    judgments.read([file], Options(source_language="de", target_language="en"), report)
    return report


def _human_scores(file: InputFile) -> Report:
    report = Report()
    human_scores.read([file], Options(source_language="de", target_language="en"), report)
    return report


IMPORTS: dict[Callable[[InputFile], Report], tuple[Sequence[str], Rows]] = {
    _test_set: (
        ("segment", "document", "source", "reference", "system", "output", "length_ratio"),
        (
            ("s1", "d", "Eins.", "One.", "Alpha", "On.", "1"),
            ("s2", "d", "Zwei.", "Two.", "Alpha", "Tw.", "1"),
        ),
    ),
    _judgments: (
        ("annotator", "segment", "system", "source", "output", "score", "seconds"),
        (
            ("A", "s1", "Alpha", "Eins.", "On.", "50", "3"),
            ("A", "s2", "Alpha", "Zwei.", "Tw.", "60", "4"),
        ),
    ),
    _human_scores: (
        ("segment", "system", "source", "output", "score"),
        (("s1", "Alpha", "Eins.", "On.", "50"), ("s2", "Alpha", "Zwei.", "Tw.", "60")),
    ),
}


@pytest.mark.parametrize("read", IMPORTS)
def test_errors_name_the_columns_of_the_file(read: Callable[[InputFile], Report], db: None) -> None:
    fields, rows = IMPORTS[read]
    tried = 0
    for position, field in enumerate(fields):
        for synonym in NAMES[field][:4]:
            header = [synonym.upper() if each == field else each for each in fields]
            for broken in BROKEN:
                last = [*rows[-1]]
                last[position] = broken
                lines = [header, *rows[:-1], last]
                text = "".join("\t".join(line) + "\n" for line in lines)
                report = read(InputFile.holding("own.tsv", text.encode()))
                fields_of = {str(each.place.field) for each in report.errors if each.place.row}
                assert fields_of <= {"", *header}, (header, broken[:9], report.errors)
                tried += header[position] in fields_of
                for each in report.errors:
                    assert each.message.parameters.get("column", header[0]) in header
    assert tried > 3
