"""Subcommands for the files of a replication bundle; each prints a table of a campaign."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from metaeval.commands.output import OUTPUT_HELP, OUTPUTS
from metaeval.commands.scores import UNIT_HELP, UNITS
from metaeval.commands.systems import (
    OUT,
    CommandError,
    add_systems,
    choose_systems,
    outliers_of,
    print_note,
)
from metaeval.documents import DOCUMENTS
from metaeval.messages import message
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
from metaeval.replication.reproduce import inside
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

SEED_HELP = "random seed; default: 0"

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
        read_ratings(options.ratings, scores.human, scores.excluded) if options.ratings else None,
    )
    return document, document["pairs"]


def systems(options: argparse.Namespace) -> Answer:
    """Print MT systems with human clusters, metric scores and marks of the paired bootstrap."""
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
    """Print the deviation of every system from the target length."""
    rows = length_rows(options.path)
    return {"rows": rows}, rows


def human_scores(options: argparse.Namespace) -> Answer:
    """Print the mean human score of every judged output."""
    judged = _judgments(options)
    rows = human_rows(judged, form=options.form, pool=options.pool)
    return {"form": options.form, "pool": options.pool, "rows": rows}, rows


def quality(options: argparse.Namespace) -> Answer:
    """Print times, traps and agreement with intervals, with and without traps."""
    rows = quality_rows(_judgments(options), n_resamples=options.resamples, seed=options.seed)
    return {"rows": rows}, rows


def add_commands(commands: Any) -> None:
    """Add these subcommands to a parser; each sets `run`."""
    for run in (correlations, question, systems):
        command = commands.add_parser(run.__name__, help=run.__doc__)
        command.set_defaults(run=run)
        command.add_argument("path", help="TSV: system, segment, human scores, metrics")
        command.add_argument("--human", required=True, help="the column of human scores")
        add = command.add_argument
        add("--lower", action="append", default=[],
            help="a metric, or the human scores, for which lower is better; repeatable",
            )  # fmt: skip
        add(
            "--counts",
            action="append",
            default=[],
            help="METRIC:FORMULA=FILE, for a metric whose "
            "system score is computed from summed counts; repeatable",
        )
        add("--human-systems", help="TSV of published human scores of systems")
        add(
            "--metric-systems",
            help="TSV (metric, system, score) of metrics that came with scores of systems",
        )
        add_systems(add, names_human=False)
        choose(add, "--unit", UNITS, DOCUMENTS, UNIT_HELP)
        add_common(command)
    add = commands.choices["correlations"].add_argument
    add("--hybrids", type=int, default=10_000, help="hybrid systems to draw; default: 10000")
    _question(commands.choices["question"])
    add = commands.choices["systems"].add_argument
    choose(add, "--versus", VERSUS, "next",
           "the system against which each is tested: the next below (default), or the best",
           )  # fmt: skip
    add("--test", choices=RANKINGS, default="rank-sum",
        help="test between systems' human scores; default: rank-sum")  # fmt: skip
    add("--resamples", type=int, default=1000,
        help="resamples of the paired bootstrap; default: 1000")  # fmt: skip
    command = _plain_command(commands, "lengths", lengths)
    command.add_argument("path", help="TSV: system, segment, length, wanted")
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
           "standardised or raw scores; default: z, but raw for penalties (a score below 0)",
           )  # fmt: skip
    choose(add, "--pool", ["targets", "all"], "targets",
           "judgments for an annotator's mean and standard deviation: without control items "
           "(default), or all")  # fmt: skip


def choose(
    add: Any, name: str, choices: Iterable[str], default: str | None, description: str
) -> None:
    """Add an option with a fixed set of values."""
    add(name, choices=choices, default=default, help=description)


def add_common(command: Any) -> None:
    """Add the options of all commands that may draw random numbers."""
    command.add_argument("--seed", type=int, default=0, help=SEED_HELP)
    command.add_argument("--output", choices=OUTPUTS, default="tsv", help=OUTPUT_HELP)


def _question(command: Any) -> None:
    add = command.add_argument
    add("--statistic", choices=STATISTICS, required=True, help="the statistic to compare")
    add("--grouping", choices=GROUPINGS, default="", help="default: that of the statistic")
    add("--test", choices=TESTS, default="", help="default: that of the statistic")
    choose(add, "--correction", CORRECTIONS, "holm",
           "correction for many tests; default: holm")  # fmt: skip
    choose(add, "--scope", SCOPES, "table",
           "the tests that are corrected together: all pairs (table; default), "
           "or those of a row")  # fmt: skip
    add("--metrics", help="TSV of the metrics' labels, which break ties")
    add("--floors", help="TSV of baselines (with --output json: tests of metrics against them)")
    add("--ratings",
        help="TSV of judgments (annotator, system, segment, score), for the human ceiling",
        )  # fmt: skip
    add("--shown", action="append", default=[],
        help="a metric of the result; repeatable; default: all")  # fmt: skip


def _plain_command(commands: Any, name: str, run: Any) -> Any:
    command = commands.add_parser(name, help=run.__doc__)
    command.set_defaults(run=run)
    command.add_argument("--output", choices=OUTPUTS, default="tsv", help=OUTPUT_HELP)
    return command


def _filters(command: Any) -> None:
    """Add the filters of pages; excluded judgments are ignored altogether."""
    add = command.add_argument
    add("--without", action="append", default=[], help="an annotator to exclude; repeatable")
    add("--systems", action="append", default=[], help="use only this system; repeatable")
    add("--without-systems", action="append", default=[], help="a system to exclude; repeatable")
    add("--without-controls", action="store_true", help="exclude control items")
    add("--document", action="append", default=[], help="use only this document; repeatable")
    add("--domain", action="append", default=[], help="use only this domain; repeatable")
    add("--segments", help="segments.tsv of a bundle, needed for --document and --domain")
    add("--since", default="", help="first day, in UTC, such as 2026-03-31")
    add("--until", default="", help="last day, in UTC")
    add("--min-seconds", type=float, help="exclude items that took less time on the server")
    add("--max-seconds", type=float, help="exclude items that took more time on the server")


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
            domains=options.domain,
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
            raise CommandError(
                message(
                    "command.counts-format",
                    "--counts {value}: expected METRIC:FORMULA=FILE.",
                    value=text,
                )
            )
    counts = by_name((metric, rest) for metric, _, rest in given)
    scores = read_scores(
        options.path,
        options.human,
        counts=counts,
        lower=options.lower,
        human_systems=options.human_systems,
        metric_systems=options.metric_systems,
    )
    _note_directions(options, scores)
    scores = scores if options.unit == DOCUMENTS else scores.by_segment()
    return scores if options.is_of_bundle else _on_systems(options, scores)


def _on_systems(options: argparse.Namespace, scores: ScoreFile) -> ScoreFile:
    """Return the scores of the systems that the options select; print which on standard error.

    The references that a metric of a table used are unknown, so none is excluded as its own.
    """
    chosen = choose_systems(options, scores.human.systems)
    if options.outliers == OUT:
        chosen = outliers_of(chosen, scores.human_means(), options)
    chosen.print_notes()
    return scores.on_systems(chosen.names)


def _note_directions(options: argparse.Namespace, scores: ScoreFile) -> None:
    """Print on standard error which scores may be better when lower; nothing is inferred here."""
    columns = {options.human: scores.human} | dict(scores.metrics)
    for name, each in columns.items():
        direction = infer_direction(name, each.values, is_human=name == options.human)
        if name not in options.lower and direction.is_lower is not False:
            print_note(
                message(
                    "command.maybe-lower",
                    "{name}: higher is taken as better, but {reason}. If lower is better, use "
                    "--lower {name}.",
                    name=name,
                    reason=direction.reason,
                )
            )


def within(options: argparse.Namespace, folder: Path) -> None:
    """Resolve the files that a command names within a folder. Raises BundleError outside of it."""
    files = ("path", "judgments", "annotators", "human_systems", "metric_systems", "metrics")
    for name in (*files, "segments", "floors", "ratings", "people", "ranks"):
        if getattr(options, name, None):
            setattr(options, name, inside(folder, getattr(options, name)))
    if getattr(options, "counts", None):
        # As `_scores` reads them: METRIC:FORMULA=FILE, and a metric's name may have the other sign.
        parts = [text.partition(":") for text in options.counts]
        split = [(name, *rest.partition("=")) for name, _, rest in parts]
        options.counts = [f"{name}:{key}={inside(folder, path)}" for name, key, _, path in split]
