"""Write Markdown from plain values and docstrings."""

import ast
import inspect
import re
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; each cell is one line."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    return re.sub(r"\s+", " ", str(value)).strip().replace("|", "\\|")


def code(value: object) -> str:
    """Return a value as code; empty for an empty value."""
    return f"`{value}`" if str(value) else ""


def first_sentence(documented: object) -> str:
    """Return the first paragraph of a docstring in one line."""
    text = documented if isinstance(documented, str) else inspect.getdoc(documented)
    return re.sub(r"\s+", " ", (text or "").split("\n\n")[0]).strip()


def docstring(module: str) -> str:
    """Return the docstring of a module without importing it, because it may need torch."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return re.sub(r"(?::\w+:)?(`+)([^`]+)\1", r"`\2`", text)
