"""`manage.py import_testset`: the upload page's dry run and import, from files on disk."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.management.command_line import (
    SHOWN,
    BaseCommand,
    add_check_arguments,
    is_dry_run,
    opened,
    refuse_errors,
    values_by_name,
    write_problems,
)
from annotation.models import TestSet
from annotation.uploads import (
    InputFile,
    Submission,
    SystemFile,
    check_pairs,
    store,
)
from annotation.uploads.files import parse_ratio
from annotation.uploads.previews import Preview
from annotation.uploads.tables.lines import LINES, LINES_HELP
from annotation.uploads.tables.pairs import ALL, PAIR_HELP, pair_of
from annotation.uploads.tables.skipping import SKIP, skipped
from core import languages
from core.commands import RefusedCommandError, refused_by
from core.text import pluralize
from metaeval.messages import message


class Command(BaseCommand):
    help = "Import a test set and system outputs, or add systems to a stored test set."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="short name in addresses, such as newstest2025-en-zh")
        parser.add_argument("--name", help="name on pages; default: the slug")
        parser.add_argument(
            "--source-language",
            help="code or name; not needed where a table or the stored test set states it",
        )
        parser.add_argument("--target-language")
        parser.add_argument("--description", default="")
        parser.add_argument("--project", default="", help="short name of a project")
        parser.add_argument("--source", type=Path, help="plain text, one segment per line")
        parser.add_argument("--reference", type=Path, action="append", default=[])
        parser.add_argument("--documents", type=Path, help="plain text, one document id per line")
        parser.add_argument(
            "--system",
            action="append",
            default=[],
            metavar="[NAME[@RATIO]=]FILE",
            help="plain text, one output per line; the default name is that of the file",
        )
        parser.add_argument(
            "--table", "--outputs", type=Path, action="append", default=[], dest="tables",
            help="TSV, CSV, XLSX, ODS, Parquet or JSON with segments, outputs or both, or a format "
            "of other tools (formats of uploads in the documentation)",
        )  # fmt: skip
        parser.add_argument(
            "--column", action="append", default=[], metavar="[FILE:]COLUMN=FIELD",
            help="the field of a column in the tables, such as sid=segment, mt=system:base or "
            "notes= for an unused column; usual names are recognised without it",
        )  # fmt: skip
        parser.add_argument(
            "--decode-entities",
            action="store_true",
            help="decode character references such as &quot;",
        )
        parser.add_argument(
            "--media", type=Path, nargs="+", action="extend", default=[],
            help="recordings and pictures that segments name, or ZIP archives of them",
        )  # fmt: skip
        parser.add_argument("--lines", choices=LINES, default="", help=LINES_HELP)
        parser.add_argument("--pair", default="", help=PAIR_HELP)
        parser.add_argument("--ratio", default="1", help="length ratio where files state none")
        add_check_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        found = check_pairs(self._submission(options))
        report = found[0].report
        write_problems(self, report, SHOWN)
        for each in found:
            self._count(each.draft.slug, each.preview)
        refuse_errors(report)
        if is_dry_run(self, options):
            return
        try:
            with transaction.atomic():
                for each in found:
                    result = store(each.draft, skipped=skipped(report))
                    self.stdout.write(result.sentence.text)
        except ValidationError as error:
            raise refused_by(error) from error

    def _submission(self, options: dict[str, Any]) -> Submission:
        stored = TestSet.objects.filter(slug=options["slug"]).first()
        codes = [options["source_language"], options["target_language"]]
        pair = options["pair"]
        try:
            if pair and pair != ALL:
                codes = list(pair_of(pair))
            source, target = (languages.find(code) if code else "" for code in codes)
            ratio = parse_ratio(options["ratio"])
        except ValueError as error:
            raise refused_by(error) from error
        return Submission(
            slug=options["slug"],
            name=options["name"] or (stored.name if stored else options["slug"]),
            source_language=source,
            target_language=target,
            description=options["description"],
            project=options["project"],
            ratio=ratio,
            source=_file(options["source"]),
            references=[opened(path) for path in options["reference"]],
            documents=_file(options["documents"]),
            systems=[_system(argument) for argument in options["system"]],
            tables=[opened(path) for path in options["tables"]],
            media=[opened(path) for path in options["media"]],
            columns=_columns(options["column"], {path.name for path in options["tables"]}),
            decode=options["decode_entities"],
            lines=options["lines"],
            pair=ALL if pair == ALL else "",
            skip=frozenset(options[SKIP]),
        )

    def _count(self, slug: str, preview: Preview) -> None:
        self.stdout.write(
            f"{slug}: {pluralize(preview.segments, 'segment')}, "
            f"{pluralize(preview.documents, 'document')}, "
            f"{pluralize(preview.references, 'reference')}, "
            f"{pluralize(len(preview.systems), 'system')}, "
            f"{pluralize(preview.outputs, 'output')} ({preview.empty:,} empty)."
        )
        for row in preview.systems:
            state = "new" if row.is_new else "stored already"
            self.stdout.write(f"  {row.label}: {pluralize(row.outputs, 'output')}, {state}")


def _columns(arguments: list[str], tables: set[str]) -> dict[str, dict[str, str]]:
    """Split `sid=segment` and `scores.tsv:sid=segment`; without a file every table is meant."""
    pairs = [argument.partition("=") for argument in arguments]
    for left, mark, _ in pairs:
        if not mark:
            raise RefusedCommandError(
                message("command.column", "--column {text}: write it as COLUMN=FIELD.", text=left)
            )
    columns: dict[str, dict[str, str]] = {}
    for left, field in values_by_name((left, field) for left, _, field in pairs).items():
        file, _, column = left.partition(":")
        if file not in tables:
            file, column = "", left
        columns.setdefault(file, {})[column] = field
    return columns


def _file(path: Path | None) -> InputFile | None:
    return opened(path) if path else None


def _system(argument: str) -> SystemFile:
    """Split `name@0.8=path`. A path that exists as it stands is taken as it stands."""
    label, mark, path = argument.partition("=")
    if not mark or Path(argument).exists():
        return SystemFile(opened(Path(argument)))
    return SystemFile(opened(Path(path)), label)
