"""Draw the conditions of a trial by document, balanced over annotators and documents.

Each document gets as many conditions as it has annotators (a Latin square if shares are equal and
every annotator rates every document), and each annotator gets the shares as closely as whole
documents allow, in every block of length and system.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.prefill.suggestions import Condition

# The largest share of planted suggestions among those that an annotator is shown.
MOST_PLANTED = 0.15
# No error is planted in this many first items, because annotators would lose trust.
FIRST_ITEMS = 3
FREE = (Condition.BLANK, Condition.PREFILLED)


@dataclass(frozen=True)
class Unit:
    """A document with its annotators, its block, and its possible conditions.

    `n_shown` counts its suggestions, `n_withheld` the suggestions of the known error.
    """

    annotators: Sequence[int]
    block: str
    conditions: frozenset[Condition]
    n_shown: int = 0
    n_withheld: int = 0


Conditions = list[dict[int, Condition]]


def draw_conditions(
    units: Sequence[Unit], shares: Mapping[Condition, int], *, rng: random.Random
) -> Conditions:
    """Return, for each unit, the condition of each of its annotators.

    A unit for which a condition is not possible is prefilled instead.
    """
    sets = _sets(units, shares, rng)
    due: dict[int, Counter[Condition]] = defaultdict(Counter)
    due_in_block: dict[tuple[int, str], Counter[Condition]] = defaultdict(Counter)
    found: Conditions = [{} for _ in units]
    for number in rng.sample(range(len(units)), len(units)):
        unit = units[number]
        wanted = _wanted(unit, shares)
        for annotator in unit.annotators:
            for counts in (due[annotator], due_in_block[annotator, unit.block]):
                counts.update(wanted)
        left = rng.sample(unit.annotators, len(unit.annotators))
        for condition in sorted(sets[number], key=lambda each: wanted[each]):
            annotator = max(left, key=lambda a: (
                due[a][condition] + due_in_block[a, unit.block][condition]
            ))  # fmt: skip
            left.remove(annotator)
            found[number][annotator] = condition
            for counts in (due[annotator], due_in_block[annotator, unit.block]):
                counts[condition] -= 100
    return found


def _wanted(unit: Unit, shares: Mapping[Condition, int]) -> Counter[Condition]:
    """Return the share of each condition for one annotator of a unit, in percent."""
    wanted: Counter[Condition] = Counter()
    for condition, share in shares.items():
        wanted[condition if condition in unit.conditions else Condition.PREFILLED] += share
    return wanted


def _sets(
    units: Sequence[Unit], shares: Mapping[Condition, int], rng: random.Random
) -> list[list[Condition]]:
    """Return the conditions of each unit's annotators, which follow the shares by block."""
    due: Counter[Condition] = Counter()
    # If one annotator rates a document, the document's condition is that annotator's.
    alone: dict[int, Counter[Condition]] = defaultdict(Counter)
    found: list[list[Condition]] = [[] for _ in units]
    order = sorted(rng.sample(range(len(units)), len(units)), key=lambda n: units[n].block)
    for number in order:
        unit = units[number]
        wanted = _wanted(unit, shares)
        size = len(unit.annotators)
        own = alone[unit.annotators[0]] if size == 1 else Counter[Condition]()
        due.update({condition: share * size for condition, share in wanted.items()})
        if size == 1:
            own.update(wanted)
        possible = rng.sample([c for c, share in wanted.items() if share], k=len(+wanted))
        for _ in unit.annotators:
            chosen = _most_due(possible, due, own, found[number], wanted, size)
            due[chosen] -= 100
            if size == 1:
                own[chosen] -= 100
            found[number].append(chosen)
    return found


def _most_due(
    possible: Sequence[Condition],
    due: Counter[Condition],
    own: Counter[Condition],
    met: Sequence[Condition],
    wanted: Counter[Condition],
    size: int,
) -> Condition:
    """Return the condition that is due most, among those not yet used in the document."""

    def how_much(condition: Condition) -> int:
        left = wanted[condition] * size - 100 * met.count(condition) + 99
        return min(due[condition], left) + 2 * own[condition]

    return max(possible, key=how_much)


def cap_planted(units: Sequence[Unit], conditions: Conditions, *, rng: random.Random) -> int:
    """Prefill planted documents of annotators who would be shown too many planted errors.

    Changes `conditions` and returns how many documents it changed.
    """
    by_person: dict[int, list[int]] = defaultdict(list)
    for number, own in enumerate(conditions):
        for annotator in own:
            by_person[annotator].append(number)
    changed = 0
    for annotator, numbers in sorted(by_person.items()):
        planted = [n for n in numbers if conditions[n][annotator] == Condition.PLANTED]
        rng.shuffle(planted)
        while planted and len(planted) > MOST_PLANTED * _n_shown(
            units, conditions, annotator, numbers
        ):
            conditions[planted.pop()][annotator] = Condition.PREFILLED
            changed += 1
    return changed


def _n_shown(
    units: Sequence[Unit], conditions: Conditions, annotator: int, numbers: Sequence[int]
) -> int:
    """Return how many suggestions an annotator is shown, including planted ones."""
    total = 0
    for number in numbers:
        unit, condition = units[number], conditions[number][annotator]
        if condition != Condition.BLANK:
            total += unit.n_shown
        if condition == Condition.WITHHELD:
            total -= unit.n_withheld
        total += condition == Condition.PLANTED
    return total


def late_planted(
    screens: Sequence[Sequence[int]], planted: frozenset[int], *, rng: random.Random
) -> list[Sequence[int]]:
    """Return screens of items in their order, with none planted among the first items.

    Each that comes too early changes places with a later one drawn at random; where all that
    follow are planted, too, it stays, which the caller has to see to.
    """
    order = list(screens)
    n_items = place = 0
    while place < len(order) and n_items < FIRST_ITEMS:
        if planted & set(order[place]):
            later = [n for n in range(place + 1, len(order)) if not planted & set(order[n])]
            if not later:
                break
            other = rng.choice(later)
            order[place], order[other] = order[other], order[place]
        n_items += len(order[place])
        place += 1
    return order
