"""`manage.py import_human_scores TABLE…`: published scores of segments and systems."""

from argparse import ArgumentParser
from typing import Any

from annotation.forms.tables import stated
from annotation.imports import sources
from annotation.management.commands.import_judgments import (
    WORDS,
    add_table_arguments,
)
from annotation.management.commands.import_judgments import Command as JudgmentsCommand


class Command(JudgmentsCommand):
    help = "Import tables of published human scores with or without their texts."
    tool = sources.HUMAN_SCORES
    words = WORDS

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_table_arguments(parser)
        parser.add_argument(
            "--lower-is-better", action="append", default=[], metavar="SCORE",
            help="a human score that is better when lower, such as a penalty; inferred from name "
            "and signs if not given, and said",
        )  # fmt: skip
        parser.add_argument(
            "--higher-is-better", action="append", default=[], metavar="SCORE",
            help="a human score that is better when higher",
        )  # fmt: skip

    def words_of(self, options: dict[str, Any]) -> dict[str, str]:
        """Add the directions that were stated."""
        directions = stated(options["lower_is_better"], options["higher_is_better"])
        return super().words_of(options) | directions
