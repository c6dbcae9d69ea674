"""Annotators in a report: one by one where they are few, in groups where they are many."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import mean

# More people than these are no table that somebody reads.
MANY = 12


@dataclass(frozen=True)
class Person:
    """One annotator; `r` with the others without traps, `r_with` with them."""

    label: str
    is_excluded: bool
    n: int
    mean: float | None
    sd: float | None
    seconds: float | None
    r: float | None
    r_with: float | None


@dataclass(frozen=True)
class Range:
    """The mean over people, and the smallest and the largest; None where nobody has a number."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Group:
    """People of whom the same is to be said, with their names."""

    label: str
    n: int
    judgments: int
    scores: Range
    seconds: Range
    r: Range
    names: Sequence[str]


KINDS: dict[str, Callable[[Person], bool]] = {
    "Excluded": lambda one: one.is_excluded,
    "Agree with the others, r > 0": lambda one: one.r is not None and one.r > 0,
    "Do not agree, r ≤ 0": lambda one: one.r is not None,
    "Share too few items with others": lambda one: one.n > 0,
    "Judged nothing": lambda one: True,
}


def groups_of(people: Sequence[Person]) -> list[Group]:
    """Return the groups of many people, each in the first that fits; none of few."""
    if len(people) <= MANY:
        return []
    found: dict[str, list[Person]] = {label: [] for label in KINDS}
    for one in people:
        found[next(label for label, fits in KINDS.items() if fits(one))].append(one)
    return [_group(label, own) for label, own in found.items() if own]


def _group(label: str, people: Sequence[Person]) -> Group:
    return Group(
        label=label,
        n=len(people),
        judgments=sum(one.n for one in people),
        scores=_range([one.mean for one in people]),
        seconds=_range([one.seconds for one in people]),
        r=_range([one.r for one in people]),
        names=[one.label for one in people],
    )


def _range(values: Sequence[float | None]) -> Range:
    known = np.array([v for v in values if v is not None and not np.isnan(v)], dtype=np.float64)
    if not len(known):
        return Range()
    return Range(mean(known), float(known.min()), float(known.max()))
