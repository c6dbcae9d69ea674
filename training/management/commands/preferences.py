"""`manage.py preferences`: test whether metrics prefer texts that are worse by construction."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.command_line import BaseCommand, find_test_set, known_names
from annotation.models import TestSet
from core.commands import RefusedCommandError, refused_by, refused_file
from core.numbers import signed
from metrics import catalogue
from metrics.base import MetricError
from training.perturbations.files import GivenFile
from training.preferences import altering
from training.preferences.altering import Altered
from training.preferences.judging import Judge, Row
from training.remap import alignment

BAR = 40


class Command(BaseCommand):
    help = (
        "Compare each reference with an altered text under metrics. W2W is the share of segments "
        "in which the altered text scores higher; 0 is best."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("test_set", metavar="TESTSET", help="slug of the test set")
        parser.add_argument(
            "--metric", action="append", required=True, metavar="METRIC", help="may be repeated"
        )
        parser.add_argument(
            "--condition", required=True, choices=altering.CONDITIONS, metavar="CONDITION",
            help=f"how texts are altered: {', '.join(altering.CONDITIONS)}",
        )  # fmt: skip
        file = parser.add_mutually_exclusive_group()
        for option, text in (
            ("--dictionary", "dictionary for word-by-word: lines of word, tab, translation"),
            (
                "--alignments",
                "alignments for source-order: one line per segment, such as 0-0 1-2; without it, "
                "words are aligned automatically",
            ),
            ("--texts", "texts by annotators, for texts: one line per segment"),
        ):
            file.add_argument(option, dest="file", type=Path, metavar="FILE", help=text)
        parser.add_argument("--seed", type=int, default=0, help="seed of random conditions")
        parser.add_argument("--histogram", action="store_true", help="print the distribution of d")
        parser.add_argument(
            "--output", type=Path, metavar="FILE", help="write d of all segments as JSON"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        test_set = find_test_set(options["test_set"])
        condition, metrics = options["condition"], options["metric"]
        known = catalogue.infos()
        for name in metrics:
            if name not in known:
                raise RefusedCommandError(catalogue.refusal(name), known_names(known))
        try:
            altered = altering.alter(
                test_set,
                condition,
                file=_read(options["file"]),
                seed=options["seed"],
                align=alignment.align,
            )
            rows = [row for name in metrics for row in Judge(name, test_set).compare(altered)]
        except ValueError as error:
            raise refused_by(error) from error
        except MetricError as error:
            raise refused_by(error) from error
        self._report(altered, rows, histogram=options["histogram"])
        if options["output"]:
            _write(options["output"], test_set, condition, options["seed"], altered, rows)

    def _report(self, altered: Altered, rows: list[Row], *, histogram: bool) -> None:
        self.stdout.write(f"{len(altered.keys)} segments, {altered.n_excluded} excluded.")
        if altered.coverage is not None:
            self.stdout.write(f"The dictionary has {altered.coverage:.1%} of the source words.")
        for row in rows:
            result, ends = row.result, row.result.interval
            shown = f" ({ends.low:.3f} to {ends.high:.3f})" if ends else ""
            if not result.n:
                sentences = " ".join(str(warning.message) for warning in result.warnings)
                self.stdout.write(f"{row.label}: W2W undefined. {sentences}")
                continue
            self.stdout.write(
                f"{row.label}: W2W {result.statistic:.3f}{shown}, mean d "
                f"{signed(result.mean, 4)}, median {signed(result.median, 4)}, "
                f"ties {result.ties:.3f}"
            )
            if histogram:
                self._draw(row)

    def _draw(self, row: Row) -> None:
        parts, edges = row.result.histogram()
        counts = parts.sum(axis=0)
        for count, low, high in zip(counts, edges, edges[1:], strict=False):
            bar = "█" * round(BAR * int(count) / max(1, int(counts.max())))
            self.stdout.write(f"  {signed(low)} to {signed(high)} {count:6d} {bar}".rstrip())


def _read(path: Path | None) -> GivenFile | None:
    if path is None:
        return None
    try:
        return GivenFile(str(path), path.read_bytes())
    except OSError as error:
        raise refused_file(path, error) from error


def _write(
    path: Path, test_set: TestSet, condition: str, seed: int, altered: Altered, rows: list[Row]
) -> None:
    document = {
        "test_set": test_set.slug,
        "direction": test_set.direction,
        "condition": condition,
        "seed": seed,
        "coverage": altered.coverage,
        "segments": [
            {"key": key, "original": original, "altered": text}
            for key, original, text in zip(
                altered.keys, altered.originals, altered.texts, strict=True
            )
        ],
        "measures": {row.measure: row.result.to_dict() for row in rows},
    }
    try:
        path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise refused_file(path, error) from error
