"""Answer which of two is ahead, how often, and whether the data show it."""

from core.numbers import NOTHING, bare_interval
from dashboards.documents.head import counted
from dashboards.pairs.document import Pair, Part
from dashboards.results.answer import Answer
from metaeval.messages import MINUS, Message, message, plural

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
