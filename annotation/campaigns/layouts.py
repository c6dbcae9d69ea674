"""Lay out the targets of a campaign on screens, by its protocol's layout.

Screens are made and stored in batches; only one number per item stays in memory.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from django.core.exceptions import ValidationError
from django.db.models import Count, Max

from annotation.models import Campaign, Item
from annotation.protocols import Layout
from core.text import batched
from metaeval.messages import Message, message, plural

Row = tuple[int, int, int, str]
BATCH = 2_000
# The most answers on one screen; they fit into one request (`DATA_UPLOAD_MAX_NUMBER_FIELDS`).
MOST_ON_SCREEN = 200
SCREENS = 500
MAX_SHUFFLE = 2**31 - 1


class Screens:
    """The primary keys of stored items, screen by screen."""

    def __init__(self) -> None:
        self._pks = array("q")
        self._starts = array("q", [0])

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, index: int) -> Sequence[int]:
        return self._pks[self._starts[index] : self._starts[index + 1]]

    @property
    def n_items(self) -> int:
        """The number of items on all screens."""
        return len(self._pks)

    def add(self, pks: Sequence[int]) -> None:
        """Append one screen."""
        self._pks.extend(pks)
        self._starts.append(len(self._pks))


def plant_targets(campaign: Campaign) -> Screens:
    """Store the items to be judged, and return their screens.

    Raises ValidationError if the outputs cannot be laid out as the protocol shows them. In an open
    pool, the first item of a screen stores how many ratings are wanted.
    """
    layout = campaign.judging.layout
    CHECKS[layout](campaign)
    shuffle = campaign.hidden_rng("pool")
    wanted = campaign.annotators_per_item
    is_static = campaign.assignment_mode == Campaign.Mode.STATIC
    number = next_screen(campaign)
    screens = Screens()
    for batch in batched(MAKERS[layout](campaign), SCREENS):
        for items in batch:
            for place, item in enumerate(items):
                item.place = place
                item.screen = None if layout == Layout.SINGLE else number
            number += 1
            if not is_static:
                items[0].wanted, items[0].shuffle = wanted, shuffle.randint(0, MAX_SHUFFLE)
        Item.objects.bulk_create([item for items in batch for item in items], batch_size=BATCH)
        for items in batch:
            screens.add([item.pk for item in items])
    return screens


def next_screen(campaign: Campaign) -> int:
    """Return the first number that no screen of the campaign has."""
    last = campaign.items.aggregate(last=Max("screen"))["last"]
    return 0 if last is None else int(last) + 1


def _outputs(campaign: Campaign, *order: str) -> Iterator[Row]:
    """Yield output, segment, system and document in the given order."""
    rows = campaign.outputs.order_by(*order, "pk")
    columns = ("pk", "segment_id", "system_id", "segment__document")
    return rows.values_list(*columns).iterator(chunk_size=BATCH)


def _singles(campaign: Campaign) -> Iterator[list[Item]]:
    for output, segment, _, _ in _outputs(campaign):
        yield [Item(campaign=campaign, segment_id=segment, output_id=output)]


def _documents(campaign: Campaign) -> Iterator[list[Item]]:
    """Yield documents by system: the segments in order, then, with scores, the whole document."""
    rows = _outputs(campaign, "system_id", "segment__document", "segment__position")
    has_whole = campaign.judging.rates_documents
    for (system, _), group in groupby(rows, key=itemgetter(2, 3)):
        items = [
            Item(campaign=campaign, segment_id=segment, output_id=output)
            for output, segment, _, _ in group
        ]
        if has_whole:
            whole = Item(
                campaign=campaign,
                kind=Item.Kind.DOCUMENT,
                segment_id=items[0].segment_id,
                system_id=system,
            )
            items.append(whole)
        yield items


def _together(campaign: Campaign) -> Iterator[list[Item]]:
    """Yield the outputs of a segment in random groups, each in random order."""
    rows = _outputs(campaign, "segment__position")
    return _columns(campaign, (list(group) for _, group in groupby(rows, key=itemgetter(1))))


def _grids(campaign: Campaign) -> Iterator[list[Item]]:
    """Yield the outputs of a document, segment by segment, in random groups of systems."""
    rows = _outputs(campaign, "segment__document", "segment__position")
    return _columns(campaign, (list(group) for _, group in groupby(rows, key=itemgetter(3))))


def _columns(campaign: Campaign, parts: Iterator[list[Row]]) -> Iterator[list[Item]]:
    """Distribute the systems of each part among screens at random, with the same columns per row.

    In dynamic assignment all systems are on one screen, and `n_columns` are drawn when it is shown.
    """
    rng = campaign.hidden_rng("together")
    is_dynamic = campaign.assignment_mode == Campaign.Mode.DYNAMIC
    wanted = campaign.systems_per_screen
    for rows in parts:
        systems = list(dict.fromkeys(system for _, _, system, _ in rows))
        rng.shuffle(systems)
        start = 0
        for size in [len(systems)] if is_dynamic else group_sizes(len(systems), wanted):
            column = {system: n for n, system in enumerate(systems[start : start + size])}
            own = [row for row in rows if row[2] in column]
            segments = {segment: n for n, segment in enumerate(dict.fromkeys(r[1] for r in own))}
            own.sort(key=lambda row: (segments[row[1]], column[row[2]]))
            yield [
                Item(
                    campaign=campaign,
                    segment_id=segment,
                    output_id=output,
                    column=column[system],
                    n_columns=min(size, wanted) if is_dynamic else size,
                )
                for output, segment, system, _ in own
            ]
            start += size


def most_shown(campaign: Campaign, n: int) -> int:
    """Return the maximum number of `n` systems on one screen."""
    if campaign.assignment_mode == Campaign.Mode.DYNAMIC:
        return min(n, campaign.systems_per_screen)
    return max(group_sizes(n, campaign.systems_per_screen))


def group_sizes(n: int, wanted: int) -> list[int]:
    """Split `n` systems into groups of about `wanted` whose sizes differ by at most 1.

    A group is larger than wanted only to avoid a group of one system: 5 in twos are 3 and 2.
    """
    groups = -(-n // wanted)
    if groups > 1 and n // groups < 2:
        groups = n // 2
    small, more = divmod(n, groups)
    return [small + 1] * more + [small] * (groups - more)


def _check_documents(campaign: Campaign) -> None:
    if n := campaign.outputs.filter(segment__document="").values("segment").distinct().count():
        raise ValidationError([needs_documents(n)])


def needs_documents(n: int) -> Message:
    """Return the message about a protocol of documents, and `n` segments without a document."""
    return plural(
        "layout.needs-documents",
        "This protocol needs documents, and {n} segment of the test set does not belong to a "
        "document. Choose a protocol for segments, or upload the test set with a document column.",
        "This protocol needs documents, and {n} segments of the test set do not belong to a "
        "document. Choose a protocol for segments, or upload the test set with a document column.",
        n=n,
    )


NEEDS_SYSTEMS = message(
    "layout.needs-systems", "This protocol compares systems. Choose at least two systems."
)


def _check_lengths(campaign: Campaign) -> None:
    _check_documents(campaign)
    documents = (
        campaign.outputs.order_by()
        .values("segment__document")
        .annotate(segments=Count("segment", distinct=True))
    )
    longest = documents.order_by("-segments", "segment__document").first()
    if longest and longest["segments"] > MOST_ON_SCREEN:
        raise ValidationError(
            [
                message(
                    "layout.long-document",
                    "The document “{document}” has {n} segments, and a screen can show at most "
                    "{most}. Split the document.",
                    document=longest["segment__document"],
                    n=longest["segments"],
                    most=MOST_ON_SCREEN,
                )
            ]
        )


def _check_together(campaign: Campaign) -> None:
    if campaign.systems.count() < 2:
        raise ValidationError([NEEDS_SYSTEMS])
    by_segment = campaign.outputs.order_by().values("segment").annotate(n=Count("pk"))
    if n := by_segment.filter(n=1).count():
        raise ValidationError(
            [
                plural(
                    "layout.single-outputs",
                    "{n} segment has the output of only one of the chosen systems, and this "
                    "protocol needs at least two.",
                    "{n} segments have the output of only one of the chosen systems, and this "
                    "protocol needs at least two.",
                    n=n,
                )
            ]
        )


def _check_grid(campaign: Campaign) -> None:
    _check_documents(campaign)
    _check_together(campaign)
    systems = campaign.systems.count()
    documents = (
        campaign.outputs.order_by()
        .values("segment__document")
        .annotate(n=Count("pk"), segments=Count("segment", distinct=True))
    )
    for document in documents.order_by("segment__document"):
        name, segments = document["segment__document"], document["segments"]
        if document["n"] != segments * systems:
            raise ValidationError(
                [
                    message(
                        "layout.missing-outputs",
                        "This protocol needs the outputs of all chosen systems for every segment "
                        "of a document. The document “{document}” has {n} of {total} outputs.",
                        document=name,
                        n=document["n"],
                        total=segments * systems,
                    )
                ]
            )
        most = most_shown(campaign, systems)
        if segments * most > MOST_ON_SCREEN:
            raise ValidationError(
                [
                    message(
                        "layout.large-screen",
                        "The document “{document}” has {segments} segments. With {systems} "
                        "systems a screen would show {n} outputs, and it can show at most "
                        "{most}. Show fewer systems on a screen, or split the document.",
                        document=name,
                        segments=segments,
                        systems=most,
                        n=segments * most,
                        most=MOST_ON_SCREEN,
                    )
                ]
            )


def _check_nothing(campaign: Campaign) -> None:
    pass


MAKERS: dict[Layout, Callable[[Campaign], Iterator[list[Item]]]] = {
    Layout.SINGLE: _singles,
    Layout.DOCUMENT: _documents,
    Layout.TOGETHER: _together,
    Layout.GRID: _grids,
}
CHECKS: dict[Layout, Callable[[Campaign], None]] = {
    Layout.SINGLE: _check_nothing,
    Layout.DOCUMENT: _check_lengths,
    Layout.TOGETHER: _check_together,
    Layout.GRID: _check_grid,
}
