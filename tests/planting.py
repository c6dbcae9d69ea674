"""Open campaigns of any protocol with texts of one's own, and the items on screens of several."""

from collections.abc import Sequence

from annotation.access import ANNOTATOR
from annotation.campaigns import add_annotators
from annotation.models import Annotator, Assignment, Campaign, Item, Output, TestSet
from annotation.protocols import Layout
from tests.world import make_campaign, make_test_set, make_user


def plant(
    protocol: str,
    *,
    sources: Sequence[str] = ("源文一。", "源文二。"),
    outputs: Sequence[Sequence[str]] = (("The first output.", "The second output."),),
    languages: tuple[str, str] = ("zh", "en"),
    **fields: object,
) -> Campaign:
    """An open campaign against the source with one annotator, `annotator-1`.

    `outputs` holds the texts of each system. Document and side-by-side items are put on screens
    as their layouts ask for it.
    """
    names = [f"system {number}" for number in range(len(outputs))]
    test_set = make_test_set(
        "texts", segments=len(sources), systems=names, languages=languages, references=False
    )
    _write(test_set, sources, outputs)
    campaign = make_campaign(test_set, protocol, protocol=protocol, shown_text="source", **fields)
    user = make_user("annotator-1", ANNOTATOR)
    add_annotators(campaign=campaign, users=[user])
    _assign(campaign, Annotator.objects.get(user=user))
    Campaign.objects.update(status=Campaign.Status.OPEN)
    campaign.refresh_from_db()
    return campaign


def _write(test_set: TestSet, sources: Sequence[str], outputs: Sequence[Sequence[str]]) -> None:
    for segment, source in zip(test_set.segments.order_by("position"), sources, strict=True):
        type(segment).objects.filter(pk=segment.pk).update(source=source)
    for system, texts in zip(test_set.systems.order_by("name"), outputs, strict=True):
        for output, text in zip(system.outputs.order_by("segment"), texts, strict=True):
            Output.objects.filter(pk=output.pk).update(text=text)


def _assign(campaign: Campaign, annotator: Annotator) -> None:
    for position, item in enumerate(items_of(campaign)):
        item.save()
        Assignment.objects.create(annotator=annotator, item=item, position=position)


def items_of(campaign: Campaign) -> list[Item]:
    """Return the items of a campaign as its layout shows them, unsaved."""
    outputs = Output.objects.filter(system__test_set=campaign.test_set).select_related("segment")
    layout = campaign.judging.layout
    if layout == Layout.GRID:
        rows = list(outputs.order_by("segment__position", "system__name"))
        return [_cell(campaign, row, n) for n, row in enumerate(rows)]
    if layout == Layout.TOGETHER:
        rows = list(outputs.order_by("segment__position", "system__name"))
        systems = campaign.systems.count()
        return [_item(campaign, row, n // systems, n % systems) for n, row in enumerate(rows)]
    rows = list(outputs.order_by("system__name", "segment__position"))
    if layout == Layout.SINGLE:
        return [_item(campaign, row, None, 0) for row in rows]
    items = [_item(campaign, row, 0, n) for n, row in enumerate(rows)]
    if not campaign.judging.rates_documents:
        return items
    whole = Item(
        campaign=campaign, kind=Item.Kind.DOCUMENT, segment=rows[0].segment,
        system=rows[0].system, screen=0, place=len(rows),
    )  # fmt: skip
    return [*items, whole]


def _cell(campaign: Campaign, output: Output, place: int) -> Item:
    systems = campaign.systems.count()
    return Item(
        campaign=campaign, segment=output.segment, output=output, screen=0, place=place,
        column=place % systems, n_columns=systems,
    )  # fmt: skip


def _item(campaign: Campaign, output: Output, screen: int | None, place: int) -> Item:
    return Item(
        campaign=campaign, segment=output.segment, output=output, screen=screen, place=place
    )
