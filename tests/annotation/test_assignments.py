"""Who is let in by a link, and which item comes next, with what on it."""

import dataclasses

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from annotation import assignments
from annotation.access import ADMIN, ANNOTATOR, RESEARCHER
from annotation.campaigns import add_annotators, open_campaign, renew_link
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
    shown = assignments.next_item(annotator_id=annotator.pk)
    assert (shown.public_id, shown.previous_id) == (first.public_id, None)
    rate(first)
    shown = assignments.next_item(annotator_id=annotator.pk)
    assert (shown.public_id, shown.previous_id) == (second.public_id, first.public_id)
    assert dataclasses.astuple(shown.progress) == (2, 1, 10)


def test_what_was_passed_over_comes_back(annotator: Annotator) -> None:
    first, second, *others = rows(annotator)
    for row in (second, *others):
        rate(row)
    assert assignments.first_open(annotator) == first.public_id
    rate(first)
    assert assignments.first_open(annotator) is None
    assert assignments.next_item(annotator_id=annotator.pk) is None


def test_a_trap_shows_its_own_text(annotator: Annotator) -> None:
    for row in rows(annotator):
        shown = assignments.find_item(user=annotator.user, public_id=row.public_id)
        is_trap = row.item.kind == Item.Kind.TRAP
        assert shown.rated.content == (row.item.text if is_trap else row.item.output.text)
        reference = row.item.segment.references.get().text
        assert shown.context == assignments.Text(reference, "en", "ltr")


def test_the_first_of_several_references_is_shown(annotator: Annotator) -> None:
    row = rows(annotator)[0]
    Reference.objects.create(segment=row.item.segment, name="B", text="Another wording.")
    shown = assignments.find_item(user=annotator.user, public_id=row.public_id)
    assert shown.context.content != "Another wording."


def test_the_source_instead_of_a_reference(annotator: Annotator) -> None:
    Campaign.objects.update(shown_text=Campaign.ShownText.SOURCE)
    row = rows(annotator)[0]
    shown = assignments.find_item(user=annotator.user, public_id=row.public_id)
    assert shown.context == assignments.Text(row.item.segment.source, "zh", "ltr")


def test_an_item_is_its_annotators_alone(annotator: Annotator, world: World) -> None:
    row = rows(annotator)[0]
    for user in (world.annotators[1], world.outsider, world.admin):
        assert assignments.find_item(user=user, public_id=row.public_id) is None


def test_shown_items_hold_no_row_and_no_secret(annotator: Annotator) -> None:
    shown = assignments.next_item(annotator_id=annotator.pk)
    names = {field.name for field in dataclasses.fields(shown)}
    assert names.isdisjoint({"pk", "id", "item", "kind", "output", "segment", "system", "partner"})
    for value in dataclasses.asdict(shown).values():
        assert not hasattr(value, "_meta")


def link(world: World) -> tuple[Annotator, str]:
    (invitation,) = add_annotators(campaign=world.campaign, links=1)
    return invitation.annotator, invitation.token


def test_a_token_finds_its_annotator_until_renewed(world: World) -> None:
    annotator, token = link(world)
    assert assignments.find_by_token(token) == annotator
    assert annotator.token_hash not in token
    for wrong in ("", token[:-1], token + "x", annotator.token_hash):
        assert assignments.find_by_token(wrong) is None
    newer = renew_link(annotator=annotator).token
    assert assignments.find_by_token(token) is None
    assert assignments.find_by_token(newer) == annotator


@pytest.mark.parametrize("role", [ADMIN, RESEARCHER])
def test_a_token_opens_no_account_that_can_do_more_than_rate(world: World, role: str) -> None:
    annotator, token = link(world)
    annotator.user.groups.add(Group.objects.get(name=role))
    assert assignments.find_by_token(token) is None


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_staff": True}])
def test_a_token_opens_no_blocked_or_staff_account(world: World, change: dict[str, bool]) -> None:
    annotator, token = link(world)
    for name, value in change.items():
        setattr(annotator.user, name, value)
    annotator.user.save()
    assert assignments.find_by_token(token) is None


def test_invited_accounts_only_rate(world: World) -> None:
    annotator, _ = link(world)
    assert list(annotator.user.groups.values_list("name", flat=True)) == [ANNOTATOR]
    assert not annotator.user.has_usable_password()
