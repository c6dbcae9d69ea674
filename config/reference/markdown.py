"""Markdown's tables and sentences from plain values."""

import inspect
import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; its cells are in one line each."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    return re.sub(r"\s+", " ", str(value)).strip().replace("|", "\\|")


def code(value: object) -> str:
    """Return a value as code, nothing for an empty one."""
    return f"`{value}`" if str(value) else ""


def first_sentence(documented: object) -> str:
    """Return the first paragraph of a docstring in one line."""
    text = documented if isinstance(documented, str) else inspect.getdoc(documented)
    return re.sub(r"\s+", " ", (text or "").split("\n\n")[0]).strip()
