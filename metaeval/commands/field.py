"""Commands that take human scores and metrics: pairwise differences, agreement, ensembles."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from metaeval.commands.scores import named_scores, pooled_scores
from metaeval.commands.systems import CommandError, print_note
from metaeval.correlation.hybrids import pairwise_difference_pearson
from metaeval.correlation.measure import OF_SYSTEMS, SYSTEM_LEVEL, Measure
from metaeval.correlation.panel import panel
from metaeval.messages import message
from metaeval.results import Notes, StatisticsWarning, plain
from metaeval.sensitivity.difficulty import by_difficulty
from metaeval.sensitivity.ensembles import ensemble as fit_ensemble
from metaeval.systems import agreement_curve

Row = dict[str, Any]
SHARES = (0.7, 0.8, 0.9, 0.95)


def pdp(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Pairwise difference Pearson of every metric, with intervals over documents."""
    named = named_scores(options, Measure("pearson", "item"))
    found = pairwise_difference_pearson(named.human, named.metrics)
    rows = [
        {"metric": name, "pdp": float(found.values[k]), "low": float(found.lows[k]),
         "high": float(found.highs[k]), "n": found.n, "unit": found.unit,
         "n_units": found.n_units}
        for k, name in enumerate(found.metrics)
    ]  # fmt: skip
    for note in named.notes(found.values.tolist()):
        print_note(note)
    return plain(found.to_dict() | {"sides": None}), rows


def agreement(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Say from which difference of two systems' scores on humans agree, for every metric."""
    if options.difference is not None and not options.difference >= 0.0:
        raise CommandError(
            message(
                "command.negative-difference",
                "--difference must be a number of at least 0, not {value}.",
                value=options.difference,
            )
        )
    sets = pooled_scores(options, Measure("pearson", SYSTEM_LEVEL))
    rows = []
    for name in dict.fromkeys(metric for named in sets.values() for metric in named.metrics):
        human, metrics = {}, {}
        for path, named in sets.items():
            if name in named.metrics:
                scores = panel(named.human, {name: named.metrics[name]}, Notes())
                human[path] = scores.human_matrix.system_means()
                metrics[path] = scores.matrix(0).system_means()
        with _named_warnings(name):
            curve = agreement_curve(human, metrics)
        row: Row = {"metric": name, "n": curve.n, "agreeing": curve.agreeing,
                    "n_systems": curve.n_systems}  # fmt: skip
        if options.also:
            row["n_sets"] = len(human)
        if options.difference is not None:
            value, interval = curve.probability(options.difference)
            row |= {"probability": value, "low": interval.low, "high": interval.high}
        else:
            for share in SHARES:
                value, interval = curve.difference(share)
                title = f"difference for {share:.0%}"
                row |= {title: value, f"{title} low": interval.low, f"{title} high": interval.high}
        rows.append(row)
    for note in dict.fromkeys(note for named in sets.values() for note in named.notes()):
        print_note(note)
    return {"difference": options.difference, "metrics": plain(rows)}, rows


@contextmanager
def _named_warnings(metric: str) -> Iterator[None]:
    """Begin the warnings of a computation with the name of its metric."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StatisticsWarning)
        yield
    for each in caught:
        problem = each.message.message if isinstance(each.message, StatisticsWarning) else None
        if problem is None:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
            continue
        named = message("command.of-metric", "{metric}: {problem}", metric=metric, problem=problem)
        warnings.warn(each.category(named), stacklevel=2)


def ensemble(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Combine the metrics with weights from other documents, and measure the gain held out."""
    named = named_scores(options, _measure(options))
    if len(named.metrics) < 2:
        raise CommandError(
            message("command.ensemble-of-one", "An ensemble needs at least two metrics.")
        )
    found = fit_ensemble(named.human, named.metrics, _measure(options))
    gain, interval = found.gain
    held_out = found.held_out
    rows: list[Row] = [
        {"name": name, "held out": float(held_out.values[k]), "low": float(held_out.lows[k]),
         "high": float(held_out.highs[k]), "in sample": in_sample}
        for k, (name, in_sample) in enumerate(
            zip(held_out.metrics, (found.in_sample, found.best_in_sample), strict=True)
        )
    ]  # fmt: skip
    rows.append({"name": "gain", "held out": gain, "low": interval.low, "high": interval.high,
                 "in sample": found.in_sample - found.best_in_sample})  # fmt: skip
    weights = found.weights.mean(axis=0).tolist()
    document = {
        "rows": plain(rows),
        "weights": dict(zip(found.metrics, weights, strict=True)),
        "weights_by_fold": plain(found.weights),
        "best_by_fold": found.best,
        "unit": held_out.unit,
        "n_units": held_out.n_units,
    }
    return document, rows


def difficulty(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Human scores and correlations of metrics by the difficulty of the segments, hardest first."""
    named = named_scores(options, _measure(options))
    if options.by not in named.metrics:
        raise CommandError(
            message(
                "command.no-difficulty",
                "{path} has no scores {name}, which --by names. It has: {names}.",
                path=str(options.path),
                name=options.by,
                names=list(named.metrics),
            )
        )
    ease = named.metrics[options.by].at(named.human.systems, named.human.segments)
    of_segment = np.array([
        np.nan if np.isnan(column).all() else np.nanmean(column) for column in ease.T
    ])  # fmt: skip
    metrics = {name: each for name, each in named.metrics.items() if name != options.by}
    if not metrics:
        raise CommandError(
            message("command.only-difficulty", "There is no metric besides {name}.",
                    name=options.by)
        )  # fmt: skip
    bins = by_difficulty(named.human, metrics, of_segment, _measure(options), n_bins=options.bins)
    rows = [
        {"bin": number, "from": each.low, "to": each.high, "n_segments": each.n_segments,
         "human": each.human, "human low": each.human_interval.low,
         "human high": each.human_interval.high, "metric": name,
         "value": float(each.correlations.values[k]), "low": float(each.correlations.lows[k]),
         "high": float(each.correlations.highs[k])}
        for number, each in enumerate(bins, start=1)
        for k, name in enumerate(each.correlations.metrics)
    ]  # fmt: skip
    return {"by": options.by, "rows": plain(rows)}, rows


def _measure(options: argparse.Namespace) -> Measure:
    measure = Measure(options.correlation, options.grouping, options.variant, options.threshold)
    if measure.grouping == SYSTEM_LEVEL or measure.correlation in OF_SYSTEMS:
        raise CommandError(
            message(
                "command.segments-only",
                "This command compares outputs. Choose a correlation over segments.",
            )
        )
    return measure


def add_field(commands: Any, add_scored: Callable[..., None]) -> None:
    """Add these subcommands to a parser, with the options that all commands on scores share."""
    for run in (pdp, agreement, ensemble, difficulty):
        command = commands.add_parser(run.__name__, help=run.__doc__)
        command.set_defaults(run=run)
        add_scored(command, needs_human=True)
    commands.choices["agreement"].add_argument(
        "--also", action="append", default=[], metavar="PATH",
        help="another table of scores, or another language pair of the directory (may be "
        "repeated): pairs of systems of each are pooled",
    )  # fmt: skip
    commands.choices["agreement"].add_argument(
        "--difference", type=float,
        help="print the probability that humans agree with this difference of system scores; "
        "default: the differences from which 70 to 95%% agree",
    )  # fmt: skip
    add = commands.choices["difficulty"].add_argument
    add("--by", required=True,
        help="scores of difficulty, smaller for harder segments; its mean over systems counts",
        )  # fmt: skip
    add("--bins", type=int, default=5, help="number of bins; default: 5")
