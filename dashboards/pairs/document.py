"""What the pages of two systems and of two metrics have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboards.documents.head import CampaignDocument
from dashboards.panel.human import Floats
from metaeval import Interval
from metaeval.significance.contests import Contest, Share

# Where the two differ most: so many on each side.
N_MOST = 15
FIRST, SECOND = "first", "second"


@dataclass(frozen=True)
class Side:
    """One of the two, with the score that it has over what both have.

    One where lower is better `is_turned`: a difference always says who is better.
    """

    key: str
    label: str
    score: float | None
    is_turned: bool = False


@dataclass(frozen=True)
class Part:
    """Wins, ties or losses: how many, and their share with its interval."""

    count: int
    share: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Difference:
    """One segment on which the two differ; `side` is the one that comes out ahead.

    Of systems there are two outputs and of metrics one, whose `human` score is known or not.
    """

    side: str
    segment: str
    document: str
    system: str
    first: float | None
    second: float | None
    gap: float
    human: float | None
    output: int
    other: int | None = None


@dataclass(frozen=True)
class Offered:
    """What can be chosen as one of the two, or as what they are compared by."""

    key: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Pair(CampaignDocument):
    """`wins` are the first side's, of `n` outcomes, by what `by` names.

    It `is_of_humans` unless a metric alone says who is ahead. `lead` is wins less losses,
    `difference` the mean difference of scores. `problem` says why there is nothing; what stands
    below it is empty then.
    """

    offered: Sequence[Offered]
    measures: Sequence[Offered]
    by: str = ""
    is_of_humans: bool = True
    problem: str = ""
    first: Side | None = None
    second: Side | None = None
    n: int = 0
    wins: Part | None = None
    ties: Part | None = None
    losses: Part | None = None
    lead: Part | None = None
    difference: Part | None = None
    rows: Sequence[Difference] = ()


def parts_of(found: Contest) -> dict[str, Any]:
    """Return the fields of a `Pair` that a contest fills."""
    return {
        "n": found.n,
        "wins": _part(found.wins),
        "ties": _part(found.ties),
        "losses": _part(found.losses),
        "lead": part(found.wins.count - found.losses.count, found.lead, found.lead_interval),
    }


def _part(share: Share) -> Part:
    return part(share.count, share.share, share.interval)


def part(count: int, value: float, interval: Interval | None) -> Part:
    """Return a number with its interval; None for what is undefined."""
    ends = (None, None) if interval is None else (_known(interval.low), _known(interval.high))
    return Part(count, _known(value), *ends)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def most(gaps: Floats) -> list[tuple[str, int]]:
    """Return side and place of the largest gaps, first those where the first is ahead."""
    known = np.nan_to_num(gaps)
    high, low = (np.argsort(side, kind="stable")[:N_MOST] for side in (-known, known))
    ahead = [(FIRST, int(place)) for place in high if known[place] > 0]
    return ahead + [(SECOND, int(place)) for place in low if known[place] < 0]
