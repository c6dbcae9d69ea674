"""Fixed shares: which annotator gets which screens, and in which order."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from annotation.models import Annotator, Assignment, Campaign, Item
from core.batches import batched

BATCH = 2_000


def share_out(
    n_items: int, n_annotators: int, per_item: int, *, rng: random.Random
) -> list[list[int]]:
    """Give every item to `per_item` different annotators, with loads that differ by at most 1.

    Returns one list of item indices per annotator. The items are dealt in random order, so that
    no annotator gets one system or one document only. An item may be a screen.
    """
    order = list(range(n_items))
    rng.shuffle(order)
    shares: list[list[int]] = [[] for _ in range(n_annotators)]
    for turn, item in enumerate(order):
        for step in range(per_item):
            shares[(turn * per_item + step) % n_annotators].append(item)
    return [sorted(share) for share in shares]


def assign(
    annotator: Annotator,
    screens: Iterable[Sequence[int]],
    *,
    start: int = 0,
    conditions: Mapping[int, str] | None = None,
) -> None:
    """Store the items of the screens at neighbouring positions, from `start` on.

    `conditions` say, by item, which suggestions are shown in a trial.
    """
    for batch in batched(_assignments(annotator, screens, start, conditions or {}), BATCH):
        Assignment.objects.bulk_create(batch)


def _assignments(
    annotator: Annotator,
    screens: Iterable[Sequence[int]],
    start: int,
    conditions: Mapping[int, str],
) -> Iterator[Assignment]:
    for position, item in enumerate(chain.from_iterable(screens), start):
        yield Assignment(
            annotator=annotator,
            item_id=item,
            position=position,
            condition=conditions.get(item, ""),
        )


def screens_of(campaign: Campaign, kind: Item.Kind) -> list[list[int]]:
    """Return the items of a kind that were there before opening, screen by screen."""
    screens: dict[object, list[int]] = {}
    rows = campaign.items.filter(kind=kind).order_by("pk").values_list("pk", "screen")
    for pk, screen in rows:
        screens.setdefault(("alone", pk) if screen is None else screen, []).append(pk)
    return list(screens.values())
