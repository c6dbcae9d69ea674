"""The texts of code and of published tables as patterns.

They are what `annotation.web.sentences` may find on a page.
"""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from core.extensions import template_folders

# Code that writes no page.
OUT = re.compile(r"/(migrations|management)/|^(tests|benchmarks|static|docs)/|^var/")
FIELD = re.compile(r"\{([a-z]\w*)(?:[.\[!:][^{}]*)?\}")
COUNTED = re.compile(r'(?:counted:|pluralize\((?:[^"()]|\([^"()]*\))+, )"([a-z -]+)"')
# What catalogs call the values of some functions.
PLACEHOLDERS = {"pluralize": "counted", "join_truncated": "some"}


@cache
def literals(root: Path) -> frozenset[str]:
    """Return every text of our code, with `%(name)s` for what is filled in."""
    found = set()
    rooms = [path for path in root.iterdir() if path.is_dir() and path.name[0] != "."]
    for path in sorted(each for room in rooms for each in room.rglob("*.py")):
        if not OUT.search(path.relative_to(root).as_posix()):
            found |= set(of_code(path.read_text(encoding="utf-8")))
    for path in sorted((root / "dashboards" / "published").glob("*.json")):
        columns = json.loads(path.read_text(encoding="utf-8"))["columns"]
        found |= {column["label"].replace("%", "%%") for column in columns}
    for path in sorted(each for room in template_folders(root) for each in room.rglob("*.html")):
        found |= set(_counts(path.read_text(encoding="utf-8")))
    return frozenset(found)


def of_code(code: str) -> Iterator[str]:
    """The texts of a module: plain ones, f-strings, `str.format` and what is counted."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.JoinedStr):
            yield _pattern(node).strip()
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield FIELD.sub(r"%(\1)s", node.value.replace("%", "%%")).strip()
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            # A field of a form is labelled by its name.
            yield node.targets[0].id.replace("_", " ").capitalize()
    yield from _counts(code)


def _counts(text: str) -> Iterator[str]:
    for noun in COUNTED.findall(text):
        yield from (f"%(n)s {noun}", f"%(n)s {noun}s")


def _pattern(text: ast.JoinedStr) -> str:
    """An f-string; a value is named after the variable or the function that it comes from."""
    parts, names = [], dict[str, str]()
    for part in text.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value).replace("%", "%%"))
        elif isinstance(part, ast.FormattedValue):
            parts.append(f"%({_name(part.value, names)})s")
    return "".join(parts)


def _name(value: ast.expr, names: dict[str, str]) -> str:
    base, number = _base(value).strip("_") or "value", 2
    name, source = base, ast.unparse(value)
    while names.setdefault(name, source) != source:
        name, number = f"{base}_{number}", number + 1
    return name


def _base(value: ast.expr) -> str:
    match value:
        case ast.Name():
            return value.id
        case ast.Call(func=ast.Attribute(attr="join" | "strip" | "rstrip") as function):
            return _base(value.args[0] if value.args else function.value)
        case ast.Call():
            base = _base(value.func)
            return PLACEHOLDERS.get(base, base)
        case ast.Attribute():
            return value.attr
        case ast.Subscript():
            return _base(value.value)
        case ast.IfExp():
            return "form"
    return "value"
