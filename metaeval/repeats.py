"""Refuse options that are given twice on a command line but have a single value."""

import argparse
from collections.abc import Iterable
from typing import Any, TypeVar

from metaeval.messages import MessageError, message

Value = TypeVar("Value")


class RepeatError(MessageError, ValueError):
    """A name is given twice."""


class StoreOnce(argparse._StoreAction):
    """Store the value of an option, and refuse a second one."""

    _filled: argparse.Namespace | None = None

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Raise ArgumentError if this namespace already has a value."""
        if self._filled is namespace:
            raise argparse.ArgumentError(self, "given twice, but only one value is allowed")
        self._filled = namespace
        super().__call__(parser, namespace, values, option_string)


def refuse_repeats(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Make a parser, and those of its subcommands, refuse a single-value option given twice.

    Call it when all arguments have been added. Options that collect their values
    (``action="append"``) stay as they are. Returns the parser.
    """
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                refuse_repeats(command)
        elif type(action) is argparse._StoreAction and action.option_strings:
            action.__class__ = StoreOnce
    return parser


def by_name(pairs: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """Return the values of NAME=VALUE options by name; RepeatError for a name given twice."""
    values: dict[str, Value] = {}
    for name, value in pairs:
        if name in values:
            raise RepeatError(
                message(
                    "command.repeated-name",
                    "{name} is given twice, but only one value is allowed.",
                    name=name,
                )
            )
        values[name] = value
    return values
