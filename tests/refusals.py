"""Ask refusals for the codes and parameters of their messages."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from core.commands import RefusedCommandError
from core.messages import messages_of
from metaeval.messages import Message, MessageError


@contextmanager
def refused(
    *codes: str, kind: type[Exception] = ValidationError, **parameters: object
) -> Iterator[pytest.ExceptionInfo[Any]]:
    """Expect a ValidationError, or a MessageError of a kind, with these messages in order.

    `parameters` are among those of the messages and of the messages within them; a parameter that
    is a message is compared by its code.
    """
    with pytest.raises(kind) as caught:
        yield caught
    error: Any = caught.value
    if isinstance(error, RefusedCommandError):
        found = [*error.messages]
    else:
        found = [error.message] if isinstance(error, MessageError) else messages_of(error)
    assert [each.code for each in found] == list(codes)
    values = [pair for each in found for pair in _pairs(each)]
    assert [pair for pair in parameters.items() if pair not in values] == [], values


def _pairs(about: Message) -> Iterator[tuple[str, object]]:
    """Yield the names and values of the parameters, those of messages within included."""
    for name, value in about.parameters.items():
        if isinstance(value, Message):
            yield name, value.code
            yield from _pairs(value)
        else:
            yield name, value
