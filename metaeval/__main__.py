"""``python -m metaeval``: statistics from files, and whole replication bundles again."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import warnings
from collections.abc import Iterable, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

import metaeval as me
from metaeval.arrays import BoolArray, FloatArray
from metaeval.bundle_commands import add_commands, within
from metaeval.measures import CORRELATIONS, Measure
from metaeval.panels import panel
from metaeval.reproduce import reproduce as run_bundle
from metaeval.results import Notes
from metaeval.significance import metric_values
from metaeval.swaps import SWAPS
from metaeval.textfiles import Table

Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; print JSON or TSV; return 2 with one sentence on bad input.

    `reproduce` returns 1 where a number differs.
    """
    options = _parser().parse_args(arguments)
    problem = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", me.StatisticsWarning)
        try:
            document, rows = options.run(options)
        except OSError as error:
            problem = f"{error.filename}: {error.strerror}"
        except (ValueError, KeyError) as error:
            problem = str(error.args[0] if error.args else error)
    for message in dict.fromkeys(str(entry.message) for entry in caught):
        print(f"warning: {message}", file=sys.stderr)
    if problem:
        print(f"metaeval: {problem}", file=sys.stderr)
        return 2
    if options.output == "json":
        print(json.dumps(_plain(document), ensure_ascii=False, indent=1))
    else:
        print("\t".join(rows[0] if rows else []))
        for row in rows:
            print("\t".join(_cell(value) for value in row.values()))
    return int(options.run is reproduce and bool(rows))


