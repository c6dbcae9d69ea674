"""Refusals of commands: messages with codes, which the command line writes in English."""

import sys
from collections.abc import Sequence
from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.management import execute_from_command_line
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor

from core.messages import messages_of
from metaeval.messages import Message, message
from metaeval.reasons import reason_of

NOTHING_STORED = message("command.none-stored", "Nothing was stored.")
NOT_MIGRATED = message(
    "command.not-migrated",
    "The database lacks tables or columns of this version. Run `touchstone manage migrate` first.",
)


class RefusedCommandError(CommandError):
    """A command that ends without having done all that it was asked for; `messages` say why."""

    def __init__(self, *messages: Message, returncode: int = 1) -> None:
        super().__init__(" ".join(each.text for each in messages), returncode=returncode)
        self.messages = messages


# Django writes the name before the sentence, as commands write it before every error of a file.
RefusedCommandError.__name__ = "error"


def refused_by(error: Exception) -> RefusedCommandError:
    """Return what ends a command after an error: the messages of the error, or its reason."""
    if isinstance(error, ValidationError):
        return RefusedCommandError(*messages_of(error))
    return RefusedCommandError(reason_of(error))


def refused_file(path: Path, error: OSError) -> RefusedCommandError:
    """Return what ends a command that cannot read or write a file."""
    reason = reason_of(error)
    return RefusedCommandError(
        message("command.file", "{path}: {reason}.", path=str(path), reason=reason)
    )


def run(arguments: Sequence[str]) -> None:
    """Run a command, of Django or ours, and exit with one line where the database lacks tables."""
    try:
        execute_from_command_line(list(arguments))
    except DatabaseError as error:
        if is_migrated():
            raise
        sys.exit(f"error: {NOT_MIGRATED.text} ({' '.join(str(error).split())})")


def is_migrated() -> bool:
    """Return True if the database has the tables and columns of this version."""
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())
