"""What a trial of so many people and items can tell, and what more of either would buy."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation.prefill.suggestions import Condition
from extensions.trials.read import Rated
from metaeval.arrays import BoolArray
from metaeval.judgments.trial import mean_power, rate_half_width, rate_power, smallest_change

# Rates that are planned with before any is known.
ACCEPTED, MISSED = 0.3, 0.3
MOST_RISE = 0.6
LABELS = {"now": "As it stands", "people": "Twice the people", "items": "Twice the outputs"}


@dataclass(frozen=True)
class Reach:
    """The smallest changes found with a power of 0.8 by so many people.

    `time` is a ratio, `accepted` half an interval's width in points of a rate, `missed` a rise of
    a rate; None where no change is found, or nothing of the kind is shown.
    """

    plan: str
    n_annotators: int
    n_items: int
    time: float | None
    accepted: float | None
    missed: float | None

    @property
    def label(self) -> str:
        """The plan in words."""
        return LABELS[self.plan]


def reach(rated: Rated) -> list[Reach]:
    """Return what there is, twice the people, and twice the items for each."""
    people = len(np.unique(rated.annotator))
    if people < 2:
        return []
    items = _per_person(rated, rated.among(Condition.BLANK, Condition.PREFILLED)) // 2
    planted = _per_person(rated, rated.among(Condition.PLANTED) & ~np.isnan(rated.accepted))
    known = _per_person(rated, rated.among(Condition.WITHHELD) & ~np.isnan(rated.missed))
    return [
        _reach(plan, people * more_people, *(n * more for n in (items, planted, known)))
        for plan, more_people, more in (("now", 1, 1), ("people", 2, 1), ("items", 1, 2))
    ]


def _per_person(rated: Rated, chosen: BoolArray) -> int:
    own = rated.annotator[chosen]
    return round(len(own) / max(1, len(np.unique(rated.annotator))))


def _reach(plan: str, people: int, items: int, planted: int, known: int) -> Reach:
    time = _smallest(lambda change: mean_power(change, people, items)) if items else None
    rise = (
        _smallest(lambda more: rate_power(MISSED, MISSED + more, people, known), MOST_RISE)
        if known
        else None
    )
    return Reach(
        plan=plan,
        n_annotators=people,
        n_items=items,
        time=None if time is None else float(np.exp(-time)),
        accepted=rate_half_width(ACCEPTED, people, planted) if planted else None,
        missed=rise,
    )


def _smallest(power_of: Callable[[float], float], largest: float = 3.0) -> float | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return smallest_change(power_of, largest=largest)
