"""Documents of pages: the newest at once, a fresh one from a worker, never one that is wrong."""

from datetime import timedelta
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.filters import FilterError, Filters
from annotation.forms.power import StatedForm
from annotation.models import Campaign, Output, PublishedScore
from dashboards import analyses, results
from dashboards.analyses import correlations, power
from dashboards.models import Analysis
from metrics import runs, scoring
from tests.metrics.fleet import make_worker
from tests.world import World

ALL = Filters()


@pytest.fixture(autouse=True)
def by_worker(settings: Any) -> None:
    settings.ANALYSES_IN_PLACE = False


def ask(campaign: Campaign, filters: Filters = ALL) -> results.Result:
    return results.latest("correlations", campaign, filters)


def stated(difference: int) -> power.PowerChoice:
    form = StatedForm(QueryDict(f"difference={difference}"))
    assert form.is_valid()
    return power.asked(form.question())


def score(world: World, metric: str) -> None:
    (run,) = runs.start(test_set=world.test_set, metrics=[metric], enqueue=False).runs
    scoring.work_off(run.pk, worker="test")


def test_a_request_is_computed_once_and_kept(world: World) -> None:
    first = ask(world.campaign)
    assert (first.document, first.is_fresh) == (None, False)
    assert ask(world.campaign) == first
    assert results.compute_waiting() == 1
    assert results.compute_waiting() == 0
    found = ask(world.campaign)
    assert found.is_fresh
    assert found.document == correlations.compute(world.campaign, ALL)
    assert Analysis.objects.count() == 1


def test_what_readers_state_has_no_campaign_and_is_kept_for_a_day(world: World) -> None:
    asked = [stated(n) for n in (4, 5)]
    results.latest("power", None, asked[0])
    results.compute_waiting()
    first = results.latest("power", None, asked[0])
    assert first.is_fresh
    Analysis.objects.update(requested_at=timezone.now() - timedelta(days=1, seconds=1))
    results.latest("power", None, asked[1])
    results.compute_waiting()
    assert Analysis.objects.get().campaign is None
    assert not results.latest("power", None, asked[0]).is_fresh


def test_the_older_document_stays_until_the_new_one_is_there(world: World) -> None:
    ask(world.campaign)
    results.compute_waiting()
    before = ask(world.campaign)
    score(world, "chrf")
    stale = ask(world.campaign)
    assert stale.document == before.document
    assert not stale.is_fresh
    assert stale.tag != before.tag
    results.compute_waiting()
    after = ask(world.campaign)
    assert after.is_fresh
    assert after.document != before.document


def test_old_documents_are_dropped(world: World) -> None:
    for metric in ("chrf", "ter", "bleu"):
        score(world, metric)
        ask(world.campaign)
        results.compute_waiting()
    assert Analysis.objects.count() == results.KEPT


def test_filters_ask_different_questions(world: World) -> None:
    ask(world.campaign)
    ask(world.campaign, Filters(scores="raw"))
    assert results.compute_waiting() == 2
    assert Analysis.objects.values("question").distinct().count() == 2


def test_a_failure_is_told_and_not_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("no systems")

    ask(world.campaign)
    monkeypatch.setattr(correlations, "compute", fail)
    assert results.compute_waiting() == 1
    found = ask(world.campaign)
    assert found.message == "ZeroDivisionError: no systems"
    assert results.compute_waiting() == 0


def test_a_failure_is_tried_again_after_a_while(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(correlations, "compute", lambda *_: 1 / 0)
        ask(world.campaign)
        results.compute_waiting()
    earlier = timezone.now() - timedelta(seconds=results.RETRY_SECONDS + 1)
    Analysis.objects.update(computed_at=earlier)
    assert ask(world.campaign).message == "ZeroDivisionError: division by zero"
    assert results.compute_waiting() == 1
    assert ask(world.campaign).is_fresh


def test_requests_of_a_state_that_has_passed_are_dropped(world: World) -> None:
    for metric in ("chrf", "ter"):
        score(world, metric)
        ask(world.campaign)
        ask(world.campaign, Filters(scores="raw"))
    assert Analysis.objects.count() == 2
    assert results.compute_waiting() == 2
    assert ask(world.campaign).is_fresh


def test_a_quick_analyst_leaves_alone_what_takes_long(world: World) -> None:
    for kind in ("correlations:pearson/none/perm", "significance:pearson/none/perm", "whatif"):
        results.latest(kind, world.campaign, ALL)
    assert results.compute_waiting(only_quick=True) == 1
    assert results.latest("correlations:pearson/none/perm", world.campaign, ALL).is_fresh
    assert results.compute_waiting() == 2


def test_a_reader_is_told_how_to_start_a_worker_where_none_lives(world: World) -> None:
    ask(world.campaign)
    earlier = timezone.now() - timedelta(seconds=results.PATIENCE_SECONDS + 1)
    Analysis.objects.update(requested_at=earlier)
    assert ask(world.campaign).is_waiting
    make_worker("cpu0@here")
    assert not ask(world.campaign).is_waiting


def test_values_are_shown_before_their_intervals(world: World, as_researcher: Client) -> None:
    judged = Campaign.objects.get(pk=world.campaign.pk)
    outputs = Output.objects.filter(system__in=judged.systems.all()).order_by("pk")
    for number, output in enumerate(outputs):
        PublishedScore.objects.create(campaign=judged, output=output, value=number % 5)
    score(world, "chrf")
    address = reverse("correlations", args=[judged.slug])
    data = reverse("correlations-data", args=[judged.slug, "json"])
    assert "What limits trust in these numbers is being computed" in as_researcher.get(address).text
    results.compute_waiting(only_quick=True)
    page, found = as_researcher.get(address).text, as_researcher.get(data).json()
    # The verdict is there as soon as there is a number.
    assert 'data-verdict="limited"' in page
    assert "Intervals and ranks are being computed." in page
    assert "more numbers are being computed" in page
    (row,) = found["rows"]
    assert (row["value"] is not None, row["low"], row["rank"]) == (True, None, None)
    results.compute_waiting()
    complete = as_researcher.get(data).json()
    assert complete["is_fresh"]
    assert (
        complete["rows"][0]["value"]
        == row["value"]
        == complete["comparison"]["metrics"][0]["value"]
    )
    # Four segments have no interval and hence no rank, and the complete page says why.
    assert (complete["rows"][0]["low"], complete["rows"][0]["rank"]) == (None, None)
    assert any("intervals need 20" in warning for warning in complete["warnings"])
    assert not any("intervals need 20" in warning for warning in found["warnings"])
    score(world, "ter")
    as_researcher.get(address)
    results.compute_waiting(only_quick=True)
    stale = as_researcher.get(data).json()
    assert "of older data" in stale["intervals_note"]
    assert [metric["key"] for metric in stale["comparison"]["metrics"]] == ["chrf"]
    assert len(stale["rows"]) == 2


def test_a_new_version_of_an_analysis_computes_anew(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(world.campaign)
    results.compute_waiting()
    monkeypatch.setattr(correlations, "VERSION", 99)
    assert not ask(world.campaign).is_fresh


def test_every_kind_is_an_analysis() -> None:
    for kind in analyses.KINDS:
        assert analyses.load(kind).VERSION >= 1


def test_filters_come_from_the_address_and_go_back_there() -> None:
    assert Filters.from_query({"page": "2"}) == ALL
    assert ALL.query() == ""
    raw = Filters.from_query({"scores": "raw"})
    assert raw.query() == "?scores=raw"
    assert Filters.from_json(raw.as_json()) == raw
    with pytest.raises(FilterError, match="'median'"):
        Filters(scores="median")
