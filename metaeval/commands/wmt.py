"""``python -m metaeval wmt``: the metrics tasks of a year of WMT, run on a folder of scores."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from metaeval.commands.bundle import add_common, choose
from metaeval.commands.systems import CommandError, print_note
from metaeval.files.evalset.folder import FILES, EvalSet
from metaeval.files.evalset.reading import read_evalset
from metaeval.messages import Message, message, plural
from metaeval.results import StatisticsWarning, plain
from metaeval.wmt import (
    YEARS,
    Comparison,
    Ranking,
    TaskResult,
    compared,
    pairs_in,
    rank_overall,
    run_task,
    tasks_of,
    year_folder,
)
from metaeval.wmt.tasks import SEG

RANKING, TASKS = "ranking", "tasks"
OFFICIAL, ALL = "official", "all"
EACH = "each"

Row = dict[str, Any]


def wmt(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Run a year's metrics tasks of WMT: values, tests, clusters and the ranking over all tasks."""
    folder = year_folder(Path(options.path), options.year)
    present = pairs_in(folder, options.year)
    pairs = options.language_pair or present
    for name in pairs:
        if name not in present:
            raise CommandError(
                message(
                    "wmt.absent-pair",
                    "{path} has no human scores of {name}. It has those of {pairs}.",
                    path=str(folder),
                    name=name,
                    pairs=present,
                )
            )
    if absent := [name for name in YEARS[options.year].pairs if name not in pairs]:
        print_note(
            message(
                "wmt.partial",
                "Without {pairs}: weights are those of the remaining language pairs.",
                pairs=absent,
            )
        )
    sets = {name: read_evalset(folder, name) for name in pairs}
    rows, documents = [], []
    for domain in _domains(sets, options):
        own = {name: each.of_domain(domain) if domain else each for name, each in sets.items()}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", StatisticsWarning)
            results, ranking = _run(own, options, domain)
        for each in caught:
            warnings.warn(_within(domain, each.message), stacklevel=2)
        mark = {"domain": domain} if domain else {}
        table = _ranking_rows(ranking, results) if options.table == RANKING else _task_rows(results)
        rows += [mark | row for row in table]
        documents.append(mark | _document(ranking, results))
    known = {"year": options.year, "seed": options.seed, "draws": options.draws}
    return known | ({"domains": documents} if options.domain else documents[0]), rows


def _domains(sets: Mapping[str, EvalSet], options: argparse.Namespace) -> Sequence[str]:
    """Return the domains to run, or an empty name for all segments together."""
    if not options.domain:
        return [""]
    shared = [name for name in next(iter(sets.values())).domains
              if all(name in each.domains for each in sets.values())]  # fmt: skip
    if options.domain != EACH and options.domain not in shared:
        raise CommandError(
            message(
                "wmt.unknown-domain",
                "Not every language pair has the domain {domain}. They share: {domains}.",
                domain=options.domain,
                domains=shared,
            )
        )
    return shared if options.domain == EACH else [options.domain]


def _within(domain: str, about: Any) -> Any:
    """Return a note or a warning that names the domain which it is about, if there is one."""
    if domain and isinstance(about, StatisticsWarning):
        return type(about)(_within(domain, about.message))
    if domain and isinstance(about, Message):
        return message("wmt.in-domain", "{domain}: {about}", domain=domain, about=about)
    return about


def _run(
    sets: Mapping[str, EvalSet], options: argparse.Namespace, domain: str
) -> tuple[list[TaskResult], Ranking]:
    every = None if options.metrics == ALL else YEARS[options.year]
    results, read = [], dict[tuple[str, str, bool], Comparison]()
    for number, task in enumerate(tasks_of(options.year, sets, human=options.human)):
        level, scores = task.statistic.level, {}
        for name, pair in task.pairs.items():
            key = name, level, pair.with_human
            if key not in read:
                read[key] = compared(sets[name], pair, level, every=every)
                for note in _notes(name, read[key]):
                    print_note(_within(domain, note))
            scores[name] = read[key]
        # Tasks draw on their own, as WMT's do.
        seed = options.seed * 1000 + number
        results.append(run_task(task, scores, n_draws=options.draws, seed=seed))
    ranking = rank_overall(results)
    if ranking.partial:
        partial = message(
            "wmt.partial-metrics",
            "Not ranked, because some task lacks their scores: {metrics}.",
            metrics=list(ranking.partial),
        )
        print_note(_within(domain, partial))
    return results, ranking


