"""Import files as researchers do: with commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from annotation.models import Segment, System, TestSet
from annotation.uploads.problems import Place, Problem, Report
from metaeval.messages import Message

CASES: Path = settings.DATA_DIR.parent / "cases"


class RefusedError(AssertionError):
    """A command refused files; the message has all its output."""

    problems: list[Problem]


@contextmanager
def refuses(*codes: str, **parameters: object) -> Iterator[None]:
    """Expect that a command refuses files for these causes in order, the first with parameters."""
    with pytest.raises(RefusedError) as caught:
        yield
    errors = [each for each in caught.value.problems if each.severity == "error"]
    found = list(dict.fromkeys(each.code for each in errors))
    assert found == list(codes), found
    place = errors[0].place
    known = errors[0].message.parameters | {"row": place.row, "field": str(place.field)}
    assert parameters.items() <= known.items(), known


@contextmanager
def _heard() -> Iterator[list[Problem]]:
    """Yield the problems that are reported meanwhile."""
    problems: list[Problem] = []
    add = Report._add

    def hear(report: Report, severity: Any, message: Message, place: Place) -> None:
        add(report, severity, message, place)
        problems.append(report.problems[-1])

    with patch.object(Report, "_add", hear):
        yield problems


def run(command: str, *arguments: str | Path, **options: Any) -> str:
    """Call a command and return its output. Raises RefusedError where it fails."""
    out = StringIO()
    try:
        with _heard() as problems:
            call_command(command, *map(str, arguments), stdout=out, stderr=out, **options)
    except CommandError as error:
        refusal = RefusedError(f"{out.getvalue()}\n{error}")
        refusal.problems = problems
        raise refusal from error
    return out.getvalue()


def case(name: str) -> Path:
    """Return the path of a case, such as `tables/b05-r.csv`."""
    return CASES / name


def upload(*files: Path, pair: str = "en-de", slug: str = "set", **options: Any) -> str:
    """Upload tables of a test set."""
    source, _, target = pair.partition("-")
    tables = [argument for file in files for argument in ("--table", file)]
    words = ("--source-language", source, "--target-language", target)
    return run("import_testset", slug, *words, *tables, **options)


def texts(slug: str = "set") -> list[tuple[str, str, dict[str, str], dict[str, str]]]:
    """Return key, source, references and outputs of every segment of a test set, in order."""
    test_set = TestSet.objects.get(slug=slug)
    return [
        (
            segment.key,
            segment.source,
            {each.name: each.text for each in segment.references.all()},
            {each.system.name: each.text for each in segment.outputs.select_related("system")},
        )
        for segment in test_set.segments.order_by("position")
    ]


def judge(*files: Path, pair: str = "en-de", **options: Any) -> str:
    """Import tables of judgments."""
    source, _, target = pair.partition("-")
    words = ("--source-language", source, "--target-language", target) if pair else ()
    return run("import_judgments", *files, *words, **options)


def of_talks(n: int = 6) -> TestSet:
    """A test set with the systems that outputs of metrics are of."""
    test_set = TestSet.objects.create(
        slug="talks", name="talks", source_language="zh", target_language="en",
        is_in_file_order=True,
    )  # fmt: skip
    segments = [
        Segment.objects.create(test_set=test_set, key=str(i), position=i, source=f"S {i}")
        for i in range(1, n + 1)
    ]
    for name in ("Facebook-AI", "Online-W", "Nemo", "HuaweiTSC"):
        system = System.objects.create(test_set=test_set, name=name)
        for segment in segments:
            system.outputs.create(segment=segment, text=f"{name} {segment.key}")
    return test_set
