"""``python -m metaeval``: statistics from files, and recomputation of replication bundles."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.commands.bundle import add_commands, add_common, choose, within
from metaeval.commands.challenge import add_challenges
from metaeval.commands.field import add_field
from metaeval.commands.human import add_human, agreement_lines, human
from metaeval.commands.output import OUTPUT_HELP, OUTPUTS, table_lines
from metaeval.commands.prefilled import add_trial
from metaeval.commands.scores import (
    FILES,
    SEGMENTS,
    UNIT_HELP,
    UNITS,
    Named,
    named_scores,
    ranked_scores,
)
from metaeval.commands.spans import add_spans
from metaeval.commands.systems import CommandError, add_systems, print_note
from metaeval.commands.wmt import add_wmt
from metaeval.correlation.measure import CORRELATIONS, Measure
from metaeval.correlation.panel import panel
from metaeval.correlation.values import metric_values
from metaeval.documents import DOCUMENTS
from metaeval.files.text import STATED_ENCODING
from metaeval.messages import Message, MessageError, message, plural, printable
from metaeval.repeats import refuse_repeats
from metaeval.replication.questions.cells import CELLS_SWAP
from metaeval.replication.reproduce import Reproduction
from metaeval.replication.reproduce import reproduce as run_bundle
from metaeval.results import Notes, StatisticsWarning, plain
from metaeval.significance.bootstrap import boot_interval
from metaeval.significance.comparison import compare_metrics
from metaeval.significance.permutation.masks import SWAPS
from metaeval.significance.permutation.tests import default_swap

Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; print JSON or TSV; return 2 with an error message on bad input.

    `reproduce` returns 1 if a number differs.
    """
    options = _parser().parse_args(arguments)
    problem = ""
    stated = STATED_ENCODING.set(options.encoding)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StatisticsWarning)
        try:
            document, rows = options.run(options)
        except OSError as error:
            problem = f"{error.filename}: {error.strerror}"
        except (MessageError, ValueError, KeyError) as error:
            problem = str(error.args[0] if error.args else error)
    STATED_ENCODING.reset(stated)
    for warning in dict.fromkeys(str(entry.message) for entry in caught):
        print(f"warning: {printable(warning)}", file=sys.stderr)
    if problem:
        print(f"metaeval: {printable(problem)}", file=sys.stderr)
        return 2
    if options.output == "json":
        print(json.dumps(plain(document), ensure_ascii=False, indent=1))
    else:
        for line in table_lines(rows, options.output):
            print(line)
        for line in agreement_lines(document) if options.run is human else ():
            print(f"# {line}")
    return int(options.run is reproduce and bool(rows))


