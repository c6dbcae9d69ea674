"""Metrics over words run on a worker that has no torch, as that of `make demo`."""

import subprocess
import sys

import pytest

from extensions.neural.trained.options import SENTINEL
from extensions.neural.yisi.options import LETTERS_PLUGIN, PLUGIN, STATIC_PLUGIN

LOAD = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
import django
django.setup()
from importlib import import_module
module, name = sys.argv[1].split(":")
getattr(import_module(module), name)
"""


def loads(scorer: str) -> bool:
    command = [sys.executable, "-c", LOAD, scorer]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "import of torch halted" in done.stderr, done.stderr
    return done.returncode == 0


@pytest.mark.parametrize("family", [LETTERS_PLUGIN, STATIC_PLUGIN, SENTINEL])
def test_scorers_over_words_load(family: object) -> None:
    assert loads(family.scorer)


def test_others_would_be_noticed() -> None:
    assert not loads(PLUGIN.scorer)
