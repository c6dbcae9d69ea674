"""Ask pages and outputs of commands for messages by code, instead of repeating their sentences."""

import re
import string
from functools import cache
from html import unescape

from metaeval.messages import ENGLISH, Parameter


@cache
def patterns() -> dict[str, tuple[str, ...]]:
    """The English patterns of all messages of the code, by code; those of plurals are two."""
    from tests.house.test_messages import calls

    return {call.code: call.patterns for call in calls()}


def tells(text: str, code: str, **parameters: Parameter) -> bool:
    """Return True if an English text or page has the message of a code, with these parameters.

    Other parameters may be anything; those of messages within it, too.
    """
    found = patterns()[code]
    if "n" in parameters and len(found) == 2:
        found = found[parameters["n"] != 1 :][:1]
    plain = " ".join(unescape(text).split())
    return any(re.search(_regex(each, parameters), plain) for each in found)


def _regex(pattern: str, parameters: dict[str, Parameter]) -> str:
    parts = []
    for literal, name, spec, _conversion in string.Formatter().parse(" ".join(pattern.split())):
        parts.append(re.escape(literal))
        if name in parameters:
            parts.append(re.escape(ENGLISH.format_field(parameters[name], spec or "")))
        elif name is not None:
            parts.append(".+?")
    return "".join(parts)