def correlate(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Correlate every metric with the human scores; intervals on request."""
    if options.ranks:
        return _ranked(options)
    if not options.human:
        raise CommandError(
            message("command.needs-human", "Use --human with the name of the human scores.")
        )
    measure = _measure(options)
    named = named_scores(options, measure)
    rows, rest = [], named.without_outliers()
    for name, metric in named.metrics.items():
        notes = Notes()
        scores = panel(named.human, {name: metric}, notes)
        row: Row = {"metric": name, "statistic": float(metric_values(measure, scores, 0, notes)[0])}
        row |= {"n": scores.n, "n_excluded": sum(notes.reasons.values())}
        if options.resamples:
            result = boot_interval(
                named.human, metric, measure, resample=options.resample,
                n_resamples=options.resamples, rng=options.seed
            )  # fmt: skip
            low, high, _ = result.interval or (np.nan, np.nan, 0.95)
            row |= {"low": low, "high": high, "unit": result.unit, "n_units": result.n_units}
        if rest is not None:
            of_rest = panel(rest, {name: metric}, Notes())
            value = metric_values(measure, of_rest, 0, Notes())[0]
            row |= {"without_outliers": float(value)}
        if named.origins:
            row |= {"scores": named.origins[name]}
        rows.append(row)
    document = {"method": measure.label, "metrics": plain(rows)}
    if options.resamples or measure.correlation == "soft_pairwise_accuracy":
        _note_unit(named)
    return document | _origins(named, [row["statistic"] for row in rows]), rows


def _ranked(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Return daRR τ of every metric over the pairs of outputs that a file lists."""
    if options.resamples:
        raise CommandError(
            message("command.ranks-intervals", "--ranks gives no intervals. Omit --resamples.")
        )
    ranks, metrics, directions = ranked_scores(options)
    rows: list[Row] = []
    for name, metric in metrics.items():
        result = ranks.kendall_like(metric)
        n_excluded = result.n_excluded
        rows.append(
            {"metric": name, "statistic": result.statistic, "n": result.n, "n_excluded": n_excluded}
        )
    lower = [name for name, each in directions.items() if each.is_lower]
    for name in lower:
        print_note(
            message(
                "command.direction",
                "{name}: {direction}.",
                name=name,
                direction=directions[name].message,
            )
        )
    document: Row = {"method": "WMT Kendall-like tau (daRR)", "metrics": plain(rows)}
    return document | ({"lower": lower} if lower else {}), rows


def compare(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Test every metric against every other and give ranks."""
    measure = _measure(options)
    named = named_scores(options, measure)
    if len(named.metrics) < 2:
        raise CommandError(
            plural(
                "command.too-few-metrics",
                "{path} has {n} metric to compare. A comparison needs at least two.",
                "{path} has {n} metrics to compare. A comparison needs at least two.",
                path=str(options.path),
                n=len(named.metrics),
            )
        )
    result = compare_metrics(
        named.human, named.metrics, measure, swap=options.swap, alternative=options.alternative,
        n_resamples=options.resamples or 1000, rng=options.seed
    )  # fmt: skip
    if measure.grouping == "none" and (options.swap or default_swap(measure)) == "both":
        print_note(CELLS_SWAP[result.unit])
        print_note(
            message("command.swap-inputs", "Use --swap inputs to swap whole segments or documents.")
        )
    _note_unit(named)
    adjusted = result.adjusted(options.adjust, scope=options.scope).pvalues
    # A metric without a correlation has no rank either.
    defined = ~np.isnan(result.correlations)
    ranks = [
        rank if known else None
        for rank, known in zip(result.ranks().ranks.tolist(), defined, strict=True)
    ]
    rows = [
        {
            "metric": first,
            "other": second,
            "difference": float(result.differences[i, j]),
            "p": float(result.pvalues[i, j]),
            f"p_{options.adjust}": float(adjusted[i, j]),
            "rank": ranks[i],
        }
        for i, first in enumerate(result.metrics)
        for j, second in enumerate(result.metrics)
        if i != j
    ]
    document = result.to_dict() | {"ranks": ranks, "adjusted": plain(adjusted.tolist())}
    return document | _origins(named, result.correlations.tolist()), rows


def _origins(named: Named, correlations: Sequence[float]) -> Row:
    """Print directions and origins of scores as notes, and return them for the document."""
    for note in named.notes(correlations):
        print_note(note)
    found: Row = {"lower": named.lower} if named.lower else {}
    found |= named.systems.print_notes()
    return found | ({"system_scores": dict(named.origins)} if named.origins else {})


def _note_unit(named: Named) -> None:
    if note := named.unit_note():
        print_note(note)


def reproduce(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Recompute a replication bundle, and list every number that differs."""
    result = run_bundle(options.bundle, run_command, tolerance=options.tolerance)
    for note in result.notes:
        print_note(note)
    rows = [dataclasses.asdict(each) for each in result.differences]
    if rounded := sum(each.is_rounding for each in result.differences):
        print_note(
            plural(
                "bundle.rounding",
                "{n} difference is as small as a rounding error: another processor may add numbers "
                "in another order. --tolerance 1e-12 ignores it.",
                "{n} differences are as small as rounding errors: another processor may add "
                "numbers in another order. --tolerance 1e-12 ignores them.",
                n=rounded,
            )
        )
    print(_verdict(result, len(rows)), file=sys.stderr)
    return {"tables": result.tables, "numbers": result.numbers, "differences": rows}, rows


def _verdict(result: Reproduction, differences: int) -> Message:
    counts = {"tables": result.tables, "numbers": result.numbers}
    if not differences:
        return message(
            "bundle.equal",
            "Recomputed {tables} tables with {numbers} numbers: all equal.",
            **counts,
        )
    return plural(
        "bundle.differences",
        "Recomputed {tables} tables with {numbers} numbers: {n} difference.",
        "Recomputed {tables} tables with {numbers} numbers: {n} differences.",
        n=differences,
        **counts,
    )


def run_command(arguments: Sequence[str], folder: Path) -> Row:
    """Run a bundle's command on the files in its folder; it may not be another `reproduce`."""
    options = _parser().parse_args(arguments)
    if options.run is reproduce:
        raise CommandError(
            message("bundle.nested", "A command of a bundle must not recompute another bundle.")
        )
    within(options, folder)
    # Its files have only the systems that were selected when it was made.
    options.is_of_bundle = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        document: Row = options.run(options)[0]
    return document


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m metaeval", description=__doc__)
    parser.set_defaults(is_of_bundle=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for run in (correlate, compare):
        command = commands.add_parser(run.__name__, help=run.__doc__)
        command.set_defaults(run=run)
        _scored(command, needs_human=run is compare)
    add = commands.choices["correlate"].add_argument
    add(
        "--ranks",
        help="file of WMT's relative ranks (LP [DATA] SID BETTER WORSE), for daRR tau over its "
        "pairs instead of --human; --language-pair chooses among several",
    )
    add(
        "--resamples",
        type=int,
        default=0,
        help="bootstrap samples of a percentile interval, "
        "which is too narrow for few systems or segments; default: none",
    )
    choose(add, "--resample", ["both", "inputs", "systems"], "both",
           "the units that the bootstrap draws: systems and segments or documents (both; "
           "default), segments or documents (inputs), or systems")  # fmt: skip
    add = commands.choices["compare"].add_argument
    add("--resamples", type=int, default=0, help="number of permutations; default: 1000")
    choose(add, "--swap", SWAPS, None,
           "the units that a permutation swaps between two metrics: cells, or each "
           "system's outputs of a document (both; default), whole "
           "segments or documents (inputs), whole systems, or, for acc_eq, pairs")  # fmt: skip
    choose(add, "--alternative", ["greater", "less", "two-sided"], "greater",
           "the meaning of a small p: the row is better (greater; default), worse, or different",
           )  # fmt: skip
    choose(add, "--adjust", ["bonferroni", "holm", "bh"], "holm",
           "correction for many tests; default: holm")  # fmt: skip
    choose(add, "--scope", ["table", "row"], "table",
           "the tests that are corrected together: all pairs (table; default), or those of a row",
           )  # fmt: skip
    add_human(commands)
    add_trial(commands)
    add_spans(commands)
    add_commands(commands)
    add_wmt(commands)
    add_challenges(commands)
    add_field(commands, _scored)
    command = commands.add_parser("reproduce", help=reproduce.__doc__)
    command.set_defaults(run=reproduce)
    command.add_argument("bundle", help="a zip file or a folder")
    command.add_argument("--tolerance", type=float, default=0.0,
                         help="relative tolerance; default: 0 (bit for bit)")  # fmt: skip
    command.add_argument("--output", choices=OUTPUTS, default="tsv", help=OUTPUT_HELP)
    for command in commands.choices.values():
        command.add_argument(
            "--encoding", default="", metavar="NAME",
            help="encoding of files that are not Unicode, such as Windows-1250; default: "
            "recognised, with a warning",
        )  # fmt: skip
    return refuse_repeats(parser)


def _scored(command: argparse.ArgumentParser, *, needs_human: bool) -> None:
    """Add the options that `correlate` and `compare` share."""
    add = command.add_argument
    add("path", help="TSV or CSV of scores, or an mt-metrics-eval directory")
    add("--language-pair", help="language pair of the directory, such as en-de")
    add("--domain", default="", help="use only the segments of this domain: of the directory's "
        "file of documents, or of a table's column domain")  # fmt: skip
    choose(add, "--level", ["seg", "doc"], "seg",
           "the scores of a directory to compare: those of segments (seg; default) or documents",
           )  # fmt: skip
    add(
        "--human",
        default="",
        required=needs_human,
        help="column or name of the human scores",
    )
    add("--metric", action="append", default=[], help="a metric; repeatable; default: all")
    add("--lower", action="append", default=[],
        help="a metric, or the human scores, for which lower is better; repeatable; default: "
        "inferred from names and signs, and printed")  # fmt: skip
    add("--higher", action="append", default=[],
        help="a metric, or the human scores, for which higher is better; repeatable",
        )  # fmt: skip
    add_systems(add, names_human=True)
    add("--correlation", choices=CORRELATIONS, default="pearson", help="default: pearson")
    add(
        "--grouping",
        default="",
        help="none, item, system or system-level; default: that of the correlation",
    )
    add("--variant", choices=["b", "c"], default="b",
        help="variant of Kendall's tau; default: b")  # fmt: skip
    add("--threshold", type=float, default=25.0,
        help="smallest difference of human scores that counts for kendall_like (daRR); default: "
        "25")  # fmt: skip
    choose(add, "--system-scores", [FILES, SEGMENTS], FILES,
           "source of system scores of a directory: its *.sys.score files if it has any "
           "(default), or means of segments")  # fmt: skip
    choose(add, "--unit", UNITS, DOCUMENTS, UNIT_HELP)
    add_common(command)


def _measure(options: argparse.Namespace) -> Measure:
    return Measure(options.correlation, options.grouping, options.variant, options.threshold)


if __name__ == "__main__":
    sys.exit(main())