def _notes(pair: str, found: Comparison) -> Iterator[Message]:
    if found.incomplete:
        yield message(
            "wmt.incomplete",
            "{pair}: excluded metrics that lack a score of a judged output: {metrics}.",
            pair=pair,
            metrics=list(found.incomplete),
        )
    means = [name for name, origin in (found.origins or {}).items() if origin != FILES]
    if means:
        yield plural(
            "wmt.means",
            "{pair}: the system scores of {n} metric are means of segments.",
            "{pair}: the system scores of {n} metrics are means of segments.",
            pair=pair,
            n=len(means),
        )


def _ranking_rows(ranking: Ranking, results: Sequence[TaskResult]) -> list[Row]:
    rows = []
    for place, name in enumerate(ranking.metrics):
        row: Row = {
            "metric": name,
            "rank": int(ranking.ranks[place]) or None,
            "average": float(ranking.averages[place]),
            "mean rank": float(ranking.mean_ranks[place]),
        }
        for result in results:
            at, title = result.places[name], result.task.name
            row |= {title: float(result.values[at]), f"{title} rank": int(result.ranks[at]) or None}
        rows.append(row)
    return rows


def _task_rows(results: Sequence[TaskResult]) -> list[Row]:
    return [
        {
            "task": result.task.name,
            "weight": result.task.weight,
            "metric": name,
            "value": float(result.values[place]),
            "rank": int(result.ranks[place]) or None,
            "own value": float(result.own.values[place]),
            "low": float(result.own.lows[place]),
            "high": float(result.own.highs[place]),
            "own rank": int(result.own.ranks[place]) or None,
            "unit": result.own.unit,
            "n_units": result.own.n_units,
            "n_systems": sum(map(len, result.systems.values())),
            "n_segments": result.n_segments if result.task.statistic.level == SEG else None,
        }
        for result in results
        for place, name in enumerate(result.metrics)
    ]


def _document(ranking: Ranking, results: Sequence[TaskResult]) -> Row:
    return {
        "ranking": {
            "metrics": ranking.metrics,
            "averages": plain(ranking.averages),
            "ranks": plain(ranking.ranks),
            "mean_ranks": plain(ranking.mean_ranks),
            "pvalues": plain(ranking.pvalues),
            "partial": ranking.partial,
        },
        "tasks": [
            {
                "name": result.task.name,
                "weight": result.task.weight,
                "gold": {name: pair.gold for name, pair in result.task.pairs.items()},
                "systems": plain(result.systems),
                "n_segments": result.n_segments,
                "metrics": result.metrics,
                "incomplete": result.incomplete,
                "values": plain(result.values),
                "ranks": plain(result.ranks),
                "pvalues": plain(result.pvalues),
                "own": plain(vars(result.own)),
            }
            for result in results
        ],
    }


def add_wmt(commands: Any) -> None:
    """Add the subcommand to a parser."""
    command = commands.add_parser("wmt", help=wmt.__doc__)
    command.set_defaults(run=wmt)
    add = command.add_argument
    add("path", help="directory of the year's test set in the layout of mt-metrics-eval, the "
        "directory above it, or one with a folder of score tables per language pair")  # fmt: skip
    add("--year", type=int, choices=list(YEARS), required=True, help="the year of the tasks")
    add("--language-pair", action="append", default=[],
        help="a language pair; repeatable; default: all that the directory has")  # fmt: skip
    add("--human", default="", help="human scores to use instead of the tasks' own")
    choose(add, "--metrics", [OFFICIAL, ALL], OFFICIAL,
           "the metrics of the task and its baselines (official; default), or all of the directory",
           )  # fmt: skip
    add("--domain", default="", help="use only the segments of this domain; each: one ranking per "
        "domain")  # fmt: skip
    add("--draws", type=int, default=1000,
        help="largest number of draws of each test; 0 makes no tests; default: 1000")  # fmt: skip
    choose(add, "--table", [RANKING, TASKS], RANKING,
           "one row per metric with its average and every task (ranking; default), or one row per "
           "task and metric with our intervals and clusters (tasks)")  # fmt: skip
    add_common(command)
