"""The document of the pages that compare two systems or two metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboards.documents.head import CampaignDocument
from dashboards.panel.human import Floats
from metaeval import Interval
from metaeval.messages import Message
from metaeval.significance.contests import Contest, Share

# The most differences shown for each side.
N_MOST = 15
FIRST, SECOND = "first", "second"


@dataclass(frozen=True)
class Side:
    """One of the two, with its score over the segments or outputs that both have.

    `is_turned`: lower is better, and differences have the sign reversed, so that a positive
    difference always means better.
    """

    key: str
    label: str
    score: float | None
    is_turned: bool = False


@dataclass(frozen=True)
class Part:
    """Wins, ties or losses: their number, and their share with its interval."""

    count: int
    share: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Difference:
    """One segment on which the two differ; `side` is the one that is ahead.

    Systems have two outputs, metrics one, with its `human` score where it is known.
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
    """A choice for one of the two, or for the measure that compares them."""

    key: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Pair(CampaignDocument):
    """The comparison: `wins` of the first side, of `n` outcomes, by the measure `by`.

    `is_of_humans`: the human scores, not a metric, decide. `lead` is wins less losses,
    `difference` the mean difference of scores. `problem` is the reason where there is nothing to
    compare; the fields below it are empty then.
    """

    offered: Sequence[Offered]
    measures: Sequence[Offered]
    by: Message | str = ""
    is_of_humans: bool = True
    problem: Message | None = None
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
    """Return side and position of the largest gaps, first those where the first is ahead."""
    known = np.nan_to_num(gaps)
    high, low = (np.argsort(side, kind="stable")[:N_MOST] for side in (-known, known))
    ahead = [(FIRST, int(place)) for place in high if known[place] > 0]
    return ahead + [(SECOND, int(place)) for place in low if known[place] < 0]
