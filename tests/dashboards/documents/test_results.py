"""Documents of pages: the newest at once, a fresh one from a worker, never one that is wrong."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.filters import FilterError, Filters
from annotation.forms.power import StatedForm
from annotation.models import Campaign, Output, PublishedScore
from core import caching
from dashboards import power
from dashboards.correlations import document as correlations
from dashboards.documents import computing, kinds, results
from dashboards.documents.computing import QUICK, pack, settled
from dashboards.models import Analysis
from tests.dashboards.documents.working import ALL, ask, compute_waiting, end_rests, score
from tests.metrics.fleet import make_worker
from tests.refusals import refused, tells
from tests.world import World


@pytest.fixture(autouse=True)
def by_worker(settings: Any) -> None:
    settings.ANALYSES_IN_PLACE = False


def stated(difference: int) -> power.PowerChoice:
    form = StatedForm(QueryDict(f"difference={difference}"))
    assert form.is_valid()
    return power.asked(form.question())


def test_a_request_is_computed_once_and_kept(world: World) -> None:
    first = ask(world.campaign)
    assert (first.document, first.is_fresh) == (None, False)
    assert ask(world.campaign) == first
    assert compute_waiting() == 1
    assert compute_waiting() == 0
    found = ask(world.campaign)
    assert found.is_fresh
    assert found.document == settled(correlations.compute(world.campaign, ALL))
    assert Analysis.objects.count() == 1


def test_what_readers_state_has_no_campaign_and_is_kept_for_a_day(world: World) -> None:
    asked = [stated(n) for n in (4, 5)]
    results.latest("power", None, asked[0])
    compute_waiting()
    first = results.latest("power", None, asked[0])
    assert first.is_fresh
    Analysis.objects.update(not_before=timezone.now() - timedelta(days=1, seconds=1))
    results.latest("power", None, asked[1])
    compute_waiting()
    assert Analysis.objects.get().campaign is None
    assert not results.latest("power", None, asked[0]).is_fresh


def test_the_older_document_stays_until_the_new_one_is_there(world: World) -> None:
    ask(world.campaign)
    compute_waiting()
    before = ask(world.campaign)
    score(world, "chrf")
    stale = ask(world.campaign)
    assert stale.document == before.document
    assert not stale.is_fresh
    assert stale.tag != before.tag
    compute_waiting()
    after = ask(world.campaign)
    assert after.is_fresh
    assert after.document != before.document


def test_a_document_of_another_shape_is_shown_by_nobody(
    world: World, as_researcher: Client
) -> None:
    """An upgrade that forgot to raise VERSION: the basis fits, and the page is not broken."""
    for kind in ("correlations:tau-b", "trust"):
        results.latest(kind, world.campaign, ALL)
    compute_waiting()
    Analysis.objects.update(payload=pack({"rows": [{"label": "older"}]}))
    address = reverse("correlations", args=[world.campaign.slug])
    assert 'data-case="computing"' in as_researcher.get(address).text
    assert ask(world.campaign).as_of is None
    end_rests()
    ask(world.campaign)
    assert compute_waiting() > 0
    assert ask(world.campaign).is_fresh


def test_there_is_one_document_of_a_question(world: World) -> None:
    for metric in ("chrf", "ter", "bleu"):
        score(world, metric)
        ask(world.campaign)
        compute_waiting()
    assert Analysis.objects.count() == 1


def test_what_nobody_asks_for_is_dropped(world: World) -> None:
    ask(world.campaign)
    compute_waiting()
    earlier = timezone.now() - timedelta(days=computing.UNUSED_DAYS, seconds=1)
    Analysis.objects.update(not_before=earlier)
    ask(world.campaign, Filters(scores="raw"))
    compute_waiting()
    assert Analysis.objects.get().filters == Filters(scores="raw").as_json()


def test_filters_ask_different_questions(world: World) -> None:
    ask(world.campaign)
    ask(world.campaign, Filters(scores="raw"))
    assert compute_waiting() == 2
    assert Analysis.objects.values("question").distinct().count() == 2


def test_a_failure_is_told_and_not_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("no systems")

    ask(world.campaign)
    monkeypatch.setattr(correlations, "compute", fail)
    assert compute_waiting(ends_rests=False) == 1
    found = ask(world.campaign)
    assert str(found.message) == "ZeroDivisionError: no systems"
    assert compute_waiting() == 0


def test_a_failure_is_tried_again_after_a_while(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(correlations, "compute", lambda *_: 1 / 0)
        ask(world.campaign)
        compute_waiting()
    assert str(ask(world.campaign).message) == "ZeroDivisionError: division by zero"
    end_rests()
    assert str(ask(world.campaign).message) == "ZeroDivisionError: division by zero"
    assert compute_waiting() == 1
    assert ask(world.campaign).is_fresh


def test_quick_documents_do_not_wait_for_slow_ones(world: World) -> None:
    for kind in ("correlations:pearson/none/perm", "significance:pearson/none/perm", "whatif"):
        results.latest(kind, world.campaign, ALL)
    assert compute_waiting(only_quick=True) == 1
    assert results.latest("correlations:pearson/none/perm", world.campaign, ALL).is_fresh
    assert compute_waiting() == 2


def test_a_reader_is_told_how_to_start_a_worker_where_none_takes_documents(
    world: World, as_researcher: Client
) -> None:
    address = reverse("quality", args=[world.campaign.slug])
    as_researcher.get(address)
    earlier = timezone.now() - timedelta(seconds=results.PATIENCE_SECONDS + 1)
    Analysis.objects.update(not_before=earlier)
    make_worker("cpu0@here")
    assert results.latest("quality", world.campaign, ALL).waits_for == QUICK
    assert f"{settings.COMMAND} worker" in as_researcher.get(address).text
    make_worker("documents@here", queues=[QUICK])
    assert not results.latest("quality", world.campaign, ALL).waits_for


def test_values_are_shown_before_their_intervals(world: World, as_researcher: Client) -> None:
    judged = Campaign.objects.get(pk=world.campaign.pk)
    outputs = Output.objects.filter(system__in=judged.systems.all()).order_by("pk")
    for number, output in enumerate(outputs):
        PublishedScore.objects.create(campaign=judged, output=output, value=number % 5)
    score(world, "chrf")
    address = reverse("correlations", args=[judged.slug])
    data = reverse("correlations-data", args=[judged.slug, "json"])
    assert 'data-case="pending"' in as_researcher.get(address).text
    compute_waiting(only_quick=True)
    page, waiting = as_researcher.get(address).text, as_researcher.get(data)
    # The verdict is there as soon as there is a number.
    assert 'data-verdict="limited"' in page
    assert tells(page, "intervals.pending")
    assert 'data-case="older"' in page
    # A file has all its parts, or it is none yet.
    assert (waiting.status_code, waiting["Retry-After"]) == (202, "2")
    compute_waiting()
    complete = as_researcher.get(data).json()
    assert complete["is_fresh"]
    assert complete["rows"][0]["value"] == complete["comparison"]["metrics"][0]["value"]
    # Four segments have no interval and hence no rank, and the complete page says why.
    assert (complete["rows"][0]["low"], complete["rows"][0]["rank"]) == (None, None)
    assert any("20" in warning["text"] for warning in complete["warnings"])
    score(world, "ter")
    as_researcher.get(address)
    compute_waiting(only_quick=True)
    stale = as_researcher.get(data).json()
    assert "TER" in stale["intervals_note"]["text"]
    assert [metric["key"] for metric in stale["comparison"]["metrics"]] == ["chrf"]
    assert len(stale["rows"]) == 2


def test_many_readers_have_the_judgments_counted_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching, "SECONDS", 3600)
    ask(world.campaign)
    compute_waiting()
    with CaptureQueriesContext(connection) as queries:
        assert ask(world.campaign).is_fresh
        ask(world.campaign, Filters(scores="raw"))
    assert not any("annotation_judgment" in each["sql"] for each in queries)


def test_a_new_version_of_an_analysis_computes_anew(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(world.campaign)
    compute_waiting()
    monkeypatch.setattr(correlations, "VERSION", 99)
    assert not ask(world.campaign).is_fresh


def test_every_kind_is_an_analysis() -> None:
    for kind in kinds.KINDS:
        assert kinds.load(kind).VERSION >= 1


def test_filters_come_from_the_address_and_go_back_there() -> None:
    assert Filters.from_query({"page": "2"}) == ALL
    assert ALL.query() == ""
    raw = Filters.from_query({"scores": "raw"})
    assert raw.query() == "?scores=raw"
    assert Filters.from_json(raw.as_json()) == raw
    with refused("filter.not-one-of", kind=FilterError):
        Filters(scores="median")
