"""``python -m metaeval trial``: the effects of prefilled error spans."""

from __future__ import annotations

import argparse
from collections.abc import Hashable, Iterable, Iterator
from itertools import compress
from typing import Any

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.commands.bundle import add_common
from metaeval.commands.systems import CommandError
from metaeval.documents import of_several_segments
from metaeval.files.text import FormatError, Table
from metaeval.judgments.trial import MeanEffect, RateEffect, mean_effect, rate_effect
from metaeval.messages import message

Row = dict[str, Any]
BLANK, PREFILLED, PLANTED, WITHHELD = CONDITIONS = ("blank", "prefilled", "planted", "withheld")
NUMBERS = ("seconds", "score", "length", "position", "accepted", "missed")


def trial(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Estimate effects of prefilled spans on time, scores, false acceptance and missed errors."""
    table = Table(
        options.path, ["annotator", "output", "condition"], optional=[*NUMBERS, "document"]
    )
    effects = dict(_effects(table))
    if not effects:
        raise CommandError(
            message(
                "command.no-trial-columns",
                "{path} has no column seconds, score, accepted or missed.",
                path=str(options.path),
            )
        )
    rows = [_row(name, effect) for name, effect in effects.items()]
    return {"effects": {name: each.to_dict() for name, each in effects.items()}}, rows


def _effects(table: Table) -> Iterator[tuple[str, MeanEffect | RateEffect]]:
    """Yield the estimands whose columns exist, of four."""
    annotators, outputs, conditions = _labels(table)
    documents = _documents(table, outputs)
    numbers = {name: _numbers(table, name) for name in NUMBERS if name in table.columns}
    covariates = [
        scale(numbers[name]) for name, scale in (("length", _logs), ("position", np.asarray))
        if name in numbers
    ]  # fmt: skip
    for name, column, is_ratio in (("time ratio", "seconds", True), ("score", "score", False)):
        if column in numbers:
            compared = np.isin(conditions, (BLANK, PREFILLED))
            yield name, mean_effect(
                numbers[column][compared], conditions[compared] == PREFILLED,
                annotators[compared], outputs[compared], is_ratio=is_ratio,
                documents=list(compress(documents, compared)),
                covariates=np.column_stack(covariates)[compared] if covariates else None,
            )  # fmt: skip
    for name, treated in (("accepted", PLANTED), ("missed", WITHHELD)):
        if name in numbers:
            known = ~np.isnan(numbers[name]) & np.isin(conditions, (BLANK, treated))
            shown = conditions[known] == treated
            yield name, rate_effect(
                numbers[name][known] > 0, shown, annotators[known],
                documents=list(compress(documents, known)),
            )  # fmt: skip


def _labels(table: Table) -> Iterator[np.ndarray]:  # type: ignore[type-arg]
    for name in ("annotator", "output"):
        yield np.array([table.text(number, row, name) for number, row in table.rows])
    found = [table.text(number, row, "condition").lower() for number, row in table.rows]
    for (number, _), each in zip(table.rows, found, strict=True):
        if each not in CONDITIONS:
            raise FormatError(
                table.path,
                number,
                message(
                    "prefilled.unknown-condition",
                    "The field condition must be one of {conditions}, not “{value}”.",
                    conditions=list(CONDITIONS),
                    value=each,
                ),
            )
    yield np.array(found)


def _documents(table: Table, outputs: Iterable[str]) -> list[Hashable | None]:
    """Return the document of each output, None if it is the only one of its document."""
    column = table.columns.get("document")
    names = ["" if column is None else row[column].strip() for _, row in table.rows]
    return of_several_segments(names, outputs)


def _numbers(table: Table, name: str) -> FloatArray:
    return np.array(table.numbers(name))


def _logs(lengths: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        found: FloatArray = np.log(np.where(lengths > 0, lengths, np.nan))
    return found


def _row(name: str, effect: MeanEffect | RateEffect) -> Row:
    low, high = effect.interval[:2] if effect.interval else (None, None)
    return {
        "effect": name, "estimate": effect.statistic, "low": low, "high": high,
        "p": effect.pvalue, "annotators": effect.n_annotators, "n": effect.n,
        "unit": effect.unit, "n_units": effect.n_units,
    }  # fmt: skip


def add_trial(commands: Any) -> None:
    """Add the subcommand to a parser."""
    command = commands.add_parser("trial", help=trial.__doc__)
    command.set_defaults(run=trial)
    command.add_argument(
        "path",
        help="TSV: annotator, output, condition (blank, prefilled, planted, withheld), and "
        "optionally seconds, score, length, position, accepted, missed and document",
    )
    add_common(command)
