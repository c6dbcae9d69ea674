"""Refusals of commands: messages with codes, which the command line writes in English."""

from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from core.messages import messages_of
from metaeval.messages import Message, message
from metaeval.reasons import reason_of

NOTHING_STORED = message("command.none-stored", "Nothing was stored.")


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
