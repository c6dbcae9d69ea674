"""``python -m metaeval challenge`` and ``error-free``: what metrics and detectors find."""

from __future__ import annotations

import argparse
from typing import Any

from metaeval.challenges import aces_score, detection, read_challenge_set, span_f1
from metaeval.challenges.sets import ACES
from metaeval.commands.bundle import add_common
from metaeval.commands.systems import print_note
from metaeval.files.tables import DOCUMENT
from metaeval.files.text import FormatError, Table
from metaeval.messages import message, plural
from metaeval.results import plain
from metaeval.spans.error_free import error_free_detection, mcc_interval

Row = dict[str, Any]
ALL = "all"


def challenge(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Compare metrics on a challenge set: accuracy and tau of good against incorrect texts."""
    found = read_challenge_set(options.path)
    if found.n_unchanged:
        print_note(
            plural(
                "challenge.unchanged",
                "Skipped {n} row whose perturbation changed nothing.",
                "Skipped {n} rows whose perturbations changed nothing.",
                n=found.n_unchanged,
            )
        )
    if found.n_references:
        print_note(
            plural(
                "challenge.references",
                "Skipped {n} row whose incorrect translation is the reference itself.",
                "Skipped {n} rows whose incorrect translation is the reference itself.",
                n=found.n_references,
            )
        )
    groups: dict[tuple[str, str], list[int]] = {}
    for place, (phenomenon, category) in enumerate(
        zip(found.phenomena, found.categories, strict=True)
    ):
        groups.setdefault(("phenomenon", phenomenon), []).append(place)
        groups.setdefault(("category", category), []).append(place)
        groups.setdefault((ALL, ALL), []).append(place)
    category_of = dict(zip(found.phenomena, found.categories, strict=True))
    rows, scores = [], []
    for metric in found.good:
        results = {}
        for (level, name), places in sorted(groups.items(), key=lambda each: _order(each[0])):
            result = detection(
                found.good[metric][places],
                found.bad[metric][places],
                sources=[found.sources[place] for place in places],
            )
            if level == "phenomenon":
                results[name] = category_of[name], result
            rows.append(
                {
                    "metric": metric,
                    "group": level,
                    "name": name,
                    "n": result.n,
                    "accuracy": result.accuracy,
                    "accuracy low": result.accuracy_interval.low,
                    "accuracy high": result.accuracy_interval.high,
                    "tau": result.tau,
                    "tau low": result.tau_interval.low,
                    "tau high": result.tau_interval.high,
                    "ties": result.ties,
                }
            )
        if found.layout == ACES:
            total = aces_score(results)
            scores.append({"metric": metric, "score": total.score, "low": total.interval.low,
                           "high": total.interval.high, "taus": total.categories})  # fmt: skip
    document: Row = {"layout": found.layout, "rows": plain(rows)}
    if scores:
        document["aces_scores"] = plain(scores)
    if found.spans:
        value, interval = span_f1(found.spans, found.sources)
        document["span_f1"] = plain({"value": value, "low": interval.low, "high": interval.high})
    if not options.scores:
        return document, rows
    return document, [{k: v for k, v in each.items() if k != "taus"} for each in scores]


def _order(key: tuple[str, str]) -> tuple[int, str]:
    return (ALL, "category", "phenomenon").index(key[0]), key[1]


def error_free(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Compare predicted with true error-free outputs: precision, recall, Matthews' correlation."""
    table = Table(options.path, [options.gold, *options.predicted], optional=["segment", DOCUMENT])
    documents = None
    if "document" in table.columns:
        documents = [row[table.columns["document"]].strip() for _, row in table.rows]
    gold = _truths(table, options.gold)
    rows = []
    for name in options.predicted:
        predicted = _truths(table, name)
        result = error_free_detection(gold, predicted)
        interval = mcc_interval(gold, predicted, documents=documents)
        rows.append(
            {
                "detector": name,
                "n": result.n,
                "precision": result.precision,
                "recall": result.recall,
                "mcc": result.mcc,
                "low": interval.low,
                "high": interval.high,
            }
        )
    return {"gold": options.gold, "detectors": plain(rows)}, rows


def _truths(table: Table, name: str) -> list[bool]:
    column, found = table.columns[name], []
    for line, row in table.rows:
        text = row[column].strip().lower()
        if text not in ("0", "1", "true", "false"):
            refusal = message(
                "error-free.value", "Field {field}: expected 0 or 1, got “{value}”.",
                field=name, value=row[column],
            )  # fmt: skip
            raise FormatError(table.path, line, refusal)
        found.append(text in ("1", "true"))
    return found


def add_challenges(commands: Any) -> None:
    """Add these subcommands to a parser."""
    command = commands.add_parser("challenge", help=challenge.__doc__)
    command.set_defaults(run=challenge)
    command.add_argument(
        "path",
        help="challenge set with the columns METRIC-good and METRIC-bad: ACES or SPAN-ACES (TSV, "
        "CSV, JSON), DEMETR (JSON, or a folder of them)",
    )
    command.add_argument("--scores", action="store_true",
                         help="print the ACES score of each metric")  # fmt: skip
    add_common(command)
    command = commands.add_parser("error-free", help=error_free.__doc__)
    command.set_defaults(run=error_free)
    command.add_argument("path", help="TSV or CSV with a row per output; a column document names "
                         "the unit of intervals")  # fmt: skip
    command.add_argument("--gold", required=True, help="column: 1 if the output has no error")
    command.add_argument("--predicted", action="append", required=True,
                         help="column of a detector's 0 and 1; repeatable")  # fmt: skip
    add_common(command)
