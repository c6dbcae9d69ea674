"""Small campaigns in Appraise's formats."""

import json
from pathlib import Path
from typing import Any

from annotation.imports.store import Launched, launch
from annotation.uploads import Report
from annotation.uploads.problems import Problem
from extensions.formats import appraise
from tests.annotation.tables.reading import as_file


def item(item_id: int, kind: str = "TGT", system: str = "sysA", **changes: Any) -> dict[str, Any]:
    """An item of a plain task; BAD and REF items have texts of their own."""
    own = {"BAD": " broken", "REF": " by hand"}.get(kind, "")
    values = {
        "_item": 1, "_block": 0,
        "itemID": item_id,
        "itemType": kind,
        "sourceID": "nt19.en",
        "sourceText": f"Source {item_id}.",
        "targetID": system,
        "targetText": f"{system} says {item_id}{own}.",
    }  # fmt: skip
    return values | changes


def document(
    name: str,
    system: str,
    first_id: int = 0,
    kind: str = "TGT",
    suffix: str = "",
    segments: int = 2,
) -> list[dict[str, Any]]:
    """A document of an Appraise document task: its segments, then all of it."""
    common = {"documentID": f"{name}{suffix}", "isCompleteDocument": False}
    texts = [
        item(first_id + n, kind, system, sourceText=f"{name} source {n}", **common)
        | {"targetText": f"{name} {n} by {system}" + (" broken" if kind == "BAD" else "")}
        for n in range(segments)
    ]
    whole = item(first_id + segments, kind, system, **common | {"isCompleteDocument": True})
    return [*texts, whole]


def manifest(**changes: Any) -> dict[str, Any]:
    """One task for one annotator."""
    values = {
        "CAMPAIGN_NAME": "harbour2026",
        "CAMPAIGN_NO": 1,
        "REDUNDANCY": 1,
        "TASKS_TO_ANNOTATORS": [["eng", "deu", "uniform", 1, 1]],
        "TASK_TYPE": "Direct",
    }
    return values | changes


def tasks(*lists: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A batches file."""
    return [
        {"task": {"batchNo": n, "batchSize": 100, "randomSeed": 7}, "items": items}
        for n, items in enumerate(lists, 1)
    ]


def read(
    batches: Any, described: Any = None, scores: str | None = None, unmatched: str = ""
) -> tuple[Any, Report]:
    """Return the drafts and the report of an import."""
    report = Report()
    drafts = appraise.read(
        as_file("batches.json", batches),
        as_file("manifest.json", manifest() if described is None else described),
        report,
        scores=None if scores is None else as_file("scores.csv", scores),
        unmatched=unmatched,
    )
    return drafts, report


def reported(report: Report) -> list[Problem]:
    """Return all problems except those of task sizes: tasks of tests are small."""
    return [problem for problem in report.problems if problem.code != "appraise.task-sizes"]


def import_all(
    batches: Any, described: Any = None, scores: str | None = None, unmatched: str = ""
) -> Launched:
    """Store a campaign that is right."""
    drafts, report = read(batches, described, scores, unmatched)
    assert not report.errors, [str(problem) for problem in report.errors]
    (launched,) = launch(drafts)
    return launched


def errors(batches: Any, described: Any = None, scores: str | None = None) -> list[Problem]:
    """Return the errors that prevent an import."""
    return read(batches, described, scores)[1].errors


def write(folder: Path, batches: Any, described: Any) -> list[str]:
    """Put both files into a folder and return their paths."""
    paths = []
    for name, value in (("batches.json", batches), ("manifest.json", described)):
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
        paths.append(str(folder / name))
    return paths
