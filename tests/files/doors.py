"""Files through the doors that researchers use: commands, as they are called."""

from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import CommandError, call_command

from annotation.models import TestSet

CASES: Path = settings.DATA_DIR.parent / "cases"


class RefusedError(AssertionError):
    """A door did not let files in; the message holds all that it said."""


def run(command: str, *arguments: str | Path, **options: Any) -> str:
    """Call a command and return all that it says. Raises RefusedError where it refuses."""
    out = StringIO()
    try:
        call_command(command, *map(str, arguments), stdout=out, stderr=out, **options)
    except CommandError as error:
        raise RefusedError(f"{out.getvalue()}\n{error}") from error
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
