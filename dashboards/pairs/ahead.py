"""A pair in a sentence: who comes out ahead, how often, and whether that can be told."""

from dashboards.pairs.document import Pair, Part
from dashboards.results.answer import Answer, number
from dashboards.results.answer import Part as Piece

# Fewer outcomes on which two are at odds say little, whatever their share.
FEW = 20


def answer(pair: Pair, what: str, doubt: str = "") -> Answer:
    """Return the sentence; `what` is in the plural what wins are counted over.

    `doubt` says why nobody may be called better, whatever the numbers; empty where nothing does.
    """
    if pair.first is None or pair.second is None or not (pair.wins and pair.losses and pair.lead):
        return Answer("nothing", [Piece(pair.problem)])
    if not pair.n:
        said = "The humans tell no two outputs apart, so the two cannot be compared."
        return Answer("unjudged", [Piece(said)])
    ahead, behind = pair.first, pair.second
    wins, losses = pair.wins, pair.losses
    if losses.count > wins.count:
        ahead, behind, wins, losses = behind, ahead, losses, wins
    names = [Piece(ahead.label, ahead.key), Piece(behind.label, behind.key)]
    n, won, lost = f"{pair.n:,}", percent(wins), percent(losses)
    if is_told(pair.lead) and not doubt:
        said = f": ahead on {won} of {n} {what}, behind on {lost}."
        return Answer("ahead", [names[0], Piece(" beats "), names[1], Piece(said)])
    first = [names[0], Piece(" and "), names[1], Piece(" cannot be told apart")]
    if wins.count == losses.count:
        return Answer("even", [*first, Piece(f": each is ahead on {won} of {n} {what}.")])
    said = f": {ahead.label} is ahead on {won} of {n} {what}, behind on {lost}."
    return Answer("doubted" if doubt else "indistinct", [*first, Piece(said)], doubt)


def rests_on(pair: Pair, what: str) -> str:
    """Return on how much a comparison of shares rests: outcomes on which the two are at odds."""
    if not (pair.n and pair.wins and pair.losses):
        return ""
    n_odds = pair.wins.count + pair.losses.count
    if n_odds < FEW:
        return (
            f"The two are at odds on {n_odds:,} of these {pair.n:,} {what}; the others are even, "
            f"so this rests on very little (fewer than {FEW})."
        )
    return f"The two are at odds on {n_odds:,} of these {pair.n:,} {what}; the others are even."


def is_told(part: Part) -> bool:
    """Whether an interval is known and leaves zero out."""
    return part.low is not None and part.high is not None and not part.low <= 0 <= part.high


def percent(part: Part) -> str:
    """`52 %`."""
    return "–" if part.share is None else f"{100 * part.share:.0f} %"


def ends(part: Part, *, is_share: bool = True) -> str:
    """`[42, 62]` of a share, `[−.10, .26]` of a score; empty without an interval."""
    if part.low is None or part.high is None:
        return ""
    low, high = (
        f"{100 * end:.0f}".replace("-", "−") if is_share else number(end)
        for end in (part.low, part.high)
    )
    return f"[{low}, {high}]"
