"""Options of ``python -m metaeval`` that select systems: by name, human, outliers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from metaeval.files.evalset.folder import EvalSet
from metaeval.messages import Message, MessageError, message, printable
from metaeval.scores.human_systems import (
    find_reference,
    looks_human,
    named_references,
    scored_against_itself,
)
from metaeval.systems.outliers import find_outliers

IN, OUT = "in", "out"


class CommandError(MessageError, ValueError):
    """Options or files of a command are wrong; it exits with this message."""


@dataclass(frozen=True)
class ChosenSystems:
    """The systems that a command compares, and those that it mentions in notes.

    ``human`` are human translations; ``names`` include them if ``keeps_human``. ``outliers`` were
    found among ``names``, which exclude them if ``drops_outliers``. ``itself`` has, by metric, the
    systems whose score compares a reference with itself.
    """

    names: Sequence[str]
    human: Sequence[str] = ()
    keeps_human: bool = False
    outliers: Sequence[str] = ()
    drops_outliers: bool = False
    itself: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def notes(self) -> list[Message]:
        """Return which systems are human translations, outliers, or their own reference."""
        found = []
        if self.human and self.keeps_human:
            found.append(
                message(
                    "command.human-included",
                    "Included as requested, although they are human translations: {systems}.",
                    systems=list(self.human),
                )
            )
        elif self.human:
            found.append(
                message(
                    "command.human-excluded",
                    "Excluded as human translations: {systems}. Use --with-human to include them.",
                    systems=list(self.human),
                )
            )
        if self.outliers and self.drops_outliers:
            found.append(
                message(
                    "command.outliers-excluded",
                    "Excluded outliers, as requested: {systems}.",
                    systems=list(self.outliers),
                )
            )
        elif self.outliers:
            found.append(
                message(
                    "command.outliers-included",
                    "Outliers by median and MAD: {systems}. Use --outliers out to exclude them.",
                    systems=list(self.outliers),
                )
            )
        by_systems: dict[tuple[str, ...], list[str]] = {}
        for metric, systems in self.itself.items():
            by_systems.setdefault(tuple(systems), []).append(metric)
        found += [
            message(
                "command.own-reference",
                "{metrics}: ignored the scores of {systems}, which would be compared with itself "
                "as reference.",
                metrics=metrics,
                systems=list(systems),
            )
            for systems, metrics in by_systems.items()
        ]
        return found

    def print_notes(self) -> dict[str, Any]:
        """Print the notes on the standard error; return the systems for the document."""
        for note in self.notes():
            print_note(note)
        named = {"human_systems": self.human, "outlier_systems": self.outliers}
        found: dict[str, Any] = {name: list(systems) for name, systems in named.items() if systems}
        return found | ({"systems": list(self.names)} if found else {})


def print_note(note: Message) -> None:
    """Print a note on the standard error."""
    print(f"note: {printable(note.text)}", file=sys.stderr)


def add_systems(add: Any, *, names_human: bool) -> None:
    """Add the options that select systems; with ``names_human``, also --human-systems."""
    add("--systems", action="append", default=[], help="use only this system; repeatable")
    add(
        "--without-systems",
        "--without",
        action="append",
        default=[],
        help="a system to exclude; repeatable",
    )
    if names_human:
        add(
            "--human-systems",
            action="append",
            default=[],
            help="a system that is a human translation; repeatable; default: systems whose name "
            "(refA, Human-A.0) or texts are those of a reference",
        )
    add("--with-human", action="store_true", help="include human translations")
    add(
        "--outliers",
        choices=(IN, OUT),
        default=IN,
        help="out excludes systems whose human score is further than 2.5 x 1.483 MAD from the "
        "median of MT systems; default: in",
    )


def choose_systems(
    options: argparse.Namespace,
    names: Sequence[str],
    *,
    human: Iterable[str] | None = None,
) -> ChosenSystems:
    """Return the systems that the options select, before outliers.

    ``human`` are the human translations; by default those with such a name. A system that is named
    with ``--systems`` is always included. Raises CommandError for an unknown name.
    """
    wanted = known_systems(options, "systems", names)
    without = known_systems(options, "without_systems", names)
    are_human = set(filter(looks_human, names) if human is None else human)
    chosen = [name for name in names if (not wanted or name in wanted) and name not in without]
    human = [name for name in chosen if name in are_human]
    includes_human = options.with_human or set(human) <= set(wanted)
    if not includes_human:
        chosen = [name for name in chosen if name not in are_human or name in wanted]
    if not chosen:
        raise CommandError(
            message(
                "command.no-systems",
                "{path}: the options exclude all systems.",
                path=str(options.path),
            )
        )
    return ChosenSystems(chosen, human, includes_human)


def known_systems(options: argparse.Namespace, option: str, names: Sequence[str]) -> Sequence[str]:
    """Return the systems that an option names. Raises CommandError for an unknown one."""
    given: list[str] = getattr(options, option)
    for name in given:
        if name not in names:
            raise CommandError(unknown_name(options, option, name, names))
    return given


def unknown_name(
    options: argparse.Namespace, option: str, name: str, names: Iterable[str]
) -> Message:
    """Return the message that an option names something that the file does not have."""
    return message(
        "command.unknown-name",
        "{path} has no {name}, which --{option} names. It has: {names}.",
        path=str(options.path),
        name=name,
        option=option.replace("_", "-"),
        names=list(names),
    )


def outliers_of(
    chosen: ChosenSystems, scores: Mapping[str, float], options: argparse.Namespace
) -> ChosenSystems:
    """Return the systems with the outliers among the MT systems, excluded if requested."""
    names = [name for name in chosen.names if name not in chosen.human]
    found = find_outliers([scores[name] for name in names]).is_outlier if len(names) > 2 else ()
    outliers = [name for name, is_one in zip(names, found, strict=False) if is_one]
    drops = options.outliers == OUT
    rest = [name for name in chosen.names if not (drops and name in outliers)]
    return replace(chosen, names=rest, outliers=outliers, drops_outliers=drops)


def against_itself(metrics: Iterable[str], references: Mapping[str, str]) -> dict[str, list[str]]:
    """Return, by metric, the systems that are references which the metric's name lists."""
    found = {name: scored_against_itself(name, references) for name in metrics}
    return {name: systems for name, systems in found.items() if systems}


def references_of(evalset: EvalSet, systems: Iterable[str]) -> dict[str, str]:
    """Return system -> reference, for systems that are references by name or by their texts."""
    found = named_references(systems)
    for name in systems:
        texts = evalset.outputs.get(name)
        same = name if name in evalset.references else ""
        if texts is not None:
            same = same or find_reference(texts, evalset.references)
        if same:
            found[name] = same
    return found
