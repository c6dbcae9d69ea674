"""Pages of a campaign read what came since the last look, whatever has been judged before."""

import random
import uuid

import pytest
from django.db import connection
from django.db.models import Max, QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import added
from annotation.exports import facts
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, Output
from annotation.models.assignment import count_by_annotator, wanted
from annotation.monitor import answers
from annotation.monitor.answers import flagged_judgments
from core.caching import Cache
from dashboards.home.attention import read_progress
from tests.planting import plant
from tests.world import make_campaign, make_user

SMALL, LARGE = 60, 600


@pytest.fixture(autouse=True)
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes thousands of judgments happens with a few."""
    for name, value in (("OVERLAP", 5), ("STEP", 7), ("MOST", 30)):
        monkeypatch.setattr(added, name, value)
    monkeypatch.setattr(facts, "OVERLAP", 5)


@pytest.fixture
def campaigns(db: None) -> list[Campaign]:
    """Two over the same three outputs, by four annotators each."""
    first = plant("segment-da", sources=["源文。"] * 3, outputs=[["A text."] * 3])
    found = [first, make_campaign(first.test_set, "another", protocol="segment-da")]
    for campaign in found:
        for number in range(4):
            Annotator.objects.create(campaign=campaign, label=f"P{number}")
    return found


def add(campaign: Campaign, n: int, *, answered: float = 1.0) -> None:
    """Assign outputs again and again, but for the last one, in batches; some are answered."""
    outputs = list(Output.objects.filter(system__test_set=campaign.test_set).order_by("pk"))[:-1]
    people = list(campaign.annotators.filter(user=None).annotate(last=Max("assignments__position")))
    items, given = [], []
    for _ in range(n):
        output, person = random.choice(outputs), random.choice(people)
        person.last = (person.last or 0) + 1
        batch, at = uuid.uuid4().hex, timezone.now() if random.random() < answered else None
        one = Item(campaign=campaign, segment_id=output.segment_id, output=output, batch=batch)
        items.append(one)
        given.append(Assignment(annotator=person, item=one, position=person.last, completed_at=at))
    Item.objects.bulk_create(items)
    Assignment.objects.bulk_create(given)
    Judgment.objects.bulk_create(
        Judgment(assignment=one, score=50, submit_key=uuid.uuid4())
        for one in given if one.completed_at
    )  # fmt: skip


def judgments(campaign: Campaign) -> QuerySet[Judgment]:
    return Judgment.objects.filter(assignment__annotator__campaign=campaign).order_by("pk")


def revise(campaign: Campaign) -> None:
    """Change an answer, with or without a comment."""
    old = random.choice(judgments(campaign))
    own = Judgment.objects.filter(assignment=old.assignment_id)
    own.update(is_current=False)
    Judgment.objects.create(
        assignment_id=old.assignment_id, score=1, revision=own.count() + 1,
        submit_key=uuid.uuid4(),
        comment=random.choice(["", "Why?"]), is_flagged=random.random() < 0.3,
    )  # fmt: skip


def erase(campaign: Campaign) -> None:
    """Remove the judgments of a person, as their data is."""
    person = random.choice(campaign.annotators.filter(user=None))
    n, _ = judgments(campaign).filter(assignment__annotator=person).delete()
    Annotator.objects.filter(pk=person.pk).update(n_removed=person.n_removed + n)


def looked_at(campaign: Campaign) -> list[object]:
    return [
        facts.counted_facts(campaign),
        list(flagged_judgments(campaign)),
        list(flagged_judgments(campaign, annotator="P1")),
        wanted(campaign),
        count_by_annotator(campaign.annotators.all(), with_open=True),
        read_progress([campaign]),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_remembered_is_what_a_new_process_reads(seed, campaigns, monkeypatch) -> None:
    random.seed(seed)
    monkeypatch.setattr(answers, "MOST", [2, 5_000, 5_000][seed])
    for turn in range(12):
        campaign = random.choice(campaigns)
        add(campaign, random.randrange(1, 25), answered=random.choice([0.7, 1.0]))
        for _ in range(random.randrange(3) if judgments(campaign).exists() else 0):
            revise(campaign)
        if turn == 8:
            erase(campaign)
        found = looked_at(campaign)
        with monkeypatch.context() as patch:
            patch.setattr(Cache, "get", lambda self, key: None)
            assert found == looked_at(campaign)
        assert found[0][1] == judgments(campaign).count()


@pytest.mark.parametrize("page", ["campaigns", "export", "monitor-remarks", "output"])
def test_pages_take_as_many_steps_of_the_database_whatever_has_been_judged(
    page: str, campaigns: list[Campaign], client: Client
) -> None:
    """At the second look; a step is an instruction of the virtual machine of SQLite."""
    if connection.vendor != "sqlite":
        pytest.skip("Only SQLite counts its steps.")
    campaign = campaigns[0]
    client.force_login(make_user("reader", "researcher"))
    last = Output.objects.filter(system__test_set=campaign.test_set).order_by("pk").last()
    arguments = {"campaigns": [], "output": [campaign.slug, last.pk]}.get(page, [campaign.slug])
    address = reverse(page, args=arguments)

    def steps() -> int:
        assert client.get(address).status_code == 200
        counted = []
        connection.connection.set_progress_handler(lambda: counted.append(1) and None, 10)
        try:
            client.get(address)
        finally:
            connection.connection.set_progress_handler(None, 0)
        return len(counted)

    add(campaign, SMALL)
    few = steps()
    add(campaign, LARGE - SMALL)
    assert few
    assert steps() < 1.3 * few
