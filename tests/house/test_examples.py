"""Every example of a docstring runs and gives what it shows."""

import doctest
import importlib

import pytest

from tests.house.test_rooms import OURS, ROOT

MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for top in OURS
    for path in sorted((ROOT / top).rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_show(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted
    assert not done.failed
