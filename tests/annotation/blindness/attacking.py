"""An attacker who has the source code: opens the campaign again and reads the answers off it.

The attacker knows the label of every annotator, the public settings and the campaign file, and
makes a second campaign of that with a secret of their own. The item at a position there is the
prediction for the same position here.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from scipy.stats import fisher_exact

from annotation.campaign_files import open_file, to_values
from annotation.models import Campaign, Item
from annotation.uploads import InputFile, Report
from tests.annotation.blindness.guessing import BOUND
from tests.annotation.blindness.worlds import Answering, Clock, Shown

Position = tuple[str, int]
Positions = Mapping[Position, Shown]


@dataclass(frozen=True)
class Attack:
    """How well predictions fit: a 2 × 2 table of what is so and what was predicted."""

    hits: int
    misses: int
    alarms: int
    rejections: int

    @property
    def pvalue(self) -> float:
        """One-sided, of Fisher's exact test."""
        table = [[self.hits, self.misses], [self.alarms, self.rejections]]
        return float(fisher_exact(table, alternative="greater").pvalue)

    @property
    def is_chance(self) -> bool:
        """Whether this many hits come by chance."""
        return self.pvalue > BOUND

    def __str__(self) -> str:
        n, others = self.hits + self.misses, self.alarms + self.rejections
        return f"{self.hits} of {n}, {self.alarms} false of {others}, p {self.pvalue:.1e}"


def open_again(campaign: Campaign, *, with_secret: bool = False) -> Campaign:
    """Open the file of a campaign as another campaign, which everybody who reads it can do."""
    values = to_values(campaign, with_secret=with_secret)
    values["task"]["slug"] = f"{campaign.slug}-{'owned' if with_secret else 'again'}"
    report = Report()
    file = InputFile.holding("campaign.json", json.dumps(values).encode())
    opened = open_file(file, report)
    assert opened is not None, report.errors
    return opened.campaign


def answer_everything(campaign: Campaign, clock: Clock) -> Positions:
    """Have all annotators rate in turns that a seed draws; return what stood at each position."""
    people = [
        Answering(annotator, clock)
        for annotator in campaign.annotators.select_related("user", "campaign").order_by("pk")
    ]
    rng = random.Random(f"turns:{campaign.slug}")
    while at_work := [person for person in people if not person.is_done]:
        rng.choice(at_work).rate()
    return {
        (person.annotator.label, shown.position): shown
        for person in people
        for shown in person.shown
        if shown.head.kind != Item.Kind.TUTORIAL
    }


def attacks(real: Positions, again: Positions) -> dict[str, Attack]:
    """Predict from the second campaign, and from the order of another annotator of the first."""
    labels = sorted({label for label, _ in real})
    next_label = dict(zip(labels, [*labels[1:], labels[0]], strict=True))
    compared = {(label, n): real.get((next_label[label], n)) for label, n in real}
    found = {}
    for what, predicted in (("code", again), ("notes", compared)):
        pairs = [(real[key], other) for key in real if (other := predicted.get(key))]
        found[f"control by {what}"] = _attack(pairs, lambda shown: shown.is_control)
        targets = [pair for pair in pairs if not any(shown.is_control for shown in pair)]
        system = min(shown.first_system or 0 for shown, _ in targets)
        found[f"system by {what}"] = _attack(
            targets, lambda shown, system=system: shown.first_system == system
        )
    found["rated by code"] = _better_than_another(real, again, next_label)
    return found


def _attack(pairs: list[tuple[Shown, Shown]], label: Callable[[Shown], bool]) -> Attack:
    return table((label(shown), label(predicted)) for shown, predicted in pairs)


def _better_than_another(
    real: Positions, again: Positions, next_label: Mapping[str, str]
) -> Attack:
    """Whether the prediction for an annotator fits better than that for another one does.

    The later it is, the more is rated by others; that holds for all annotators and is no secret.
    """
    return table(
        (is_own, (real[key].n_others > 0) == (predicted.n_others > 0))
        for key in real
        for is_own, label in ((True, key[0]), (False, next_label[key[0]]))
        if (predicted := again.get((label, key[1])))
    )


def table(rows: Iterator[tuple[bool, bool]]) -> Attack:
    """Count pairs of what is so and what was predicted."""
    table = {(truth, predicted): 0 for truth in (True, False) for predicted in (True, False)}
    for row in rows:
        table[row] += 1
    return Attack(table[True, True], table[True, False], table[False, True], table[False, False])
