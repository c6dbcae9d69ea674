"""The generated pages of the documentation are what the code says."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.reference.site import VARIABLES, first_sentence, table
from tests.needing import extensions_of_the_project

CONFIG = Path(__file__).parents[2] / "config"
READERS = ("env_bool", "env_choice", "env_int", "env_list", "env_networks", "os.environ.get")


# The pages describe every extension of the project.
@pytest.mark.needs(*extensions_of_the_project())
def test_the_pages_are_current() -> None:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "SECOND_FACTOR": "no"}
    done = subprocess.run(
        [sys.executable, "manage.py", "docs", "--check"], env=environment, cwd=CONFIG.parent,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_cells_stay_in_their_rows() -> None:
    assert (
        table(("a", "b"), [("x | y", "two\n  lines")]).splitlines()[2] == "| x \\| y | two lines |"
    )
    assert first_sentence("One\nsentence.\n\nAnother.") == "One sentence."


def calls() -> Iterator[tuple[str, list[ast.expr]]]:
    """Yield every variable that the code reads, with its default."""
    for name in ("settings.py", "environment.py"):
        for node in ast.walk(ast.parse((CONFIG / name).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in READERS:
                first, *rest = node.args
                if isinstance(first, ast.Constant):
                    yield str(first.value), rest


def test_settings_are_declared_as_they_are_read() -> None:
    declared = {variable.name: variable.default for variable in VARIABLES}
    # Metrics know no Django and read it themselves.
    assert declared.keys() - {name for name, _ in calls()} == {"TOUCHSTONE_MODELS"}
    for name, rest in calls():
        default = rest[0].value if rest and isinstance(rest[0], ast.Constant) else None
        if isinstance(default, bool):
            assert declared[name] == ("yes" if default else "no"), name
        elif isinstance(default, int):
            assert declared[name] == str(default), name
        else:
            assert name in declared
