"""`manage.py startmetric NAME [FOLDER]`: write a package with a metric, ready to build."""

import re
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.command_line import BaseCommand
from core.commands import RefusedCommandError
from metaeval.messages import message

PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0.1.0"
requires-python = ">=3.11"

[project.entry-points."touchstone.metrics"]
{short} = "{package}:PLUGIN"

[tool.setuptools]
packages = ["{package}"]
"""
DESCRIPTION = '''\
"""The description, which the web server reads: no heavy import here."""

from metrics.plugins import Plugin

PLUGIN = Plugin(
    label="{label}",
    description="One minus the difference in length, relative to the reference.",
    scorer="{package}.scorer:Scorer",
    needs_reference=True,
)
'''
SCORER = '''\
"""The scorer, which workers import: torch and the like belong here."""

from metrics.base import SegmentInput
from metrics.plugins import PluginScorer
from core.commands import RefusedCommandError
from metaeval.messages import message


class Scorer(PluginScorer):
    def score_one(self, segment: SegmentInput) -> float:
        reference = len(segment.references[0]) or 1
        return 1 - abs(len(segment.hypothesis) - reference) / reference
'''

# Of a name, in characters.
LONGEST = 30


class Command(BaseCommand):
    help = "Write a package that adds a metric (docs/plugins.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the package, such as our-metric: a-z, 0-9 and -")
        parser.add_argument("folder", nargs="?", help="new folder; by default the name")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > LONGEST:
            raise RefusedCommandError(
                message(
                    "command.metric-name",
                    "The name must have at most {n} characters of a-z, 0-9 and -, such as "
                    "our-metric.",
                    n=LONGEST,
                )
            )
        folder, package = Path(options["folder"] or name), name.replace("-", "_")
        if folder.exists():
            raise RefusedCommandError(
                message("command.folder-exists", "{folder} already exists.", folder=str(folder))
            )
        words = {"name": name, "package": package, "short": "main", "label": name.title()}
        (folder / package).mkdir(parents=True)
        for path, text in (
            ("pyproject.toml", PROJECT),
            (f"{package}/__init__.py", DESCRIPTION),
            (f"{package}/scorer.py", SCORER),
        ):
            (folder / path).write_text(text.format(**words), encoding="utf-8")
        self.stdout.write(
            f"Wrote {folder}. Install it with: pip install -e {folder}\n"
            f"Check it with: METRIC_PLUGINS={name} python -m metrics.conformance {name}--main"
        )
