"""`manage.py import_judgments TABLE…`: judgments of one's own, with texts or without."""

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotation import protocols
from annotation.imports import sources
from annotation.imports.judgments.options import LAST_WINS, ORDERS
from annotation.imports.sources import Reading, Sent
from annotation.management.campaign_imports import (
    add_study_arguments,
    store_drafts,
)
from annotation.management.command_line import (
    BaseCommand,
    add_check_arguments,
    opened,
    values_of,
)
from annotation.models import Campaign
from annotation.uploads import InputFile
from annotation.uploads.tables.skipping import SKIP

WORDS = (
    *("name", "source_language", "target_language", "test_set", "system", "study", "question"),
    "headless",
)


class Command(BaseCommand):
    help = (
        "Import judgments: tables or files of other tools, optionally with tables of their texts."
    )
    tool = sources.JUDGMENTS
    words: tuple[str, ...] = (
        *WORDS, "annotator", "protocol", "scale", "ties", "ends_included", "critical",
        "severity", "time_zone", "dates", "shown_text",
    )  # fmt: skip

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_table_arguments(parser)
        parser.add_argument("--annotator", help="the annotator, if no column names one")
        parser.add_argument("--protocol", choices=list(protocols.PROTOCOLS))
        parser.add_argument("--scale", help="the scale of the scores, such as 0-6, mapped to 0–100")
        parser.add_argument(
            "--last-wins", dest="ties", action="store_const", const=LAST_WINS,
            help="if rows differ and have no times, use the last row",
        )  # fmt: skip
        parser.add_argument(
            "--ends-included", action="store_true",
            help="the end of an error span is the position of its last character",
        )  # fmt: skip
        parser.add_argument("--critical", help="weight of a critical error, such as 25")
        parser.add_argument("--severity", help="severity of errors that have none, such as major")
        parser.add_argument(
            "--time-zone", help="time zone of times without one, such as Europe/Berlin"
        )
        parser.add_argument(
            "--dates", choices=ORDERS, help="order of day and month in dates such as 8/4/2025"
        )
        parser.add_argument("--shown-text", choices=Campaign.ShownText.values)

    def handle(self, *args: Any, **options: Any) -> None:
        files = {str(n): file for n, file in enumerate(_opened(options["tables"]))}
        reading, report = sources.check(Sent(self.tool, files, self.words_of(options)))
        self._say_columns(reading)
        store_drafts(self, reading.drafts, report, options)

    def words_of(self, options: dict[str, Any]) -> dict[str, str]:
        """Return the options that describe the tables."""
        words = {name: str(options[name]) for name in self.words if options.get(name)}
        words |= {SKIP: ",".join(options[SKIP]), "folder": options["tables"][0].parent.name}
        return words | {"columns": json.dumps(values_of(options["column"]))}

    def _say_columns(self, reading: Reading) -> None:
        for column, field in reading.fields.items():
            self.stdout.write(f"  {reading.titles.get(column, column)} = {field}")


def add_table_arguments(parser: ArgumentParser) -> None:
    """Add what all imports of tables ask for."""
    parser.add_argument(
        "tables",
        nargs="+",
        type=Path,
        metavar="TABLE",
        help="TSV, CSV, XLSX, ODS, Parquet, JSON, or files of other tools",
    )
    parser.add_argument(
        "--column", action="append", default=[], metavar="COLUMN=FIELD",
        help="the field of a column, such as seg_id=segment; seg_id= ignores the column",
    )  # fmt: skip
    parser.add_argument(
        "--headless", action="store_true",
        help="the first row is data; columns are called “column 1”, “column 2” and so on",
    )  # fmt: skip
    parser.add_argument("--name", help="name to store; default: that of the first file")
    add_study_arguments(parser)
    parser.add_argument("--testset", dest="test_set", help="stored test set with the texts")
    parser.add_argument("--source-language", help="language code, if no column has it")
    parser.add_argument("--target-language")
    parser.add_argument("--system", help="the system, if no column names one")
    add_check_arguments(parser)


def _opened(paths: Sequence[Path]) -> list[InputFile]:
    """Open files; those of one name are called after their folders too, as Potato has them."""
    names = Counter(path.name for path in paths)
    return [
        replace(opened(path), name=f"{path.parent.name}/{path.name}")
        if names[path.name] > 1
        else opened(path)
        for path in paths
    ]
