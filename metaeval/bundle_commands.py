"""Subcommands over the files of a replication bundle; each prints one of a campaign's tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from metaeval.bundle_judgments import (
    Chosen,
    JudgmentFile,
    human_rows,
    quality_rows,
    read_judgments,
)
from metaeval.bundle_questions import Shown, question_document, read_labels
from metaeval.bundle_tables import (
    ScoreFile,
    correlation_rows,
    length_rows,
    read_scores,
    system_rows,
    systems_table,
)
from metaeval.questions import CORRECTIONS, GROUPINGS, SCOPES, STATISTICS, TESTS
from metaeval.ranking import TESTS as RANKINGS
from metaeval.system_table import VERSUS

Row = dict[str, Any]
Answer = tuple[Row, list[Row]]


def correlations(options: argparse.Namespace) -> Answer:
    """Print the correlation table: outputs, systems, hybrid systems."""
    rows = correlation_rows(_scores(options), n_hybrids=options.hybrids, seed=options.seed)
    return {"n_hybrids": options.hybrids, "seed": options.seed, "rows": rows}, rows


def question(options: argparse.Namespace) -> Answer:
    """Print one statistic of every metric with interval and rank, and all differences with p."""
    document = question_document(
        _scores(options),
        "/".join(part for part in (options.statistic, options.grouping, options.test) if part),
        seed=options.seed,
        labels=read_labels(options.metrics) if options.metrics else {},
        shown=Shown(options.correction, options.scope, options.shown),
    )
    return document, document["pairs"]


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
    judged = _judgments(options)
    rows = human_rows(judged, form=options.form, pool=options.pool)
    return {"form": options.form, "pool": options.pool, "rows": rows}, rows


def quality(options: argparse.Namespace) -> Answer:
    """Print times, traps and agreement with its intervals, with traps and without."""
    rows = quality_rows(_judgments(options), n_resamples=options.resamples, seed=options.seed)
    return {"rows": rows}, rows


def add_commands(commands: Any) -> None:
    """Add these subcommands to a parser; each sets `run`."""
    for run in (correlations, question, systems):
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
    command = commands.choices["question"]
    command.add_argument("--statistic", choices=STATISTICS, required=True)
    command.add_argument("--grouping", choices=GROUPINGS, default="")
    command.add_argument("--test", choices=TESTS, default="")
    command.add_argument("--correction", choices=CORRECTIONS, default="bonferroni")
    command.add_argument("--scope", choices=SCOPES, default="table")
    command.add_argument("--metrics", help="a TSV with the metrics' labels, which break ties")
    command.add_argument("--shown", action="append", default=[], help="a metric; repeat; or all")
    command = commands.choices["systems"]
    command.add_argument("--versus", choices=VERSUS, default="next")
    command.add_argument("--test", choices=RANKINGS, default="rank-sum")
    command.add_argument("--resamples", type=int, default=1000)
    command = _plain_command(commands, "lengths", lengths)
    command.add_argument("path", help="a TSV: system, segment, length, wanted")
    for name, run_judged in (("human-scores", human_scores), ("quality", quality)):
        command = _plain_command(commands, name, run_judged)
        command.add_argument("judgments", help="judgments.tsv of a bundle")
        command.add_argument("--annotators", required=True, help="annotators.tsv of a bundle")
        _filters(command)
    commands.choices["quality"].add_argument("--resamples", type=int, default=0)
    commands.choices["quality"].add_argument("--seed", type=int, default=0)
    command = commands.choices["human-scores"]
    command.add_argument("--form", choices=["z", "raw"], default="z")
    command.add_argument("--pool", choices=["targets", "all"], default="targets")


def _plain_command(commands: Any, name: str, run: Any) -> Any:
    command = commands.add_parser(name, help=run.__doc__)
    command.set_defaults(run=run)
    command.add_argument("--output", choices=["tsv", "json"], default="tsv")
    return command


def _filters(command: Any) -> None:
    """What a reader of a page can leave out; what is left out counts as never given."""
    command.add_argument("--without", action="append", default=[], help="an annotator; repeat")
    command.add_argument("--without-controls", action="store_true", help="traps and their like")
    command.add_argument("--document", action="append", default=[], help="only these; repeat")
    command.add_argument("--segments", help="segments.tsv of a bundle, for --document")
    command.add_argument("--since", default="", help="the first day, in UTC: 2026-03-31")
    command.add_argument("--until", default="", help="the last day, in UTC")
    command.add_argument("--min-seconds", type=float, help="the server's time of an item")
    command.add_argument("--max-seconds", type=float, help="the server's time of an item")


def _judgments(options: argparse.Namespace) -> JudgmentFile:
    return read_judgments(
        options.judgments,
        options.annotators,
        Chosen(
            without=options.without,
            has_controls=not options.without_controls,
            documents=options.document,
            segments=options.segments,
            since=options.since,
            until=options.until,
            min_seconds=options.min_seconds,
            max_seconds=options.max_seconds,
        ),
    )


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
    for name in ("path", "judgments", "annotators", "human_systems", "metrics", "segments"):
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
