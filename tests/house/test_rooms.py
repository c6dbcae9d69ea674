"""The house: folders one can survey, names that distinguish modules, a word on what a room holds.

What breaks a rule today is listed here, and the lists may only become shorter.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = (
    *("annotation", "metrics", "training", "dashboards", "lifecycle"),
    "extensions",
    *("metaeval", "config", "core", "touchstone", "benchmarks"),
)
MOST_MODULES = 15


def packages(*tops: str) -> Iterator[Path]:
    """Every folder of ours with Python modules; Django names those of migrations."""
    for top in tops:
        for folder in [ROOT / top, *sorted((ROOT / top).rglob("*"))]:
            if folder.is_dir() and folder.name != "migrations" and any(folder.glob("*.py")):
                yield folder


def name_of(folder: Path) -> str:
    return folder.relative_to(ROOT).as_posix()


def modules(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}


def test_no_folder_is_crowded() -> None:
    counts = {name_of(folder): len(modules(folder)) for folder in packages(*OURS, "tests")}
    assert {name: n for name, n in counts.items() if n > MOST_MODULES} == {}


def test_every_package_says_what_its_files_have_in_common() -> None:
    silent = []
    for folder in packages(*OURS):
        path = folder / "__init__.py"
        if not path.exists() or not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))):
            silent.append(name_of(folder))
    assert silent == []


# Rooms of one kind of code: they name their modules by what these are about, as other rooms do.
KINDS = {
    "api",
    "charts",
    "commands",
    "exports",
    "forms",
    "models",
    "papers",
    "templatetags",
    "views",
}
# What every room of its kind has under the same name: a page, a metric, a job, an importer.
PARTS = {
    "__main__",
    "document",
    "extension",
    "urls",
    "job",
    "options",
    "page",
    "scorer",
    "starting",
    "tables",
    "figures",
    "build",
    "read",
}
ALIKE = {
    "annotation, annotation/imports: tasks",
    "annotation/campaigns, annotation/quality: people",
    "annotation/filters, annotation/monitor: report",
    "annotation/filters, annotation/quality: report",
    "annotation/imports, annotation/uploads: drafts",
    "annotation/imports, annotation/uploads: store",
    "annotation/judging, annotation/monitor: answers",
    "annotation/monitor, annotation/quality: report",
    "dashboards/bundle, dashboards/panel: choice",
    "dashboards/pairs, dashboards/results: answer",
    "dashboards/correlations, dashboards/quality: agreement",
    "dashboards/correlations, dashboards/trust: agreement",
    "dashboards/quality, dashboards/trust: agreement",
    "dashboards/systems, dashboards/trust: marks",
    "metrics/datasets, metrics/runs: waiting",
    "metrics/imported, metrics/preferences: files",
    "metrics/preferences, metrics/runs: scoring",
}


def alike(top: str) -> Iterator[str]:
    """Modules of one name in a room and the one around it, or in two rooms side by side.

    Extensions are independent: each has its own names.
    """
    rooms = [room for room in packages(top) if room.name not in KINDS]
    for number, room in enumerate(rooms):
        for other in rooms[number + 1 :]:
            if other.parent in (room, room.parent) and room.parent != ROOT / "extensions":
                shared = (modules(room) & modules(other)) - PARTS
                yield from (f"{name_of(room)}, {name_of(other)}: {name}" for name in sorted(shared))


@pytest.mark.parametrize("top", OURS)
def test_modules_of_one_name_are_not_neighbours(top: str) -> None:
    assert [found for found in alike(top) if found not in ALIKE] == []
