"""Which screen comes next, with what on it."""

import dataclasses

import pytest
from django.utils import timezone

from annotation.campaigns import add_annotators, open_campaign
from annotation.judging import assignments, screens, upcoming
from annotation.models import Annotator, Assignment, Campaign, Item, Reference
from tests.world import World


@pytest.fixture
def annotator(world: World) -> Annotator:
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    return Annotator.objects.get(user=world.annotators[0])


def rows(annotator: Annotator) -> list[Assignment]:
    return list(annotator.assignments.select_related("item__output").order_by("position"))


def rate(assignment: Assignment) -> None:
    assignment.completed_at = timezone.now()
    assignment.save()


def test_items_come_in_the_annotators_order(annotator: Annotator) -> None:
    first, second, *_ = rows(annotator)
    assert assignments.first_open(annotator) == first.public_id
    shown = upcoming.next_screen(annotator=annotator)
    assert (shown.public_id, shown.previous_id) == (first.public_id, None)
    rate(first)
    shown = upcoming.next_screen(annotator=annotator)
    assert (shown.public_id, shown.previous_id) == (second.public_id, first.public_id)
    assert dataclasses.astuple(shown.progress) == (2, 1, 10, 0, False)


def test_what_was_passed_over_comes_back(annotator: Annotator) -> None:
    first, second, *others = rows(annotator)
    for row in (second, *others):
        rate(row)
    assert assignments.first_open(annotator) == first.public_id
    rate(first)
    assert assignments.first_open(annotator) is None
    assert upcoming.next_screen(annotator=annotator) is None


def test_work_goes_on_behind_an_item_and_then_with_what_was_passed_over(
    annotator: Annotator,
) -> None:
    first, *_, last = rows(annotator)
    rate(last)
    for position, expected in ((3, 4), (last.position, first.position)):
        shown = upcoming.next_screen(annotator=annotator, after=position)
        assert shown is not None
        assert shown.public_id == annotator.assignments.get(position=expected).public_id


def test_a_trap_shows_its_own_text(annotator: Annotator) -> None:
    for row in rows(annotator):
        shown = screens.find_screen(user=annotator.user, public_id=row.public_id)
        is_trap = row.item.kind == Item.Kind.TRAP
        assert shown.item.rated.content == (row.item.text if is_trap else row.item.output.text)
        reference = row.item.segment.references.get().text
        assert shown.item.context == screens.Text(reference, "en", "ltr")


def test_the_first_of_several_references_is_shown(annotator: Annotator) -> None:
    row = rows(annotator)[0]
    Reference.objects.create(segment=row.item.segment, name="B", text="Another wording.")
    shown = screens.find_screen(user=annotator.user, public_id=row.public_id)
    assert shown.item.context.content != "Another wording."


def test_the_source_instead_of_a_reference(annotator: Annotator) -> None:
    Campaign.objects.update(shown_text=Campaign.ShownText.SOURCE)
    row = rows(annotator)[0]
    shown = screens.find_screen(user=annotator.user, public_id=row.public_id)
    assert shown.item.context == screens.Text(row.item.segment.source, "zh", "ltr")


def test_an_item_is_its_annotators_alone(annotator: Annotator, world: World) -> None:
    row = rows(annotator)[0]
    for user in (world.annotators[1], world.outsider, world.admin):
        assert screens.find_screen(user=user, public_id=row.public_id) is None


def test_shown_items_hold_no_row_and_no_secret(annotator: Annotator) -> None:
    shown = upcoming.next_screen(annotator=annotator)
    names = {field.name for field in dataclasses.fields(shown)}
    assert names.isdisjoint({"pk", "id", "kind", "output", "segment", "system", "partner"})
    for value in dataclasses.asdict(shown).values():
        assert not hasattr(value, "_meta")
