"""Subcommands over the files of a replication bundle; each prints one of a campaign's tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from metaeval.commands.scores import UNIT_HELP, UNITS
from metaeval.commands.systems import OUT, add_systems, choose_systems, outliers_of
from metaeval.documents import DOCUMENTS
from metaeval.repeats import by_name
from metaeval.replication.answers import Shown, question_document, read_labels
from metaeval.replication.bounded import bounds_document, read_floors, read_ratings
from metaeval.replication.judgments import (
    Chosen,
    JudgmentFile,
    human_rows,
    quality_rows,
    read_judgments,
)
from metaeval.replication.questions.comparison import CORRECTIONS, SCOPES
from metaeval.replication.questions.statistics import GROUPINGS, STATISTICS, TESTS, parse
from metaeval.replication.tables import (
    ScoreFile,
    correlation_rows,
    length_rows,
    read_scores,
    system_rows,
    systems_table,
)
from metaeval.scores.directions import infer_direction
from metaeval.systems.ranking import TESTS as RANKINGS
from metaeval.systems.table import VERSUS

OUTPUTS = ("tsv", "json")
OUTPUT_HELP = "a table (tsv, the default), or everything that is known (json)"
SEED_HELP = "of whatever is drawn at random; default: 0"

Row = dict[str, Any]
Answer = tuple[Row, list[Row]]


def correlations(options: argparse.Namespace) -> Answer:
    """Print the correlation table: outputs, systems, hybrid systems."""
    rows = correlation_rows(_scores(options), n_hybrids=options.hybrids, seed=options.seed)
    return {"n_hybrids": options.hybrids, "seed": options.seed, "rows": rows}, rows


def question(options: argparse.Namespace) -> Answer:
    """Print one statistic of every metric with interval and rank, and all differences with p."""
    scores = _scores(options)
    document = question_document(
        scores,
        f"{options.statistic}/{options.grouping}/{options.test}",
        seed=options.seed,
        labels=read_labels(options.metrics) if options.metrics else {},
        shown=Shown(options.correction, options.scope, options.shown),
    )
    document |= bounds_document(
        scores.panel(options.seed),
        parse(document["statistic"]),
        read_floors(options.floors, scores.human) if options.floors else None,
        read_ratings(options.ratings, scores.human, scores.left_out) if options.ratings else None,
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
        add = command.add_argument
        add("--lower", action="append", default=[],
            help="a metric, or the human scores: lower is better; repeat")  # fmt: skip
        add(
            "--counts",
            action="append",
            default=[],
            help="METRIC:FORMULA=FILE, for a metric whose "
            "score of a system is made of summed counts; repeat",
        )
        add("--human-systems", help="a TSV of published system scores")
        add(
            "--metric-systems",
            help="a TSV (metric, system, score) of metrics that came with scores of systems",
        )
        add_systems(add, names_human=False)
        choose(add, "--unit", UNITS, DOCUMENTS, UNIT_HELP)
        add_common(command)
    add = commands.choices["correlations"].add_argument
    add("--hybrids", type=int, default=10_000, help="hybrid systems to draw; default: 10000")
    _question(commands.choices["question"])
    add = commands.choices["systems"].add_argument
    choose(add, "--versus", VERSUS, "next",
           "what a system is tested against: the next below (the default), "
           "or the best")  # fmt: skip
    add("--test", choices=RANKINGS, default="rank-sum", help="between systems' human scores")
    add("--resamples", type=int, default=1000, help="of the paired bootstrap; default: 1000")
    command = _plain_command(commands, "lengths", lengths)
    command.add_argument("path", help="a TSV: system, segment, length, wanted")
    for name, run_judged in (("human-scores", human_scores), ("quality", quality)):
        command = _plain_command(commands, name, run_judged)
        command.add_argument("judgments", help="judgments.tsv of a bundle")
        command.add_argument("--annotators", required=True, help="annotators.tsv of a bundle")
        _filters(command)
    add = commands.choices["quality"].add_argument
    add("--resamples", type=int, default=0, help="bootstrap samples of intervals; default: none")
    add("--seed", type=int, default=0, help=SEED_HELP)
    add = commands.choices["human-scores"].add_argument
    choose(add, "--form", ["z", "raw"], "",
           "standardised or as given; default: z, but raw where there are penalties (a score "
           "below 0)")  # fmt: skip
    choose(add, "--pool", ["targets", "all"], "targets",
           "judgments behind an annotator's mean and standard deviation: without control items "
           "(the default), or all")  # fmt: skip


def choose(add: Any, name: str, choices: Iterable[str], default: str | None, told: str) -> None:
    """Add an option that is one of some words."""
    add(name, choices=choices, default=default, help=told)


def add_common(command: Any) -> None:
    """Add the options that every command takes which may draw at random."""
    command.add_argument("--seed", type=int, default=0, help=SEED_HELP)
    command.add_argument("--output", choices=OUTPUTS, default="tsv", help=OUTPUT_HELP)


def _question(command: Any) -> None:
    add = command.add_argument
    add("--statistic", choices=STATISTICS, required=True, help="what is compared")
    add("--grouping", choices=GROUPINGS, default="", help="default: what is usual of the statistic")
    add("--test", choices=TESTS, default="", help="default: what is usual of the statistic")
    choose(add, "--correction", CORRECTIONS, "holm",
           "for many tests; default: holm")  # fmt: skip
    choose(add, "--scope", SCOPES, "table",
           "tests that are corrected together: all pairs (table, the default), "
           "or those of a row")  # fmt: skip
    add("--metrics", help="a TSV with the metrics' labels, which break ties")
    add("--floors", help="a TSV of metrics that know nothing (json tells who is above them)")
    add("--ratings", help="a TSV of judgments (annotator, system, segment, score), for the ceiling")
    add("--shown", action="append", default=[], help="a metric; repeat; or all")


def _plain_command(commands: Any, name: str, run: Any) -> Any:
    command = commands.add_parser(name, help=run.__doc__)
    command.set_defaults(run=run)
    command.add_argument("--output", choices=OUTPUTS, default="tsv", help=OUTPUT_HELP)
    return command


def _filters(command: Any) -> None:
    """What a reader of a page can leave out; what is left out counts as never given."""
    add = command.add_argument
    add("--without", action="append", default=[], help="an annotator to leave out; repeat")
    add("--systems", action="append", default=[], help="only judgments of this system; repeat")
    add("--without-systems", action="append", default=[], help="a system to leave out; repeat")
    add("--without-controls", action="store_true", help="leave out traps and their like")
    add("--document", action="append", default=[], help="only these documents; repeat")
    add("--segments", help="segments.tsv of a bundle, for --document")
    add("--since", default="", help="the first day, in UTC: 2026-03-31")
    add("--until", default="", help="the last day, in UTC")
    add("--min-seconds", type=float, help="leave out items that took less of the server's time")
    add("--max-seconds", type=float, help="leave out items that took more of the server's time")


def _judgments(options: argparse.Namespace) -> JudgmentFile:
    return read_judgments(
        options.judgments,
        options.annotators,
        Chosen(
            without=options.without,
            systems=options.systems,
            without_systems=options.without_systems,
            has_controls=not options.without_controls,
            documents=options.document,
            segments=options.segments,
            since=options.since,
            until=options.until,
            min_seconds=options.min_seconds,
            max_seconds=options.max_seconds,
        ),
    )


def _scores(options: argparse.Namespace) -> ScoreFile:
    given = [text.partition(":") for text in options.counts]
    for text, colon, _ in given:
        if not colon:
            raise ValueError(f"--counts {text}: expected METRIC:FORMULA=FILE")
    counts = by_name((metric, rest) for metric, _, rest in given)
    scores = read_scores(
        options.path,
        options.human,
        counts=counts,
        lower=options.lower,
        human_systems=options.human_systems,
        metric_systems=options.metric_systems,
    )
    _doubt_directions(options, scores)
    scores = scores if options.unit == DOCUMENTS else scores.by_segment()
    return scores if options.is_of_bundle else _on_systems(options, scores)


def _on_systems(options: argparse.Namespace, scores: ScoreFile) -> ScoreFile:
    """The scores of the systems that the options choose; say on the standard error which.

    Which references a metric of a table read is not known, so none is left out as its own.
    """
    chosen = choose_systems(options, scores.human.systems)
    if options.outliers == OUT:
        chosen = outliers_of(chosen, scores.human_means(), options)
    chosen.tell()
    return scores.on_systems(chosen.names)


def _doubt_directions(options: argparse.Namespace, scores: ScoreFile) -> None:
    """Say on the standard error what may be better when lower: nothing is inferred here."""
    columns = {options.human: scores.human} | dict(scores.metrics)
    for name, each in columns.items():
        direction = infer_direction(name, each.values, is_human=name == options.human)
        if name not in options.lower and direction.is_lower is not False:
            told = f"{name} is read as better when higher, but {direction.reason}"
            print(f"note: {told}. If lower is better, say --lower {name}", file=sys.stderr)


def within(options: argparse.Namespace, folder: Path) -> None:
    """Make the files that a command names lie in a folder. Raises ValueError where one does not."""
    files = ("path", "judgments", "annotators", "human_systems", "metric_systems", "metrics")
    for name in (*files, "segments", "floors", "ratings", "people"):
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
