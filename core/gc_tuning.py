"""Tune garbage collection: rarely while modules load, and never for the objects they leave."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

USUAL = gc.get_threshold()
# Size of the youngest generation. With 700, collections take a fifth of the start, while half a
# million objects are created that stay.
LOADING = (50_000, 20, 20)
# The same while tables are read: with 50,000, looking takes a fifth of the time of an import.
READING = (500_000, 20, 20)


def relax() -> None:
    """Collect rarely until :func:`freeze` or the end of a command: most new objects stay."""
    gc.set_threshold(*LOADING)


def freeze() -> None:
    """Exclude loaded objects from collections, which blocked all threads for a tenth of a second.

    Children that are forked afterwards go on sharing its memory: looking writes to every object.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*USUAL)


@contextmanager
def relaxed() -> Iterator[None]:
    """Collect rarely for a while: tables of many rows have no cycles, and looking takes time."""
    usual = gc.get_threshold()
    gc.set_threshold(*READING)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
