"""Subcommands over the files of a replication bundle; each prints one of a campaign's tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from metaeval.bundle_judgments import human_rows, quality_rows, read_judgments
from metaeval.bundle_tables import (
    ScoreFile,
    correlation_rows,
    length_rows,
    read_scores,
    system_rows,
    systems_table,
)
from metaeval.ranking import TESTS
from metaeval.system_table import VERSUS

Row = dict[str, Any]
Answer = tuple[Row, list[Row]]


def correlations(options: argparse.Namespace) -> Answer:
    """Print the correlation table: outputs, systems, hybrid systems."""
    rows = correlation_rows(_scores(options), n_hybrids=options.hybrids, seed=options.seed)
    return {"n_hybrids": options.hybrids, "seed": options.seed, "rows": rows}, rows


def systems(options: argparse.Namespace) -> Answer:
    """Print MT systems with human clusters, metric scores and paired-bootstrap marks."""
    table = systems_table(
        _scores(options),
        versus=options.versus,
        test=options.test,
        n_resamples=options.resamples,
        rng=options.seed,
    )
    rows = system_rows(table)
    names = dict.fromkeys(name for row in rows for name in row)
    return {"seed": table.seed, "rows": rows}, [{n: row.get(n, "") for n in names} for row in rows]


def lengths(options: argparse.Namespace) -> Answer:
    """Print the deviation of every system from the wanted length."""
    rows = length_rows(options.path)
    return {"rows": rows}, rows


def human_scores(options: argparse.Namespace) -> Answer:
    """Print the mean human score of every judged output."""
    judged = read_judgments(options.judgments, options.annotators)
    rows = human_rows(judged, form=options.form, pool=options.pool)
    return {"form": options.form, "pool": options.pool, "rows": rows}, rows


def quality(options: argparse.Namespace) -> Answer:
    """Print times, traps and agreement, with traps and without."""
    rows = quality_rows(read_judgments(options.judgments, options.annotators))
    return {"rows": rows}, rows


def add_commands(commands: Any) -> None:
    """Add these subcommands to a parser; each sets `run`."""
    for run in (correlations, systems):
        command = commands.add_parser(run.__name__, help=run.__doc__)
        command.set_defaults(run=run)
        command.add_argument("path", help="a TSV: system, segment, human scores, metrics")
        command.add_argument("--human", required=True, help="the column of the human scores")
        command.add_argument(
            "--lower", action="append", default=[], help="a metric: lower is better"
        )
        command.add_argument("--counts", action="append", default=[], help="METRIC:FORMULA=FILE")
        command.add_argument("--human-systems", help="a TSV of published system scores")
        _seeded(command)
    commands.choices["correlations"].add_argument("--hybrids", type=int, default=10_000)
    command = commands.choices["systems"]
    command.add_argument("--versus", choices=VERSUS, default="next")
    command.add_argument("--test", choices=TESTS, default="rank-sum")
    command.add_argument("--resamples", type=int, default=1000)
    command = _plain_command(commands, "lengths", lengths)
    command.add_argument("path", help="a TSV: system, segment, length, wanted")
    for name, run_judged in (("human-scores", human_scores), ("quality", quality)):
        command = _plain_command(commands, name, run_judged)
        command.add_argument("judgments", help="judgments.tsv of a bundle")
        command.add_argument("--annotators", required=True, help="annotators.tsv of a bundle")
    command = commands.choices["human-scores"]
    command.add_argument("--form", choices=["z", "raw"], default="z")
    command.add_argument("--pool", choices=["targets", "all"], default="targets")


def _plain_command(commands: Any, name: str, run: Any) -> Any:
    command = commands.add_parser(name, help=run.__doc__)
    command.set_defaults(run=run)
    command.add_argument("--output", choices=["tsv", "json"], default="tsv")
    return command


def _seeded(command: Any) -> None:
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--output", choices=["tsv", "json"], default="tsv")


def _scores(options: argparse.Namespace) -> ScoreFile:
    counts = {}
    for text in options.counts:
        metric, colon, rest = text.partition(":")
        if not colon:
            raise ValueError(f"--counts {text}: expected METRIC:FORMULA=FILE")
        counts[metric] = rest
    return read_scores(
        options.path,
        options.human,
        counts=counts,
        lower=options.lower,
        human_systems=options.human_systems,
    )


def within(options: argparse.Namespace, folder: Path) -> None:
    """Make the files that a command names lie in a folder. Raises ValueError where one does not."""
    for name in ("path", "judgments", "annotators", "human_systems"):
        if getattr(options, name, None):
            setattr(options, name, _inside(folder, getattr(options, name)))
    if getattr(options, "counts", None):
        parts = [text.partition("=") for text in options.counts]
        options.counts = [f"{head}={_inside(folder, path)}" for head, _, path in parts]


def _inside(folder: Path, name: str) -> str:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{name} is not in the bundle")
    return str(path)
