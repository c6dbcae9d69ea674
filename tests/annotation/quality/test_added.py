"""Judgments counted by those that came since are as many as the database has."""

import random
import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import added
from annotation.access import ANNOTATOR
from annotation.models import Annotator, Assignment, Campaign, Judgment
from annotation.quality import current
from annotation.quality.current import Added, judgments_added
from tests.planting import plant
from tests.world import make_campaign, make_user

ITEMS = 12


def copied(campaign: Campaign) -> Campaign:
    """Another campaign over the same items, by another annotator."""
    found = make_campaign(campaign.test_set, "another", protocol="segment-da")
    user = make_user("annotator-2", ANNOTATOR)
    annotator = Annotator.objects.create(campaign=found, user=user, label="annotator-2")
    for position, item in enumerate(campaign.items.order_by("pk")):
        item.pk, item.campaign = None, found
        item.save()
        Assignment.objects.create(annotator=annotator, item=item, position=position)
    return found


def answer(campaign: Campaign, place: int) -> Judgment:
    """Add an answer, which replaces the one before."""
    assignment = Assignment.objects.get(annotator__campaign=campaign, position=place)
    own = Judgment.objects.filter(assignment=assignment)
    own.filter(is_current=True).update(is_current=False)
    return Judgment.objects.create(
        assignment=assignment, revision=own.count() + 1, score=50, submit_key=uuid.uuid4()
    )


def in_the_database(campaign: Campaign) -> Added:
    keys = Judgment.objects.filter(assignment__annotator__campaign=campaign).values_list("pk")
    return Added(len(keys), max((pk for (pk,) in keys), default=0))


@pytest.fixture
def campaigns(db: None) -> list[Campaign]:
    planted = plant("segment-da", sources=["源文。"] * ITEMS, outputs=[["A text."] * ITEMS])
    return [planted, copied(planted)]


@pytest.mark.parametrize("overlap", [0, 3, 500])
def test_a_random_sequence_is_counted(
    campaigns: list[Campaign], monkeypatch: pytest.MonkeyPatch, overlap: int
) -> None:
    for name, value in (("OVERLAP", overlap), ("STEP", 2), ("MOST", overlap + 3)):
        monkeypatch.setattr(added, name, value)
    rng = random.Random(overlap)
    for _ in range(15):
        for _ in range(rng.randint(0, 4)):
            answer(rng.choice(campaigns), rng.randrange(ITEMS))
        for each in campaigns:
            assert judgments_added(each) == in_the_database(each)


def test_only_what_came_since_is_counted(
    campaigns: list[Campaign], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(added, "OVERLAP", 2)
    monkeypatch.setattr(added, "MOST", 2)
    given = [answer(campaigns[0], place) for place in range(6)]
    judgments_added(campaigns[0])
    with CaptureQueriesContext(connection) as queries:
        assert judgments_added(campaigns[0]).n == 6
    assert len(queries) == 1
    assert f'"id" > {given[-1].pk - 2}' in queries[0]["sql"]


def test_what_is_removed_is_known_after_a_while(
    campaigns: list[Campaign], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(added, "OVERLAP", 0)
    monkeypatch.setattr(added, "MOST", 0)
    given = [answer(campaigns[0], place) for place in range(3)]
    assert judgments_added(campaigns[0]).n == 3
    Judgment.objects.filter(pk=given[0].pk).delete()
    campaigns[0].annotators.update(n_removed=1)
    assert judgments_added(campaigns[0]).n == 3
    monkeypatch.setattr(current, "AGAIN_SECONDS", -1.0)
    assert judgments_added(campaigns[0]) == Added(2, given[-1].pk)
