"""Read tables as a person would send them, of judgments and of published scores."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotation.imports import human_scores, judgments
from annotation.imports.judgments import Options, Reading
from annotation.imports.store import Launched, examine, launch
from annotation.models import Judgment
from annotation.uploads import InputFile, Report
from annotation.uploads.problems import Problem

DE_EN = {"source_language": "de", "target_language": "en"}
HEAD = "annotator\tseg_id\tsystem\tscore\n"


def as_file(name: str, value: Any) -> InputFile:
    """Return a file of a value: texts and bytes unchanged, everything else as JSON."""
    if isinstance(value, str):
        value = value.encode()
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return InputFile.holding(name, data)


def found(problems: list[Problem]) -> list[tuple[str, str]]:
    """Return place and code of problems."""
    return [(str(problem.place), problem.code) for problem in problems]


def as_files(**texts: str) -> list[InputFile]:
    """Return files by name, with an underscore in place of the point."""
    return [
        InputFile.holding(name.replace("_", "."), text.encode()) for name, text in texts.items()
    ]


def table(*rows: str, head: str = HEAD, name: str = "own_tsv") -> list[InputFile]:
    """Return a table of tabs as a file; the cells of `rows` are separated by bars."""
    text = head + "".join("\t".join(row.split("|")) + "\n" for row in rows)
    return as_files(**{name: text})


def read(files: Sequence[InputFile], **options: Any) -> tuple[Reading, Report]:
    """Read tables of judgments, and check them against what is stored."""
    report = Report()
    reading = judgments.read(files, Options(**options), report)
    if not report.errors:
        examine(reading.drafts, report)
    return reading, report


def stored(files: Sequence[InputFile], **options: Any) -> list[Launched]:
    """Import tables of judgments."""
    reading, report = read(files, **options)
    assert report.errors == []
    return launch(reading.drafts)


def stored_scores(files: Sequence[InputFile], **options: Any) -> list[Launched]:
    """Import tables of published scores."""
    report = Report()
    reading = human_scores.read(files, Options(**options), report)
    assert report.errors == []
    examine(reading.drafts, report)
    assert report.errors == []
    return launch(reading.drafts)


def at(folder: Path, *names: str) -> list[InputFile]:
    """Files of a folder."""
    return [InputFile.at(folder / name) for name in names]


def errors_of(files: Sequence[InputFile], **options: Any) -> list[tuple[str, str]]:
    """Return place and code of the errors that prevent an import of judgments."""
    return found(read(files, **options)[1].errors)


def counts(problems: Sequence[Problem]) -> dict[str, Any]:
    """Return the counts of problems by code; None for problems without a count."""
    return {each.code: each.message.parameters.get("n") for each in problems}


def values(**conditions: Any) -> list[Any]:
    """Return annotator, segment, system, kind, score and penalty of the current judgments."""
    rows = Judgment.objects.filter(is_current=True, **conditions).order_by("pk")
    return list(
        rows.values_list(
            "assignment__annotator__label",
            "assignment__item__segment__key",
            "assignment__item__output__system__name",
            "assignment__item__kind",
            "score",
            "penalty",
        )
    )
