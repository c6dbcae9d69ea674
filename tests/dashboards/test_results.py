"""Documents of pages: the newest at once, a fresh one from a worker, never one that is wrong."""

from typing import Any

import pytest

from annotation.models import Campaign
from dashboards import analyses, results
from dashboards.analyses import correlations
from dashboards.filters import FilterError, Filters
from dashboards.models import Analysis
from metrics import runs, scoring
from tests.world import World

ALL = Filters()


@pytest.fixture(autouse=True)
def by_worker(settings: Any) -> None:
    settings.ANALYSES_IN_PLACE = False


def ask(campaign: Campaign, filters: Filters = ALL) -> results.Result:
    return results.latest("correlations", campaign, filters)


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
