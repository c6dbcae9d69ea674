"""The published sets that can be imported, from the modules that read them."""

import re
from collections.abc import Iterator
from importlib import import_module

from config.reference.markdown import code, table
from metrics.datasets import DATASETS

BEFORE = """# Published data sets

`manage.py import_dataset NAME` reads each from its folder below `TOUCHSTONE_DATA`
([how](../datasets.md)); `*` is the language pair.

"""


def write() -> str:
    """Return the page."""
    return BEFORE + table(("name", "campaigns, and what is to be known", "folder"), _rows())


def _rows() -> Iterator[tuple[str, str, str]]:
    for name, each in DATASETS.items():
        said = import_module(each.reader.rpartition(".")[0]).__doc__ or ""
        yield code(name), re.sub(r"\s+", " ", said), code(each.folder)
