"""Fixed assignment: which annotator gets which screens or imported batches, in which order."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise

from annotation.models import Annotator, Assignment, Campaign, Item
from core.text import batched

BATCH = 2_000


def share_out(
    n_items: int, n_annotators: int, per_item: int, *, rng: random.Random
) -> list[list[int]]:
    """Assign every item to `per_item` different annotators, with loads that differ by at most 1.

    Returns one list of item indices per annotator. Items are distributed in random order, so that
    no annotator gets only one system or one document. An item may be a screen.
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
    """Store the items of the screens at consecutive positions from `start`.

    `conditions` gives, by item, which suggestions are shown in a trial.
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
    """Return the items of a kind that existed before opening, screen by screen."""
    screens: dict[object, list[int]] = {}
    rows = campaign.items.filter(kind=kind).order_by("pk").values_list("pk", "screen")
    for pk, screen in rows:
        screens.setdefault(("alone", pk) if screen is None else screen, []).append(pk)
    return list(screens.values())


COMMON = (Item.Kind.TUTORIAL, Item.Kind.GOLD)


def has_imported_items(campaign: Campaign) -> bool:
    """Return whether the items of a draft were imported, so that none are made when it opens."""
    return campaign.items.filter(kind=Item.Kind.TARGET).exists()


def assign_imported(campaign: Campaign, annotators: Sequence[Annotator]) -> None:
    """Assign every batch to `annotators_per_item` annotators, in order and in equal numbers.

    Practice and gold items that were added by hand go to all annotators: practice first, gold at
    random positions.
    """
    batches: dict[str, list[Item]] = defaultdict(list)
    for item in campaign.items.order_by("pk"):
        batches[item.batch].append(item)
    common = [item for item in batches.pop("", []) if item.kind in COMMON]
    shares = deal(list(batches), len(annotators), campaign.annotators_per_item)
    for annotator, share in zip(annotators, shares, strict=True):
        items = [item for batch in share for item in batches[batch]]
        items = _with_common(items, common, rng=campaign.hidden_rng("order", annotator.label))
        Assignment.objects.bulk_create(
            [
                Assignment(annotator=annotator, item=item, position=position)
                for position, item in enumerate(items)
            ],
            batch_size=BATCH,
        )


def deal(batches: Sequence[str], n_annotators: int, per_batch: int) -> list[list[str]]:
    """Assign consecutive batches to annotators in turn; nobody gets a batch twice.

    >>> deal(["1", "2", "3"], 3, 2)
    [['1', '2'], ['3', '1'], ['2', '3']]
    """
    wheel = [batch for _ in range(per_batch) for batch in batches]
    ends = [len(wheel) * turn // n_annotators for turn in range(n_annotators + 1)]
    return [wheel[start:end] for start, end in pairwise(ends)]


def _with_common(items: list[Item], common: Sequence[Item], *, rng: random.Random) -> list[Item]:
    """Insert gold items between screens, never into one."""
    screens: dict[int, list[Item]] = defaultdict(list)
    for item in common:
        if item.kind == Item.Kind.GOLD:
            screens[-item.pk if item.screen is None else item.screen].append(item)
    gold = list(screens.values())
    starts = [
        place
        for place, item in enumerate(items)
        if item.screen is None or not place or items[place - 1].screen != item.screen
    ]
    places = sorted((rng.choice(starts or [0]) for _ in gold), reverse=True)
    rng.shuffle(gold)
    for place, screen in zip(places, gold, strict=True):
        items[place:place] = screen
    return [item for item in common if item.kind == Item.Kind.TUTORIAL] + items
