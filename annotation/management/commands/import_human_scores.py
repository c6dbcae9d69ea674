"""`manage.py import_human_scores TABLE…`: published scores of segments and systems."""

from argparse import ArgumentParser

from annotation.imports import sources
from annotation.management.commands.import_judgments import (
    WORDS,
    add_table_arguments,
)
from annotation.management.commands.import_judgments import Command as JudgmentsCommand


class Command(JudgmentsCommand):
    help = "Import tables of published human scores (TSV, CSV, JSONL), with their texts or without."
    tool = sources.HUMAN_SCORES
    words = WORDS

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_table_arguments(parser)
