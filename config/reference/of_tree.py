"""Packages and what their files have in common, from the docstrings of their `__init__.py`."""

import ast
from collections.abc import Iterator
from pathlib import Path

from config.reference.markdown import code, first_sentence, table

ROOT = Path(__file__).parents[2]
TOPS = (
    *("config", "core", "annotation", "metrics", "metaeval", "dashboards", "training", "lifecycle"),
    "extensions",
    "benchmarks",
)
# Django's own names say what they hold.
SELF_EVIDENT = {"management", "migrations", "templatetags", "commands"}


def write() -> str:
    """Return the page."""
    return "# The tree\n" + "".join(
        f"\n## {top}\n\n{_said(ROOT / top)}\n\n{table(('room', ''), _rooms(top))}\n" for top in TOPS
    )


def _rooms(top: str) -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / top).rglob("__init__.py")):
        parts = path.parent.relative_to(ROOT / top).parts
        if parts and not SELF_EVIDENT.intersection(parts):
            yield code("/".join(parts)), _said(path.parent)


def _said(folder: Path) -> str:
    text = (folder / "__init__.py").read_text(encoding="utf-8")
    return first_sentence(ast.get_docstring(ast.parse(text)) or "")
