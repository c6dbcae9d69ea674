"""What `metaeval` computes, a sentence each from its docstring."""

import inspect
from collections.abc import Iterator
from importlib import import_module

from config.reference.markdown import code, first_sentence, table

ROOMS = (
    *("correlation", "correlation.intervals", "correlation.hybrids", "significance"),
    *("sensitivity", "judgments", "judgments.agreement", "judgments.controls"),
    *("judgments.planning", "judgments.trial", "systems", "systems.shortness", "spans"),
    *("scores", "files", "replication", "replication.questions"),
)


def write() -> str:
    """Return the page."""
    return "# Functions of metaeval\n\n" + (
        "`help(NAME)` has parameters, shapes, what is raised, and the source.\n\n"
        + "\n\n".join(_room(f"metaeval.{name}") for name in ROOMS)
    )


def _room(name: str) -> str:
    room = import_module(name)
    return f"## {name}\n\n{first_sentence(room)}\n\n" + table(("", ""), _functions(name))


def _functions(name: str) -> Iterator[tuple[str, str]]:
    room = import_module(name)
    for each in room.__all__:
        if inspect.isfunction(found := getattr(room, each)):
            yield code(each), first_sentence(found)
