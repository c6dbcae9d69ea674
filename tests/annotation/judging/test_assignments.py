"""Links of annotators: who may open them."""

import pytest
from django.contrib.auth.models import Group

from annotation.access import ADMIN, ANNOTATOR, RESEARCHER
from annotation.campaigns import add_annotators, renew_link
from annotation.judging import assignments
from annotation.models import Annotator
from tests.world import World


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
