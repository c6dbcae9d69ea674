"""Whether control items can tell who reads: those that a design plants, those that were answered.

A design is one annotator's numbers of control items; the rules are those of `verdict`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotation.models import Campaign, Item
from annotation.quality.verdict import ITEMS, PAIRS_TO_FAIL, PAIRS_TO_PASS, Checks, Verdict

# With 10 traps somebody who passes nine in ten fails in 1.3 % by bad luck, with 5 in 8.1 %.
TRAPS = 10
MOST_TRAPS = 60
OUTPUTS_A_TRAP = 10
DECIDING = (Item.Kind.TRAP, Item.Kind.BAD_REF, Item.Kind.GOLD)
NEEDED = (
    f"a verdict takes {ITEMS} traps or gold items, or {PAIRS_TO_FAIL} bad references "
    f"({PAIRS_TO_PASS} where the difference is clear), answered by one annotator"
)
UNSCORED = "Traps and gold items decide nothing here: this protocol gives no score."


class Reach(StrEnum):
    """What a design can find out about an annotator who finishes."""

    ENOUGH = "enough"
    PASSES = "passes alone"
    FEW = "few"
    NONE = "none"


ADVICE = {
    Reach.PASSES: f"{PAIRS_TO_PASS} bad references can show that somebody reads, but only "
    f"{PAIRS_TO_FAIL} that somebody does not: random clicking would have no verdict.",
    Reach.FEW: "So few control items test nobody, and random clicking would go unnoticed: "
    f"{NEEDED}.",
    Reach.NONE: "Without control items nobody is tested, and random clicking would go "
    f"unnoticed: {NEEDED}.",
}


def reach_of(*, traps: int, bad_references: int, gold: int = 0, has_score: bool = True) -> Reach:
    """Return what so many control items for each annotator can find out."""
    items = max(traps, gold) if has_score else 0
    if items >= ITEMS or bad_references >= PAIRS_TO_FAIL:
        return Reach.ENOUGH
    if bad_references >= PAIRS_TO_PASS:
        return Reach.PASSES
    return Reach.FEW if items or bad_references else Reach.NONE


def proposed_traps(possible: int, n_outputs: int) -> int:
    """Return how many traps to plant: enough for a verdict, a tenth of the outputs, at most 60.

    None where the test set has too few segments that can be cut (`possible`) for a verdict.
    """
    if possible < ITEMS:
        return 0
    return min(possible, max(TRAPS, min(MOST_TRAPS, n_outputs // OUTPUTS_A_TRAP)))


def design_doubt(campaign: Campaign) -> str:
    """Say why a campaign's control items can give no verdict; empty where they can."""
    if campaign.origin == Campaign.Origin.IMPORTED:
        return ""
    has_score = campaign.judging.has_score
    found = reach_of(
        traps=campaign.traps_per_annotator,
        bad_references=campaign.bad_references_per_annotator,
        gold=campaign.items.filter(kind=Item.Kind.GOLD).count(),
        has_score=has_score,
    )
    if found == Reach.ENOUGH:
        return ""
    return ADVICE[found] if has_score else f"{UNSCORED} {ADVICE[found]}"


@dataclass(frozen=True)
class Tested:
    """How many of `n` annotators have a verdict, who fails, and all of it in a sentence."""

    n: int
    tested: int
    failing: tuple[str, ...]
    sentence: str


def who_was_tested(campaign: Campaign, people: Sequence[tuple[str, Checks]]) -> Tested:
    """Say of annotators, by name, how many the control items have tested."""
    judged = [(name, checks) for name, checks in people if checks.verdict != Verdict.UNKNOWN]
    failing = tuple(name for name, checks in judged if checks.verdict == Verdict.FAILS)
    n, n_judged = len(people), len(judged)
    if not n_judged:
        sentence = f"Nobody was tested: {_why_nobody(campaign, [each for _, each in people])}"
    elif failing:
        sentence = f"{len(failing):,} of {n_judged:,} tested annotators fail the control items."
    else:
        sentence = f"None of {n_judged:,} tested annotators fails the control items."
    if 0 < n_judged < n:
        sentence += f" The other {n - n_judged:,} were not tested: {NEEDED}."
    return Tested(n, n_judged, failing, sentence)


def _why_nobody(campaign: Campaign, checks: Sequence[Checks]) -> str:
    if not checks:
        return "there are no judgments."
    has_score = campaign.judging.has_score
    deciding = DECIDING if has_score else (Item.Kind.BAD_REF,)
    if not campaign.items.filter(kind__in=deciding).exists():
        return f"no control items that decide were planted ({NEEDED})."
    missing, of_what, n = min(_missing(each) for each in checks)
    if not n:
        return f"no control items were answered yet ({NEEDED})."
    more = "1 more is" if missing == 1 else f"{missing:,} more are"
    return f"{NEEDED}. The most anybody has is {n:,} {of_what}: {more} needed."


def _missing(checks: Checks) -> tuple[int, str, int]:
    """How many more control items a verdict on one annotator takes, of which, and how many are."""
    counts = (
        (ITEMS, "traps", checks.traps.n if checks.traps else 0),
        (ITEMS, "gold items", checks.gold.n if checks.gold else 0),
        (PAIRS_TO_FAIL, "bad references", checks.bad_references.n if checks.bad_references else 0),
    )
    return min(((need - n, what, n) for need, what, n in counts if n), default=(ITEMS, "traps", 0))
