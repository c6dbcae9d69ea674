"""Which systems a command of ``python -m metaeval`` takes: chosen, human, outliers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from metaeval.files.evalset.folder import EvalSet
from metaeval.scores.human_systems import (
    find_reference,
    looks_human,
    named_references,
    scored_against_itself,
)
from metaeval.systems.outliers import find_outliers

IN, OUT = "in", "out"


@dataclass(frozen=True)
class ChosenSystems:
    """The systems that a command compares, and those that it says something about.

    ``human`` were taken for human translations, and are among ``names`` where ``keeps_human``.
    ``outliers`` are found among ``names`` and are left out of them where ``drops_outliers``.
    ``itself`` has, by metric, the systems whose score is that of a reference against itself.
    """

    names: Sequence[str]
    human: Sequence[str] = ()
    keeps_human: bool = False
    outliers: Sequence[str] = ()
    drops_outliers: bool = False
    itself: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def notes(self) -> list[str]:
        """Say what was taken for human, for an outlier, and for its own reference."""
        told = []
        if self.human and self.keeps_human:
            told.append(f"taken for human, and kept as asked: {', '.join(self.human)}")
        elif self.human:
            told.append(
                f"taken for human and left out: {', '.join(self.human)}; --with-human keeps them"
            )
        if self.outliers and self.drops_outliers:
            told.append(f"outliers, left out as asked: {', '.join(self.outliers)}")
        elif self.outliers:
            told.append(
                f"outliers by median and MAD: {', '.join(self.outliers)}; --outliers out leaves "
                "them out"
            )
        by_systems: dict[str, list[str]] = {}
        for metric, systems in self.itself.items():
            by_systems.setdefault(", ".join(systems), []).append(metric)
        told += [
            f"not compared with themselves as references: {systems} (by {', '.join(metrics)})"
            for systems, metrics in by_systems.items()
        ]
        return told

    def tell(self) -> dict[str, Any]:
        """Print the notes on the standard error; return the systems for the document."""
        for note in self.notes():
            print(f"note: {note}", file=sys.stderr)
        told = {"human_systems": self.human, "outlier_systems": self.outliers}
        found: dict[str, Any] = {name: list(systems) for name, systems in told.items() if systems}
        return found | ({"systems": list(self.names)} if found else {})


def add_systems(add: Any, *, names_human: bool) -> None:
    """Add the options that choose systems; with ``names_human`` one that says which are human."""
    add("--systems", action="append", default=[], help="only this system; repeat")
    add(
        "--without-systems",
        "--without",
        action="append",
        default=[],
        help="a system to leave out; repeat",
    )
    if names_human:
        add(
            "--human-systems",
            action="append",
            default=[],
            help="a system that is a human translation; repeat; default: those whose name (refA, "
            "Human-A.0) or texts are a reference's",
        )
    add("--with-human", action="store_true", help="keep human translations among the systems")
    add(
        "--outliers",
        choices=(IN, OUT),
        default=IN,
        help="out leaves out systems whose human score is further than 2.5 x 1.483 MAD from the "
        "median of MT systems; default: in",
    )


def choose_systems(
    options: argparse.Namespace,
    names: Sequence[str],
    *,
    human: Iterable[str] | None = None,
) -> ChosenSystems:
    """Return what the options choose of some systems, before outliers.

    ``human`` are the human translations; by default those that look it. A system that the reader
    names with ``--systems`` is kept whoever made it. Raises ValueError for an unknown name.
    """
    wanted = known_systems(options, "systems", names)
    left_out = known_systems(options, "without_systems", names)
    taken = set(filter(looks_human, names) if human is None else human)
    kept = [name for name in names if (not wanted or name in wanted) and name not in left_out]
    human = [name for name in kept if name in taken]
    keeps = options.with_human or set(human) <= set(wanted)
    if not keeps:
        kept = [name for name in kept if name not in taken or name in wanted]
    if not kept:
        raise ValueError(f"{options.path}: no system is left")
    return ChosenSystems(kept, human, keeps)


def known_systems(options: argparse.Namespace, option: str, names: Sequence[str]) -> Sequence[str]:
    """Return the systems that an option names. Raises ValueError for one that is not there."""
    given: list[str] = getattr(options, option)
    for name in given:
        if name not in names:
            flag, there = option.replace("_", "-"), ", ".join(names)
            raise ValueError(f"{options.path}: --{flag} {name}: not there; there is {there}")
    return given


def outliers_of(
    chosen: ChosenSystems, scores: Mapping[str, float], options: argparse.Namespace
) -> ChosenSystems:
    """Return the same with the outliers among the MT systems, left out where asked for."""
    names = [name for name in chosen.names if name not in chosen.human]
    found = find_outliers([scores[name] for name in names]).is_outlier if len(names) > 2 else ()
    outliers = [name for name, is_one in zip(names, found, strict=False) if is_one]
    drops = options.outliers == OUT
    kept = [name for name in chosen.names if not (drops and name in outliers)]
    return replace(chosen, names=kept, outliers=outliers, drops_outliers=drops)


def against_itself(metrics: Iterable[str], references: Mapping[str, str]) -> dict[str, list[str]]:
    """Return, by metric, the systems that are references which the metric's name says it read."""
    found = {name: scored_against_itself(name, references) for name in metrics}
    return {name: systems for name, systems in found.items() if systems}


def references_of(evalset: EvalSet, systems: Iterable[str]) -> dict[str, str]:
    """Return system -> reference that it is, by its name or by its texts."""
    found = named_references(systems)
    for name in systems:
        texts = evalset.outputs.get(name)
        same = name if name in evalset.references else ""
        if texts is not None:
            same = same or find_reference(texts, evalset.references)
        if same:
            found[name] = same
    return found
