"""Build the first screens of a campaign in memory, before it is opened."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.models import Campaign, Item, Output, Segment, System
from annotation.protocols import Layout

MOST = 3
MOST_SEGMENTS = 20


@dataclass(frozen=True)
class Shown:
    """An item as annotators will see it: its segment, the text to rate, and its kind."""

    segment: Segment
    text: str
    is_practice: bool = False
    is_document: bool = False
    output: int | None = None


def rehearse(campaign: Campaign) -> list[list[Shown]]:
    """Return practice screens and the first other screens, as lists of items."""
    practice = campaign.items.filter(kind=Item.Kind.TUTORIAL).select_related("segment")
    first = [[Shown(item.segment, item.text, is_practice=True)] for item in practice[:MOST]]
    return [*first, *first_screens(campaign, campaign.systems.all())]


def first_screens(campaign: Campaign, systems: Iterable[System]) -> Iterator[list[Shown]]:
    """Yield the first screens with these systems; the campaign need not be stored."""
    systems = sorted(systems, key=lambda system: system.name)
    outputs = Output.objects.filter(system__in=systems, segment__in=campaign.segments)
    outputs = outputs.select_related("segment")
    layout = campaign.judging.layout
    if layout == Layout.GRID:
        shown = systems[: campaign.systems_per_screen]
        rows = outputs.filter(system__in=shown).order_by("segment__position", "system__name")
        yield from _grid(rows, len(shown))
        return
    if layout == Layout.DOCUMENT:
        first = _document(outputs.order_by("system", "segment__position"))
        yield from (each[: None if campaign.judging.rates_documents else -1] for each in first)
        return
    for segment in campaign.segments.order_by("position")[:MOST]:
        own = list(outputs.filter(segment=segment).order_by("system__name"))
        many = campaign.systems_per_screen if layout == Layout.TOGETHER else 1
        if own:
            yield [Shown(segment, output.text, output=output.pk) for output in own[:many]]


def _document(outputs: Sequence[Output] | object) -> Iterator[list[Shown]]:
    """Yield the first document of one system, with the item for the whole document."""
    rows: list[Output] = list(outputs[:MOST_SEGMENTS])  # type: ignore[index]
    same = [row for row in rows if _place(row) == _place(rows[0])]
    if same:
        last = Shown(same[0].segment, "", is_document=True)
        yield [*(Shown(row.segment, row.text, output=row.pk) for row in same), last]


def _grid(outputs: QuerySet[Output], n_systems: int) -> Iterator[list[Shown]]:
    """Yield the first document with the systems of one screen."""
    first = outputs.first()
    if first is None:
        return
    own = outputs.filter(segment__document=first.segment.document)[: MOST_SEGMENTS * n_systems]
    yield [Shown(row.segment, row.text, output=row.pk) for row in own]


def _place(output: Output) -> tuple[int, str]:
    return output.system_id, output.segment.document
