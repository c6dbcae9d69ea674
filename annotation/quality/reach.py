"""Assess whether control items suffice: those that a design plants, and those that were answered.

A design is one annotator's numbers of control items; the rules are those of `verdict`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotation.models import Campaign, Item
from annotation.quality.verdict import (
    BAD_REFERENCES,
    CONTROLS,
    GOLD,
    ITEMS,
    PAIRS_TO_FAIL,
    PAIRS_TO_PASS,
    TRAPS,
    Checks,
    Verdict,
)
from metaeval.messages import Message, message, plural

# An annotator who passes nine in ten traps fails by chance in 1.3% of cases with 10 traps, in 8.1%
# with 5.
USUAL_TRAPS = 10
MOST_TRAPS = 60
OUTPUTS_A_TRAP = 10
DECIDING = (Item.Kind.TRAP, Item.Kind.BAD_REF, Item.Kind.GOLD)
NEEDED = message(
    "controls.needed",
    "An annotator can be assessed after {items} traps or gold items, or after {most} bad "
    "references ({least} if the difference is clear).",
    items=ITEMS,
    most=PAIRS_TO_FAIL,
    least=PAIRS_TO_PASS,
)
UNSCORED = message(
    "controls.unscored",
    "Traps and gold items cannot be used to assess annotators here: this protocol has no score.",
)


class Reach(StrEnum):
    """What a design can find out about an annotator who finishes."""

    ENOUGH = "enough"
    PASSES = "passes alone"
    FEW = "few"
    NONE = "none"


ADVICE: dict[Reach, Sequence[Message]] = {
    Reach.PASSES: (
        message(
            "controls.passes-alone",
            "With {least} bad references an annotator can pass, but only with {most} can one fail: "
            "random clicking would not be detected.",
            least=PAIRS_TO_PASS,
            most=PAIRS_TO_FAIL,
        ),
    ),
    Reach.FEW: (
        message(
            "controls.few",
            "There are too few control items: annotators cannot be assessed, and random clicking "
            "would not be detected.",
        ),
        NEEDED,
    ),
    Reach.NONE: (
        message(
            "controls.none",
            "Without control items annotators cannot be assessed, and random clicking would not be "
            "detected.",
        ),
        NEEDED,
    ),
}


def reach_of(*, traps: int, bad_references: int, gold: int = 0, has_score: bool = True) -> Reach:
    """Return what these numbers of control items per annotator can find out."""
    items = max(traps, gold) if has_score else 0
    if items >= ITEMS or bad_references >= PAIRS_TO_FAIL:
        return Reach.ENOUGH
    if bad_references >= PAIRS_TO_PASS:
        return Reach.PASSES
    return Reach.FEW if items or bad_references else Reach.NONE


def proposed_traps(possible: int, n_outputs: int) -> int:
    """Return how many traps to plant: enough for a verdict, a tenth of the outputs, at most 60.

    Returns 0 if the test set has too few segments that can be cut (`possible`) for a verdict.
    """
    if possible < ITEMS:
        return 0
    return min(possible, max(USUAL_TRAPS, min(MOST_TRAPS, n_outputs // OUTPUTS_A_TRAP)))


def design_warnings(campaign: Campaign) -> Sequence[Message]:
    """Return why a campaign's control items cannot give a verdict; empty if they can."""
    if campaign.origin == Campaign.Origin.IMPORTED:
        return ()
    has_score = campaign.judging.has_score
    found = reach_of(
        traps=campaign.traps_per_annotator,
        bad_references=campaign.bad_references_per_annotator,
        gold=campaign.items.filter(kind=Item.Kind.GOLD).count(),
        has_score=has_score,
    )
    if found == Reach.ENOUGH:
        return ()
    return ADVICE[found] if has_score else (UNSCORED, *ADVICE[found])


@dataclass(frozen=True)
class Tested:
    """How many of `n` annotators have a verdict, who fails, and all of it in words."""

    n: int
    tested: int
    failing: tuple[str, ...]
    messages: Sequence[Message]


def who_was_tested(campaign: Campaign, people: Sequence[tuple[str, Checks]]) -> Tested:
    """Summarise how many annotators, given by name, have been assessed by control items."""
    judged = [(name, checks) for name, checks in people if checks.verdict != Verdict.UNKNOWN]
    failing = tuple(name for name, checks in judged if checks.verdict == Verdict.FAILS)
    n, n_judged = len(people), len(judged)
    if not n_judged:
        found = [NOBODY, *_why_nobody(campaign, [each for _, each in people])]
    else:
        found = [_result(len(failing), n_judged)]
    if 0 < n_judged < n:
        found += [
            plural(
                "controls.not-assessed",
                "{n} other annotator has not rated enough control items to be assessed.",
                "{n} other annotators have not rated enough control items to be assessed.",
                n=n - n_judged,
            ),
            NEEDED,
        ]
    return Tested(n, n_judged, failing, found)


NOBODY = message("controls.nobody", "No annotator has been assessed.")
NO_JUDGMENTS = message("controls.no-judgments", "There are no judgments.")
NOT_PLANTED = message(
    "controls.not-planted", "The campaign has no control items that annotators are assessed by."
)
NOT_ANSWERED = message("controls.not-answered", "No control item has been rated yet.")


def _result(n_failing: int, n_judged: int) -> Message:
    if not n_failing:
        return plural(
            "controls.none-fails",
            "The only annotator who was assessed does not fail the control items.",
            "None of the {n} assessed annotators fails the control items.",
            n=n_judged,
        )
    return plural(
        "controls.fail",
        "{n} of {total} assessed annotators fails the control items.",
        "{n} of {total} assessed annotators fail the control items.",
        n=n_failing,
        total=n_judged,
    )


def _why_nobody(campaign: Campaign, checks: Sequence[Checks]) -> list[Message]:
    if not checks:
        return [NO_JUDGMENTS]
    deciding = DECIDING if campaign.judging.has_score else (Item.Kind.BAD_REF,)
    if not campaign.items.filter(kind__in=deciding).exists():
        return [NOT_PLANTED, NEEDED]
    missing, kind, n = min(_missing(each) for each in checks)
    if not n:
        return [NOT_ANSWERED, NEEDED]
    return [
        NEEDED,
        message(
            "controls.closest",
            "The annotator who is closest has rated {n} {kind} and needs {missing} more.",
            n=n,
            kind=CONTROLS[kind],
            missing=missing,
        ),
    ]


def _missing(checks: Checks) -> tuple[int, str, int]:
    """Return how many more control items a verdict needs, of which kind, and how many were rated.

    The kind is the one that needs the fewest.
    """
    counts = (
        (ITEMS, TRAPS, checks.traps.n if checks.traps else 0),
        (ITEMS, GOLD, checks.gold.n if checks.gold else 0),
        (PAIRS_TO_FAIL, BAD_REFERENCES, checks.bad_references.n if checks.bad_references else 0),
    )
    return min(((need - n, kind, n) for need, kind, n in counts if n), default=(ITEMS, TRAPS, 0))
