"""Ask refusals, pages and outputs of commands for the codes and parameters of messages."""

import re
import string
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html import unescape
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from core.commands import RefusedCommandError
from core.messages import messages_of
from metaeval.messages import ENGLISH, Message, MessageError, Parameter


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


@cache
def patterns() -> dict[str, tuple[str, ...]]:
    """The English patterns of all messages of the code, by code; those of plurals are two."""
    from tests.house.test_messages import calls

    return {call.code: call.patterns for call in calls()}


def tells(text: str, code: str, /, **parameters: Parameter) -> bool:
    """Return True if an English text or page has the message of a code, with these parameters.

    Other parameters may be anything; those of messages within it, too.
    """
    found = patterns()[code]
    if "n" in parameters and len(found) == 2:
        found = found[parameters["n"] != 1 :][:1]
    plain = " ".join(unescape(text).split())
    return any(re.search(_regex(each, parameters), plain) for each in found)


def has(text: str, wanted: str) -> bool:
    """Return True if a text or page has a message of a code, or words that have no code.

    For tables of cases in which some refusals are Django's, or name only what was sent.
    """
    return tells(text, wanted) if wanted in patterns() else wanted in unescape(text)


def _regex(pattern: str, parameters: dict[str, Parameter]) -> str:
    parts = []
    for literal, name, spec, _conversion in string.Formatter().parse(" ".join(pattern.split())):
        parts.append(re.escape(literal))
        if name in parameters:
            parts.append(re.escape(ENGLISH.format_field(parameters[name], spec or "")))
        elif name is not None:
            parts.append(".+?")
    return "".join(parts)
