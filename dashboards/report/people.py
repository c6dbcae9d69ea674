"""List annotators in a report, in groups where they are many."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import mean
from metaeval.messages import Message, message

# The most annotators that are listed one by one.
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
    """Mean, smallest and largest number of annotators; None where nobody has a number."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Group:
    """Annotators with the same result, with their names."""

    label: Message
    n: int
    judgments: int
    scores: Range
    seconds: Range
    r: Range
    names: Sequence[str]


# The groups by their labels; an annotator belongs to the first that fits.
GROUPS: Sequence[tuple[Message, Callable[[Person], bool]]] = (
    (message("group.excluded", "Excluded"), lambda one: one.is_excluded),
    (
        message("group.agrees", "Agree with the others, r > 0"),
        lambda one: one.r is not None and one.r > 0,
    ),
    (message("group.disagrees", "Do not agree, r ≤ 0"), lambda one: one.r is not None),
    (message("group.few-items", "Too few items in common with others"), lambda one: one.n > 0),
    (message("group.no-judgments", "No judgments"), lambda one: True),
)


def groups_of(people: Sequence[Person]) -> list[Group]:
    """Return the groups of many annotators; none where they are few."""
    if len(people) <= MANY:
        return []
    found: dict[Message, list[Person]] = {label: [] for label, _ in GROUPS}
    for one in people:
        found[next(label for label, fits in GROUPS if fits(one))].append(one)
    return [_group(label, own) for label, own in found.items() if own]


def _group(label: Message, people: Sequence[Person]) -> Group:
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
