"""Compute the changes that a trial can detect, with the present and with more data."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation.prefill.suggestions import Condition
from extensions.trials.read import Rated
from metaeval.arrays import BoolArray
from metaeval.judgments.trial import mean_power, rate_half_width, rate_power, smallest_change
from metaeval.messages import Message, message

# Assumed rates.
ACCEPTED, MISSED = 0.3, 0.3
MOST_RISE = 0.6
LABELS = {
    "now": message("trial.plan-now", "Present data"),
    "people": message("trial.plan-annotators", "Twice the annotators"),
    "items": message("trial.plan-outputs", "Twice the outputs"),
}


@dataclass(frozen=True)
class Reach:
    """The smallest changes that a number of annotators and items detects with a power of 0.8.

    `time` is a ratio, `accepted` half the width of a rate's interval, `missed` a rise of a rate;
    None where no change is detected, or the trial has no such items.
    """

    plan: str
    n_annotators: int
    n_items: int
    time: float | None
    accepted: float | None
    missed: float | None

    @property
    def label(self) -> Message:
        """The name of the plan."""
        return LABELS[self.plan]


def reach(rated: Rated) -> list[Reach]:
    """Return the present plan, one with twice the annotators, and one with twice the items each."""
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