def correlate(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Correlate every metric with the human scores; intervals on request."""
    human, metrics = _scores(options)
    measure = Measure(options.correlation, options.grouping, options.variant)
    rows = []
    for name, metric in metrics.items():
        notes = Notes()
        scores = panel(human, {name: metric}, notes)
        row: Row = {"metric": name, "statistic": float(metric_values(measure, scores, 0, notes)[0])}
        row |= {"n": scores.n, "n_excluded": sum(notes.reasons.values())}
        if options.resamples:
            result = me.boot_interval(
                human, metric, resample=options.resample, n_resamples=options.resamples,
                rng=options.seed, **_measure(options)
            )  # fmt: skip
            low, high, _ = result.interval or (np.nan, np.nan, 0.95)
            row |= {"low": low, "high": high}
        rows.append(row)
    return {"method": measure.label, "metrics": _plain(rows)}, rows


def compare(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Test every metric against every other and give ranks."""
    human, metrics = _scores(options)
    if len(metrics) < 2:
        raise ValueError(f"{options.path}: two metrics or more can be compared, not {len(metrics)}")
    result = me.compare_metrics(
        human, metrics, swap=options.swap, alternative=options.alternative,
        n_resamples=options.resamples or 1000, rng=options.seed, **_measure(options)
    )  # fmt: skip
    adjusted = result.adjusted(options.adjust, scope=options.scope).pvalues
    ranks = result.ranks().ranks.tolist()
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
    return result.to_dict() | {"ranks": ranks, "adjusted": _plain(adjusted.tolist())}, rows


def human(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Standardise judgments (annotator, system, segment, score), rank systems, give alpha."""
    labels, scores = _read_judgments(options.path)
    z = me.z_scores(scores, labels["annotator"]).z
    counted = _of_types(options, labels.pop("type"))
    annotators, systems, segments = (list(compress(each, counted)) for each in labels.values())
    z = z[counted]
    means = me.mean_scores(z, systems, segments)
    ranking = me.rank_systems(means.matrix, test=options.test, rng=options.seed)
    outputs = [f"{system}\t{segment}" for system, segment in zip(systems, segments, strict=True)]
    by_rater = me.mean_scores(z, annotators, outputs).matrix
    alpha = me.krippendorff_alpha(by_rater.values)
    rows = [
        {"system": name, "z": float(score), "cluster": int(cluster), "first": int(first),
         "last": int(last), "wins": int(wins)}
        for name, score, cluster, first, last, wins in zip(
            ranking.systems, ranking.scores, ranking.clusters, ranking.first, ranking.last,
            ranking.wins, strict=True,
        )
    ]  # fmt: skip
    return {"alpha": alpha.to_dict(), "ranking": ranking.to_dict(), "systems": _plain(rows)}, rows


def _read_judgments(path: str) -> tuple[dict[str, list[str]], FloatArray]:
    """Return annotators, systems, segments, types of items ("" without such a column); scores."""
    table = Table(
        path,
        ["annotator|worker|rater", "system", "segment|seg|seg_id|sid", "score|raw"],
        optional=["type|kind|itemType"],
    )
    if not table.rows:
        raise ValueError(f"{path}: there is no judgment")
    labels = {
        key: [table.text(n, row, key) if key in table.columns else "" for n, row in table.rows]
        for key in ("annotator", "system", "segment", "type")
    }
    return labels, np.array([table.number(n, row, "score") for n, row in table.rows])


def _of_types(options: argparse.Namespace, types: Sequence[str]) -> BoolArray:
    """Tell the judgments whose items have a type that counts."""
    found = dict.fromkeys(types)
    wanted = _known(options, "type", found)
    if not wanted and len(found) > 1:
        print(f"warning: items of all types count: {', '.join(found)}. Choose with --type.",
              file=sys.stderr)  # fmt: skip
    return np.array([not wanted or kind in wanted for kind in types])


def reproduce(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Recompute a replication bundle, and list every number that differs."""
    result = run_bundle(options.bundle, run_command, tolerance=options.tolerance)
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
    rows = [dataclasses.asdict(each) for each in result.differences]
    if rounded := sum(each.is_rounding for each in result.differences):
        hint = "another kind of processor may add in another order (--tolerance 1e-12)"
        print(f"note: {rounded} differences are of the size of rounding; {hint}", file=sys.stderr)
    verdict = f"{len(rows)} differences" if rows else "all equal"
    print(f"{result.tables} tables, {result.numbers} numbers: {verdict}.", file=sys.stderr)
    return {"tables": result.tables, "numbers": result.numbers, "differences": rows}, rows


def run_command(arguments: Sequence[str], folder: Path) -> Row:
    """Run a bundle's command on the files in its folder; it may not be another `reproduce`."""
    options = _parser().parse_args(arguments)
    if options.run is reproduce:
        raise ValueError("a bundle may not name another bundle")
    within(options, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", me.StatisticsWarning)
        document: Row = options.run(options)[0]
    return document


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m metaeval", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for run in (correlate, compare):
        command = commands.add_parser(run.__name__, help=run.__doc__)
        command.set_defaults(run=run)
        command.add_argument("path", help="a TSV of scores, or an mt-metrics-eval directory")
        command.add_argument("--language-pair", help="of the directory, such as en-de")
        command.add_argument("--human", required=True, help="column or name of the human scores")
        command.add_argument("--metric", action="append", default=[], help="default: all")
        command.add_argument("--without", action="append", default=[], help="a system to leave out")
        command.add_argument("--correlation", choices=CORRELATIONS, default="pearson")
        command.add_argument("--grouping", help="none, item, system or system-level")
        command.add_argument("--variant", choices=["b", "c"], default="b", help="of Kendall's tau")
        command.add_argument("--resamples", type=int, default=0)
        _common(command)
    command = commands.choices["correlate"]
    command.add_argument("--resample", choices=["both", "inputs", "systems"], default="both")
    command = commands.choices["compare"]
    command.add_argument("--swap", choices=SWAPS)
    command.add_argument(
        "--alternative", choices=["greater", "less", "two-sided"], default="greater"
    )
    command.add_argument("--adjust", choices=["bonferroni", "holm", "bh"], default="holm")
    command.add_argument("--scope", choices=["table", "row"], default="table")
    command = commands.add_parser("human", help=human.__doc__)
    command.set_defaults(run=human)
    command.add_argument("path", help="TSV: annotator, system, segment, score, perhaps type")
    command.add_argument(
        "--type", action="append", default=[], help="of the items that count; default: all"
    )
    command.add_argument("--test", choices=["rank-sum", "permutation"], default="rank-sum")
    _common(command)
    add_commands(commands)
    command = commands.add_parser("reproduce", help=reproduce.__doc__)
    command.set_defaults(run=reproduce)
    command.add_argument("bundle", help="the zip file, or its folder")
    command.add_argument("--tolerance", type=float, default=0.0, help="relative; 0: bit for bit")
    command.add_argument("--output", choices=["tsv", "json"], default="tsv")
    return parser


def _common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--output", choices=["tsv", "json"], default="tsv")


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(options, name) for name in ("correlation", "grouping", "variant")}


def _scores(options: argparse.Namespace) -> tuple[me.ScoreMatrix, dict[str, me.ScoreMatrix]]:
    if options.language_pair:
        evalset = me.read_evalset(options.path, options.language_pair)
        gold, metrics = evalset.human(options.human), evalset.metrics()
    elif Path(options.path).is_dir():
        raise ValueError(f"{options.path}: a directory needs --language-pair, such as en-de")
    else:
        metrics = me.read_score_table(options.path)
        if options.human not in metrics:
            metrics |= me.read_score_table(options.path, columns=[options.human])
        gold = metrics.pop(options.human)
    wanted = {name: metrics[name] for name in _known(options, "metric", metrics) or metrics}
    if not wanted:
        raise ValueError(f"{options.path}: no metric beside the human scores {options.human}")
    left_out = _known(options, "without", gold.systems)
    return gold.subset(systems=[name for name in gold.systems if name not in left_out]), wanted


def _known(options: argparse.Namespace, option: str, names: Iterable[str]) -> list[str]:
    """Return the names that an option gives. Raises ValueError for one that is not there."""
    given: list[str] = getattr(options, option)
    for name in given:
        if name not in names:
            found = ", ".join(names)
            raise ValueError(f"{options.path}: --{option} {name}: not there; found {found}")
    return given


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)


if __name__ == "__main__":
    sys.exit(main())
