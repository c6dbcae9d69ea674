"""Read XML in time proportional to its length, without entities of its own."""

import re
from collections.abc import Mapping
from typing import Any, Protocol
from xml.parsers import expat

from annotation.uploads.problems import Place, Report
from metaeval.messages import MessageError, message

# What may stand before the root. Possessive: with backtracking, many comments would take
# exponential time.
BEFORE = r"\ufeff?(?>\s+|<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^<>[]*+(?:\[[^]]*+\]\s*+)?>)*+"


class Handler(Protocol):
    """What elements and texts go to, in their order."""

    def start(self, tag: str, given: Mapping[str, str], line: int) -> None:
        """An element begins in a line, with its attributes."""

    def text(self, data: str) -> None:
        """Characters between tags."""

    def end(self, tag: str) -> None:
        """An element ends."""


def begins_with(root: str) -> re.Pattern[str]:
    """Return the pattern of the beginning of files with a root element."""
    return re.compile(rf"{BEFORE}<({root})\b", re.IGNORECASE | re.DOTALL)


def parse_xml(name: str, text: str, handler: Handler, report: Report) -> bool:
    """Return True if it was XML; declared entities are refused, since they may expand endlessly."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = lambda tag, given: handler.start(
        tag, given, parser.CurrentLineNumber
    )
    parser.CharacterDataHandler, parser.EndElementHandler = handler.text, handler.end

    def refuse(*_: Any) -> None:
        raise MessageError(
            message(
                "marked.entities",
                "The XML declares entities (<!ENTITY>), which are not accepted. Write the texts "
                "without them.",
            )
        )

    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except MessageError as error:
        refusal = error.message
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        refusal = message("marked.xml", "The XML cannot be read: {reason}.", reason=reason)
    else:
        return True
    report.error(refusal, Place(name, parser.CurrentLineNumber))
    return False
