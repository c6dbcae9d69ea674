"""The document of the pages that compare two systems or two metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.numbers import NOTHING, bare_interval
from dashboards.documents.head import CampaignDocument, counted
from dashboards.panel.human import Floats
from dashboards.results.answer import Answer
from metaeval import Interval
from metaeval.messages import MINUS, Message, message, plural
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


# Answer which of two is ahead, how often, and whether the data show it.

# With fewer outcomes that are not ties, a comparison of shares is weak.
FEW = 20
SEGMENTS, OUTPUT_PAIRS = "segments", "output-pairs"
UNDISTINGUISHED = message(
    "pair.unjudged",
    "The humans do not distinguish any two outputs, so the two metrics cannot be compared.",
)
NOTHING_COMPARED = message("pair.nothing", "The two cannot be compared here.")


def outcomes(over: str, n: int) -> Message:
    """Return a number of outcomes: of segments, or of pairs of outputs."""
    if over == SEGMENTS:
        return counted(over, n)
    return plural("units.output-pairs", "{n} pair of outputs", "{n} pairs of outputs", n=n)


def answer(pair: Pair, over: str, reason: Message | None = None) -> Answer:
    """Return the answer; `over` is the unit of wins.

    `reason` says why neither may be called better, whatever the numbers; None where they may.
    """
    if pair.first is None or pair.second is None or not (pair.wins and pair.losses and pair.lead):
        return Answer("nothing", pair.problem or NOTHING_COMPARED)
    if not pair.n:
        return Answer("unjudged", UNDISTINGUISHED)
    ahead, behind = pair.first, pair.second
    wins, losses = pair.wins, pair.losses
    if losses.count > wins.count:
        ahead, behind, wins, losses = behind, ahead, losses, wins
    keys = {ahead.label: ahead.key, behind.label: behind.key}
    names = {"first": ahead.label, "second": behind.label, "won": wins.share}
    total = outcomes(over, pair.n)
    if is_clear(pair.lead) and reason is None:
        sentence = message(
            "pair.ahead",
            "{first} beats {second}: it is ahead on {won:percent} of {total} and behind on "
            "{lost:percent}.",
            **names,
            lost=losses.share,
            total=total,
        )
        return Answer("ahead", sentence, keys=keys)
    if wins.count == losses.count:
        sentence = message(
            "pair.even",
            "{first} and {second} cannot be distinguished: each is ahead on {won:percent} of "
            "{total}.",
            **names,
            total=total,
        )
        return Answer("even", sentence, keys=keys)
    sentence = message(
        "pair.indistinct",
        "{first} and {second} cannot be distinguished: {first} is ahead on {won:percent} of "
        "{total} and behind on {lost:percent}.",
        **names,
        lost=losses.share,
        total=total,
    )
    if reason is None:
        return Answer("indistinct", sentence, keys=keys)
    return Answer("doubted", sentence, [reason], keys)


def ties_note(pair: Pair, over: str) -> list[Message]:
    """Return how many outcomes are not ties, because only these decide."""
    if not (pair.n and pair.wins and pair.losses):
        return []
    n = pair.wins.count + pair.losses.count
    decided = message(
        "pair.decided",
        "One of the two is ahead on {decided} of these {total}; the others are ties.",
        decided=n,
        total=outcomes(over, pair.n),
    )
    if n >= FEW:
        return [decided]
    weak = message(
        "pair.few-decided",
        "These are fewer than {least}, so the comparison is weak.",
        least=FEW,
    )
    return [decided, weak]


def is_clear(part: Part) -> bool:
    """Return whether an interval is known and excludes zero."""
    return part.low is not None and part.high is not None and not part.low <= 0 <= part.high


def percent(part: Part) -> str:
    """Return a share as `52%`; a dash without one."""
    return NOTHING if part.share is None else f"{part.share:.0%}"


def ends(part: Part, *, is_share: bool = True) -> str:
    """Return `[42, 62]` for a share, `[−.10, .26]` for a score; empty without an interval."""
    if part.low is None or part.high is None:
        return ""
    if not is_share:
        return bare_interval(part.low, part.high)
    low, high = (f"{100 * end:z.0f}".replace("-", MINUS) for end in (part.low, part.high))
    return f"[{low}, {high}]"
