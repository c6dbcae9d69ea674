"""Tables as a person would send them, read through the door for judgments and for scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotation.imports import human_scores, judgments
from annotation.imports.judgments import Options, Reading
from annotation.imports.launch import Launched, examine, launch
from annotation.models import Judgment
from annotation.uploads import InputFile, Report

DE_EN = {"source_language": "de", "target_language": "en"}


def as_files(**texts: str) -> list[InputFile]:
    """Files by name, an underscore standing for the point."""
    return [
        InputFile.holding(name.replace("_", "."), text.encode()) for name, text in texts.items()
    ]


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


def errors_of(files: Sequence[InputFile], **options: Any) -> list[str]:
    """What forbids an import of judgments."""
    return [str(problem) for problem in read(files, **options)[1].errors]


def values(**conditions: Any) -> list[Any]:
    """Who, segment, system, kind, score and penalty of the current judgments."""
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
