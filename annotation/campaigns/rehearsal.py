"""A few screens of a campaign before it is opened, in memory: what annotators will be asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.models import Campaign, Item, Output, Segment
from annotation.protocols import Layout

MOST = 3
MOST_SEGMENTS = 20


@dataclass(frozen=True)
class Shown:
    """An item as it will be: its segment, the text to be rated, and what of it is special."""

    segment: Segment
    text: str
    is_practice: bool = False
    is_document: bool = False
    output: int | None = None


def rehearse(campaign: Campaign) -> list[list[Shown]]:
    """Return practice screens and the first few others, as lists of items."""
    practice = campaign.items.filter(kind=Item.Kind.TUTORIAL).select_related("segment")
    first = [[Shown(item.segment, item.text, is_practice=True)] for item in practice[:MOST]]
    return [*first, *_screens(campaign)]


def _screens(campaign: Campaign) -> Iterator[list[Shown]]:
    outputs = Output.objects.filter(system__in=campaign.systems.all()).select_related("segment")
    layout = campaign.judging.layout
    if layout == Layout.GRID:
        yield from _grid(campaign, outputs.order_by("segment__position", "system__name"))
        return
    if layout == Layout.DOCUMENT:
        first = _document(outputs.order_by("system", "segment__position"))
        yield from (each[: None if campaign.judging.rates_documents else -1] for each in first)
        return
    for segment in campaign.test_set.segments.order_by("position")[:MOST]:
        own = list(outputs.filter(segment=segment).order_by("system__name"))
        many = campaign.systems_per_screen if layout == Layout.TOGETHER else 1
        if own:
            yield [Shown(segment, output.text, output=output.pk) for output in own[:many]]


def _document(outputs: Sequence[Output] | object) -> Iterator[list[Shown]]:
    """The first document of one system, and its rating as a whole."""
    rows: list[Output] = list(outputs[:MOST_SEGMENTS])  # type: ignore[index]
    same = [row for row in rows if _place(row) == _place(rows[0])]
    if same:
        last = Shown(same[0].segment, "", is_document=True)
        yield [*(Shown(row.segment, row.text, output=row.pk) for row in same), last]


def _grid(campaign: Campaign, outputs: QuerySet[Output]) -> Iterator[list[Shown]]:
    """The first document by as many systems as a screen shows."""
    first = outputs.first()
    if first is None:
        return
    systems = list(campaign.systems.order_by("name")[: campaign.systems_per_screen])
    own = outputs.filter(segment__document=first.segment.document, system__in=systems)
    yield [
        Shown(row.segment, row.text, output=row.pk) for row in own[: MOST_SEGMENTS * len(systems)]
    ]


def _place(output: Output) -> tuple[int, str]:
    return output.system_id, output.segment.document
