"""Pages of a campaign read what came since the last look, whatever has been judged before."""

import random
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import Max, QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import added, pay
from annotation.exports import facts
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, Output, assignment
from annotation.models.assignment import count_by_annotator, wanted
from annotation.monitor import answers, monitor_report
from annotation.monitor.answers import flagged_judgments
from annotation.quality import current
from annotation.quality.current import judgments_added
from core.caching import Cache, clear_caches, clear_ttl_cache
from dashboards.home.attention import read_progress
from tests.planting import plant
from tests.world import make_campaign, make_user

SMALL, LARGE = 60, 600


@pytest.fixture(autouse=True)
def _little(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    """What takes thousands of judgments happens with a few."""
    settings.VAR_DIR = tmp_path
    for name, value in (("OVERLAP", 5), ("STEP", 7), ("MOST", 30), ("STORED_AFTER", 20)):
        monkeypatch.setattr(added, name, value)
    for name, value in (("OVERLAP", 5), ("STORED_AFTER", 20)):
        monkeypatch.setattr(facts, name, value)
    monkeypatch.setattr(assignment, "STORED_FROM", 20)
    monkeypatch.setattr(current, "AGAIN_SECONDS", -1.0)


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
    """Assign outputs again and again, but for the last one; some are answered, some later.

    Two are on a screen, the second of which is a control item in three of four.
    """
    outputs = list(Output.objects.filter(system__test_set=campaign.test_set).order_by("pk"))[:-1]
    people = list(campaign.annotators.filter(user=None).annotate(last=Max("assignments__position")))
    open_ = Assignment.objects.filter(annotator__campaign=campaign, completed_at=None)
    items, given, late = [], [], random.choices(open_, k=2) if open_.exists() else []
    for number in range(n):
        if number % 2 == 0:
            output, person = random.choice(outputs), random.choice(people)
            screen, first = uuid.uuid4().int >> 98, None
        kind = ["target", "trap", "gold", "repeat"][number % 8 // 2] if number % 2 else "target"
        person.last = (person.last or 0) + 1
        at = timezone.now() if random.random() < answered else None
        one = Item(
            campaign=campaign, segment_id=output.segment_id, output=output, batch=uuid.uuid4().hex,
            kind=kind, screen=screen, place=number % 2, partner=first if kind == "repeat" else None,
            rules=random.choice([None, {"above": 0}]) if kind == "gold" else None,
            low=random.choice([None, 40]) if kind == "gold" else None,
        )  # fmt: skip
        first = one
        items.append(one)
        given.append(Assignment(annotator=person, item=one, position=person.last, completed_at=at))
    for own in (items[::2], items[1::2]):
        Item.objects.bulk_create(own)
    Assignment.objects.bulk_create(given)
    Assignment.objects.filter(pk__in=[one.pk for one in late]).update(completed_at=timezone.now())
    done = [one for one in given if one.completed_at] + list({one.pk: one for one in late}.values())
    Judgment.objects.bulk_create(Judgment(assignment=one, **answer()) for one in done)


def answer() -> dict[str, Any]:
    """Return what an answer says, of the last two days."""
    at = timezone.now() - timedelta(hours=random.randrange(48))
    return {
        "score": random.randrange(101),
        "submit_key": uuid.uuid4(),
        "paid_ms": random.choice([None, random.randrange(9_000)]),
        "submitted_at": random.choice([None, at]),
        "time_doubt": random.choice(["", "longer"]),
    }


def judgments(campaign: Campaign) -> QuerySet[Judgment]:
    return Judgment.objects.filter(assignment__annotator__campaign=campaign).order_by("pk")


def revise(campaign: Campaign) -> None:
    """Change an answer, with or without a comment."""
    old = random.choice(judgments(campaign))
    own = Judgment.objects.filter(assignment=old.assignment_id)
    own.update(is_current=False)
    Judgment.objects.create(
        assignment_id=old.assignment_id, revision=own.count() + 1, **answer(),
        comment=random.choice(["", "Why?"]), is_flagged=random.random() < 0.3,
    )  # fmt: skip


def erase(campaign: Campaign) -> None:
    """Remove the judgments of a person, as their data is."""
    person = random.choice(campaign.annotators.filter(user=None))
    n, _ = judgments(campaign).filter(assignment__annotator=person).delete()
    Annotator.objects.filter(pk=person.pk).update(n_removed=person.n_removed + n)


def looked_at(campaign: Campaign) -> list[object]:
    report = monitor_report(campaign)
    return [
        facts.counted_facts(campaign),
        list(flagged_judgments(campaign)),
        list(flagged_judgments(campaign, annotator="P1")),
        wanted(campaign),
        count_by_annotator(campaign.annotators.all(), with_open=True),
        read_progress([campaign]),
        report.annotators,
        report.hours,
        list(pay.rows(campaign)),
        judgments_added(campaign),
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
            for module in (added, facts, assignment):
                patch.setattr(module, "read_host_file", lambda *given: None)
            assert found == looked_at(campaign)
        clear_caches()
        assert found == looked_at(campaign)
        assert found[0][1] == judgments(campaign).count()


def test_sums_of_a_database_that_was_restored_are_not_used(campaigns: list[Campaign]) -> None:
    """After a restore, other judgments have the numbers of those that were summed."""
    campaign, other = campaigns
    add(campaign, 80)
    n = judgments(campaign).count()
    assert judgments_added(campaign).n == facts.counted_facts(campaign)[1] == n
    lost = list(judgments(campaign).values_list("pk", flat=True))[40:]
    Judgment.objects.filter(pk__in=lost).delete()
    add(other, 40)
    moved = [Judgment(pk=pk, assignment_id=old.assignment_id, **answer())
             for pk, old in zip(lost, judgments(other), strict=False)]  # fmt: skip
    judgments(other).delete()
    Judgment.objects.bulk_create(moved)
    clear_caches()
    for each in campaigns:
        n = judgments(each).count()
        assert judgments_added(each).n == facts.counted_facts(each)[1] == n


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize(
    "page",
    [
        *("campaigns", "export", "monitor", "monitor-remarks", "output"),
        *("access", "hours", "adjudication"),
    ],
)
def test_pages_take_as_many_steps_of_the_database_whatever_has_been_judged(
    page: str, is_new: bool, campaigns: list[Campaign], client: Client
) -> None:
    """At the second look, and at the first of a new process.

    A step is an instruction of the virtual machine of SQLite.
    """
    if connection.vendor != "sqlite":
        pytest.skip("Only SQLite counts its steps.")
    campaign = campaigns[0]
    client.force_login(make_user("reader", "researcher"))
    last = Output.objects.filter(system__test_set=campaign.test_set).order_by("pk").last()
    arguments = {"campaigns": [], "output": [campaign.slug, last.pk]}.get(page, [campaign.slug])
    address = reverse(page, args=arguments)

    def steps() -> int:
        assert client.get(address).status_code == 200
        if is_new:
            clear_caches()
            clear_ttl_cache()
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
