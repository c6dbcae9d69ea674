"""Who is shown what in a trial: conditions by document, balanced over people and documents.

Each document goes through as many conditions as it has raters (a Latin square where shares are
equal and everybody rates everything), and each person gets the shares as nearly as whole documents
allow, in every block of length and system.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.prefill.suggestions import Condition

# Of the suggestions that a person is shown, at most so many are planted.
MOST_PLANTED = 0.15
# Nothing planted among so many first items: trust is lost once.
FIRST_ITEMS = 3
FREE = (Condition.BLANK, Condition.PREFILLED)


@dataclass(frozen=True)
class Unit:
    """A document as one person rates it: who does, its block, and what it can be shown with.

    `n_shown` counts its suggestions, `n_withheld` those that stand for the known error.
    """

    raters: Sequence[int]
    block: str
    conditions: frozenset[Condition]
    n_shown: int = 0
    n_withheld: int = 0


Conditions = list[dict[int, Condition]]


def draw_conditions(
    units: Sequence[Unit], shares: Mapping[Condition, int], *, rng: random.Random
) -> Conditions:
    """Return, for each unit, the condition of each of its raters.

    A unit that cannot be shown in a condition has its part of that prefilled.
    """
    sets = _sets(units, shares, rng)
    due: dict[int, Counter[Condition]] = defaultdict(Counter)
    due_in_block: dict[tuple[int, str], Counter[Condition]] = defaultdict(Counter)
    found: Conditions = [{} for _ in units]
    for number in rng.sample(range(len(units)), len(units)):
        unit = units[number]
        wanted = _wanted(unit, shares)
        for rater in unit.raters:
            for counts in (due[rater], due_in_block[rater, unit.block]):
                counts.update(wanted)
        left = rng.sample(unit.raters, len(unit.raters))
        for condition in sorted(sets[number], key=lambda each: wanted[each]):
            rater = max(left, key=lambda a: (
                due[a][condition] + due_in_block[a, unit.block][condition]
            ))  # fmt: skip
            left.remove(rater)
            found[number][rater] = condition
            for counts in (due[rater], due_in_block[rater, unit.block]):
                counts[condition] -= 100
    return found


def _wanted(unit: Unit, shares: Mapping[Condition, int]) -> Counter[Condition]:
    """What one rater of a unit is due of each condition, in percent."""
    wanted: Counter[Condition] = Counter()
    for condition, share in shares.items():
        wanted[condition if condition in unit.conditions else Condition.PREFILLED] += share
    return wanted


def _sets(
    units: Sequence[Unit], shares: Mapping[Condition, int], rng: random.Random
) -> list[list[Condition]]:
    """The conditions of each unit's raters: whole numbers that follow the shares by block."""
    due: Counter[Condition] = Counter()
    # Where one person alone rates a document, its condition is theirs.
    alone: dict[int, Counter[Condition]] = defaultdict(Counter)
    found: list[list[Condition]] = [[] for _ in units]
    order = sorted(rng.sample(range(len(units)), len(units)), key=lambda n: units[n].block)
    for number in order:
        unit = units[number]
        wanted = _wanted(unit, shares)
        size = len(unit.raters)
        own = alone[unit.raters[0]] if size == 1 else Counter[Condition]()
        due.update({condition: share * size for condition, share in wanted.items()})
        if size == 1:
            own.update(wanted)
        possible = rng.sample([c for c, share in wanted.items() if share], k=len(+wanted))
        for _ in unit.raters:
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
    """No condition twice in a document while another one that is due has not been met there."""

    def how_much(condition: Condition) -> int:
        left = wanted[condition] * size - 100 * met.count(condition) + 99
        return min(due[condition], left) + 2 * own[condition]

    return max(possible, key=how_much)


def cap_planted(units: Sequence[Unit], conditions: Conditions, *, rng: random.Random) -> int:
    """Prefill planted documents of whoever would be shown too many planted errors.

    Changes `conditions` and returns how many documents it changed.
    """
    by_person: dict[int, list[int]] = defaultdict(list)
    for number, own in enumerate(conditions):
        for rater in own:
            by_person[rater].append(number)
    changed = 0
    for rater, numbers in sorted(by_person.items()):
        planted = [n for n in numbers if conditions[n][rater] == Condition.PLANTED]
        rng.shuffle(planted)
        while planted and len(planted) > MOST_PLANTED * _n_shown(units, conditions, rater, numbers):
            conditions[planted.pop()][rater] = Condition.PREFILLED
            changed += 1
    return changed


def _n_shown(
    units: Sequence[Unit], conditions: Conditions, rater: int, numbers: Sequence[int]
) -> int:
    """How many suggestions somebody is shown, planted ones among them."""
    total = 0
    for number in numbers:
        unit, condition = units[number], conditions[number][rater]
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
