"""Documents as work: the newest state, at most so often, in the order of asking, whatever dies."""

from datetime import timedelta
from typing import Any

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core.work.models import Now
from core.work.reconciling import reconcile
from core.work.working import due, take
from dashboards.correlations import document as correlations
from dashboards.documents import computing, kinds, results
from dashboards.documents.computing import QUICK, SLOW, documents
from dashboards.models import Analysis
from tests.dashboards.documents.working import ALL, ask, compute_waiting, end_rests, score
from tests.world import World

Status = Analysis.Status


@pytest.fixture(autouse=True)
def by_worker(settings: Any) -> None:
    settings.ANALYSES_IN_PLACE = False


def die() -> None:
    """The process that computes a document is killed, and another one notices."""
    assert take(documents) is not None
    Analysis.objects.filter(status=Status.RUNNING).update(expires_at=Now() - timedelta(seconds=1))
    reconcile({QUICK, SLOW}, has_room=False)


def test_what_was_just_computed_rests(world: World) -> None:
    """Judgments every second do not have a document computed every second."""
    ask(world.campaign)
    compute_waiting()
    score(world, "chrf")
    Analysis.objects.update(not_before=Now() + timedelta(hours=1))
    shown = ask(world.campaign)
    assert (shown.document is not None, shown.is_fresh) == (True, False)
    assert compute_waiting() == 0
    score(world, "ter")
    ask(world.campaign)
    assert compute_waiting() == 1
    assert ask(world.campaign).is_fresh


def test_a_page_without_numbers_is_urgent_and_what_rests_is_not_overdue(world: World) -> None:
    """Newer numbers may wait for other work of the computer: their worker is not free."""
    Analysis.objects.all().delete()
    ask(world.campaign)
    Analysis.objects.update(not_before=Now() - timedelta(hours=1))
    assert documents.is_urgent(due(documents))
    assert documents.overdue(15).count() == 1
    end_rests()
    compute_waiting()
    score(world, "chrf")
    Analysis.objects.update(not_before=Now() - timedelta(hours=1))
    ask(world.campaign)
    Analysis.objects.update(not_before=Now() - timedelta(hours=1))
    assert due(documents).count() == 1
    assert not documents.is_urgent(due(documents))
    assert documents.overdue(15).count() == 0
    Analysis.objects.update(as_of=Now() - timedelta(hours=1))
    assert documents.overdue(15).count() == 1


@pytest.mark.parametrize(("kind", "rest"), [("correlations", 30), ("report", 300)])
def test_a_document_rests_as_long_as_it_took_and_a_download_longer(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str, rest: int
) -> None:
    ticks = iter([0.0, 30.0])
    monkeypatch.setattr(computing, "monotonic", lambda: next(ticks))
    results.latest(kind, world.campaign, ALL)
    row = take(documents)
    documents.do(row, None)
    row = Analysis.objects.get()
    assert row.seconds == 30
    assert (row.not_before - row.as_of).total_seconds() == pytest.approx(30 + rest)


def test_the_state_is_that_of_the_start(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes in while a document is computed makes it old at once."""
    real = correlations.compute

    def meanwhile(*args: Any) -> dict[str, Any]:
        found = real(*args)
        score(world, "ter")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(correlations, "compute", meanwhile)
        ask(world.campaign)
        compute_waiting()
    assert not ask(world.campaign).is_fresh
    assert compute_waiting() == 1
    assert ask(world.campaign).is_fresh


def test_whoever_asked_first_is_served_first(world: World) -> None:
    """A page that is looked at all the time does not keep others waiting."""
    order = ("overview", "correlations", "systems")
    for kind in order:
        results.latest(kind, world.campaign, ALL)
    taken = [take(documents) for _ in order]
    assert [row.kind for row in taken if row] == list(order)


def test_what_has_no_numbers_comes_first_and_then_the_oldest(world: World) -> None:
    """However long the others wait: a reader with numbers of a minute ago has something to read."""
    for kind, minutes in (("overview", 1), ("correlations", 9), ("systems", 5), ("quality", None)):
        results.latest(kind, world.campaign, ALL)
        old = None if minutes is None else Now() - timedelta(minutes=minutes)
        Analysis.objects.filter(kind=kind).update(as_of=old)
    taken = [take(documents) for _ in range(4)]
    assert [row.kind for row in taken if row] == ["quality", "correlations", "systems", "overview"]


def test_slow_documents_wait_in_a_queue_of_their_own(world: World) -> None:
    for kind in kinds.KINDS:
        results.latest(kind, world.campaign, ALL)
    queues = dict(Analysis.objects.values_list("kind", "queue"))
    assert {kind for kind, queue in queues.items() if queue == SLOW} == set(kinds.SLOW)
    assert set(queues.values()) == {QUICK, SLOW}


def test_a_document_survives_its_process(world: World) -> None:
    ask(world.campaign)
    results.latest("overview", world.campaign, ALL)
    die()
    assert Analysis.objects.filter(status=Status.QUEUED).count() == 2
    end_rests()
    assert compute_waiting() == 2
    assert ask(world.campaign).is_fresh


def test_three_deaths_are_told(world: World, as_researcher: Client) -> None:
    def asked() -> results.Result:
        return results.latest("quality", world.campaign, ALL)

    for _ in range(documents.max_attempts):
        asked()
        Analysis.objects.update(not_before=Now())
        die()
    assert asked().message.code == "analysis.killed"
    row = Analysis.objects.get()
    assert row.status == Status.FAILED  # It rests, for longer than after an error.
    assert (row.not_before - timezone.now()).total_seconds() > 300
    assert "killed" in as_researcher.get(reverse("quality", args=[world.campaign.slug])).text
    end_rests()
    asked()
    compute_waiting()
    assert (asked().is_fresh, asked().message) == (True, None)


def test_what_takes_too_long_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object) -> None:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(correlations, "compute", hang)
    ask(world.campaign)
    compute_waiting()
    found = ask(world.campaign).message
    assert found is not None
    assert (found.code, found.parameters) == ("analysis.too-long", {"n": 10})


def test_a_lost_process_stores_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken for dead while it computed, it does not overwrite what another one stored since."""
    real = correlations.compute

    def taken_away(*args: Any) -> dict[str, Any]:
        Analysis.objects.update(owner="another", payload=b"newer")
        return real(*args)

    monkeypatch.setattr(correlations, "compute", taken_away)
    ask(world.campaign)
    row = take(documents)
    documents.do(row, None)
    row = Analysis.objects.get()
    assert (bytes(row.payload), row.status) == (b"newer", Status.RUNNING)
