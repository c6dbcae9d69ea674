"""Order an annotator's targets and controls at random, with a distance between controls."""

import random
from collections.abc import Mapping, Sequence
from itertools import pairwise

TRIES = 200


class CrowdedError(ValueError):
    """The controls do not fit between the targets with the required spacing."""


def spaced_order(
    n_targets: int,
    partners: Sequence[int | None],
    spacing: int,
    *,
    rng: random.Random,
    n_even: int = 0,
) -> list[int]:
    """Return a random order of `n_targets` targets and of one control for each of `partners`.

    Targets are numbered from 0, followed by the controls. Between two controls, and between a
    control and its partner (the number of a target), there are at least `spacing` others. With
    `n_even`, each control is at a random position in one of as many equal parts, if the spacing
    permits it, and the last `n_even` controls are in parts at even distances.

    Raises CrowdedError if that many controls do not fit. The search is random: it may miss the last
    few orders that a full search would find.
    """
    total = n_targets + len(partners)
    if not spacing and not n_even:
        order = list(range(total))
        rng.shuffle(order)
        return order
    if partners and (len(partners) - 1) * (spacing + 1) + 1 > total:
        raise CrowdedError
    for _ in range(TRIES):
        slots = _slots(total, len(partners), spacing, n_even, rng)
        placed = _place_partners(total, slots, partners, spacing, rng)
        if placed is not None:
            return _fill(total, n_targets, slots, placed, rng)
    raise CrowdedError


def most_controls(n_targets: int, spacing: int) -> int:
    """Return how many controls fit between the targets, without regard to partners."""
    return n_targets // spacing + 1


def _slots(
    total: int, n_controls: int, spacing: int, n_even: int, rng: random.Random
) -> dict[int, int]:
    """Return the position of every control in the order."""
    own: set[int] = set()
    if n_even:
        places = _spread(total, n_controls, spacing, rng)
        own = {int((step + 0.5) * n_controls / n_even) for step in range(n_even)}
    else:
        places = _apart(total, n_controls, spacing, rng)
    others = [place for step, place in enumerate(places) if step not in own]
    rng.shuffle(others)
    even = [place for step, place in enumerate(places) if step in own]
    rng.shuffle(even)
    return dict(enumerate([*others, *even]))


def _apart(total: int, n_controls: int, spacing: int, rng: random.Random) -> list[int]:
    """Draw positions with the spacing between them; all possible sets are equally likely."""
    room = total - max(0, n_controls - 1) * spacing
    drawn = sorted(rng.sample(range(room), n_controls))
    return [place + step * spacing for step, place in enumerate(drawn)]


def _spread(total: int, n_controls: int, spacing: int, rng: random.Random) -> list[int]:
    """Draw a random position in each of equal parts; anywhere if the spacing prevents that.

    Positions at exactly even distances could be predicted by counting.
    """
    ends = [step * total // n_controls for step in range(n_controls + 1)]
    for _ in range(TRIES):
        places = [rng.randrange(*part) for part in pairwise(ends)]
        if all(after - before > spacing for before, after in pairwise(places)):
            return places
    return _apart(total, n_controls, spacing, rng)


def _place_partners(
    total: int,
    slots: Mapping[int, int],
    partners: Sequence[int | None],
    spacing: int,
    rng: random.Random,
) -> dict[int, int] | None:
    """Return positions of partners far enough from their controls, or None if one has none."""
    near: dict[int, list[int]] = {}
    for control, partner in enumerate(partners):
        if partner is not None:
            near.setdefault(partner, []).append(slots[control])
    taken = set(slots.values())
    free = [place for place in range(total) if place not in taken]
    order = sorted(near)
    rng.shuffle(order)
    placed: dict[int, int] = {}
    for partner in order:
        index = _draw(free, near[partner], spacing, rng)
        if index is None:
            return None
        placed[partner] = free[index]
        free[index] = free[-1]
        free.pop()
    return placed


def _draw(
    free: Sequence[int], controls: Sequence[int], spacing: int, rng: random.Random
) -> int | None:
    """Draw the index of a free position that is far enough from all controls."""

    def is_far(place: int) -> bool:
        return all(abs(place - control) > spacing for control in controls)

    for _ in range(10 if free else 0):
        index = rng.randrange(len(free))
        if is_far(free[index]):
            return index
    allowed = [index for index, place in enumerate(free) if is_far(place)]
    return rng.choice(allowed) if allowed else None


def _fill(
    total: int,
    n_targets: int,
    slots: Mapping[int, int],
    placed: Mapping[int, int],
    rng: random.Random,
) -> list[int]:
    """Fill the free positions with the other targets at random."""
    at = {place: n_targets + control for control, place in slots.items()}
    at |= {place: target for target, place in placed.items()}
    rest = [target for target in range(n_targets) if target not in placed]
    rng.shuffle(rest)
    return [at[place] if place in at else rest.pop() for place in range(total)]
