"""The list of campaigns: what it finds, in which order, what needs its reader, and how cheaply."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.campaigns import add_annotators, open_campaign
from annotation.filters import Filters
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, TestSet
from annotation.models.assignment import wanted
from core.work.models import Now
from dashboards.comparisons.document import Metric
from dashboards.documents import kinds
from dashboards.documents.computing import digest, pack
from dashboards.home.attention import read_progress
from dashboards.home.next_step import TABLE, read_leaders
from dashboards.models import Analysis
from metrics.models import MetricRun
from tests.world import World, make_campaign, make_test_set


def shown(client: Client, query: str = "") -> list[str]:
    page = client.get(f"/campaigns/{query}")
    assert page.status_code == 200, page.text
    return [line.campaign.slug for group in page.context["groups"] for line in group.lines]


@pytest.fixture
def several(world: World) -> dict[str, Campaign]:
    Campaign.objects.all().delete()
    other = make_test_set("news", languages=("en", "de"))
    made = {
        "a": make_campaign(world.test_set, "a", name="Winter", study="port", status="closed"),
        "b": make_campaign(world.test_set, "b", name="Autumn", study="port"),
        "c": make_campaign(other, "c", name="Summer fluency", status="open"),
    }
    for days, slug in enumerate("cba"):
        then = datetime(2026, 1, 10 - days, tzinfo=UTC)
        Campaign.objects.filter(slug=slug).update(created_at=then)
    return made


def test_campaigns_of_one_study_are_one_line(
    several: dict[str, Campaign], as_admin: Client
) -> None:
    """Unless the reader looks for something, or wants an order of campaigns."""
    groups = as_admin.get("/campaigns/").context["groups"]
    assert [group.study for group in groups] == ["", "port"]
    assert [group.is_folded for group in groups] == [False, True]
    for query in ("?study=port", "?sort=name"):
        groups = as_admin.get(f"/campaigns/{query}").context["groups"]
        assert not any(group.is_folded for group in groups)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["c", "b", "a"]),  # open, drafts, closed
        ("?sort=name", ["b", "c", "a"]),
        ("?sort=newest", ["c", "b", "a"]),
        ("?sort=study&study=port", ["b", "a"]),
        ("?q=fluency", ["c"]),
        ("?q=en-de", ["c"]),
        ("?q=zh+winter", ["a"]),
        ("?q=winter+summer", []),
        ("?status=draft", ["b"]),
        ("?mine=1&status=closed", ["a"]),
    ],
)
def test_what_an_address_asks_for(
    several: dict[str, Campaign], as_admin: Client, query: str, expected: list[str]
) -> None:
    assert shown(as_admin, query) == expected


def test_who_only_reads_sees_first_what_has_ratings(
    several: dict[str, Campaign], world: World, as_researcher: Client
) -> None:
    annotator = Annotator.objects.create(campaign=several["a"], user=world.annotators[0], label="A")
    item = Item.objects.create(
        campaign=several["a"], segment=several["a"].test_set.segments.first()
    )
    row = Assignment.objects.create(annotator=annotator, item=item, position=0)
    assert shown(as_researcher) == ["c", "b", "a"]
    Assignment.objects.filter(pk=row.pk).update(completed_at=datetime(2026, 1, 11, tzinfo=UTC))
    assert shown(as_researcher) == ["a", "b", "c"]  # one study, where its first is
    assert shown(as_researcher, "?sort=open") == ["c", "b", "a"]


@pytest.mark.parametrize("query", ["?status=gone", "?sort=size", "?mine=yes", "?nonsense=1"])
def test_what_there_is_not_is_refused(as_admin: Client, query: str) -> None:
    assert as_admin.get(f"/campaigns/{query}").status_code == 400


def test_drafts_offer_no_results(several: dict[str, Campaign], as_admin: Client) -> None:
    page = as_admin.get("/campaigns/").text
    assert "/campaigns/b/results/" not in page
    assert "/campaigns/b/setup/" in page
    assert "/campaigns/a/results/" in page


@pytest.mark.parametrize("mode", ["static", "pool"])
def test_progress_is_that_of_the_campaigns_own_pages(world: World, mode: str) -> None:
    """`wanted` counts each campaign separately, with the kind of every item."""
    campaign = make_campaign(world.test_set, "counted", assignment_mode=mode, status="draft")
    segment = world.test_set.segments.first()
    Item.objects.create(campaign=campaign, kind="tutorial", segment=segment, text="x", low=1)
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    given = Assignment.objects.filter(annotator__campaign=campaign)
    given.filter(pk__in=list(given.values_list("pk", flat=True)[:3])).update(completed_at=Now())
    campaign.annotators.filter(pk=campaign.annotators.last().pk).update(excluded_at=Now())
    found = read_progress([campaign])[campaign.pk]
    done, total, _is_complete = wanted(campaign)
    assert (found.rated, found.total) == (done, total)
    assert total > 0


@pytest.mark.parametrize("here", [5, 13])
def test_the_last_rating_was_given_here_or_imported(world: World, here: int) -> None:
    """Only who rated here has the time of the last rating; of others it is read."""
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    for row, day, is_here in zip(world.campaign.annotators.all(), (here, 9), (1, 0), strict=False):
        time = datetime(2026, 1, day, tzinfo=UTC)
        row.assignments.update(completed_at=time)
        world.campaign.annotators.filter(pk=row.pk).update(answered_at=time if is_here else None)
    last = read_progress([world.campaign])[world.campaign.pk].last
    assert last == datetime(2026, 1, max(here, 9), tzinfo=UTC)


def test_a_campaign_in_need_is_named(world: World, as_admin: Client, client: Client) -> None:
    found = [need.text.code for need in as_admin.get("/campaigns/").context["needs"]]
    assert found == ["need.draft-without-annotators"]
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    then = datetime.now(UTC) - timedelta(days=9)
    Campaign.objects.update(opened_at=then)
    MetricRun.objects.create(test_set=world.test_set, metric="chrf", status="failed")
    MetricRun.objects.create(test_set=world.test_set, metric="bleu", status="failed")
    MetricRun.objects.create(test_set=world.test_set, metric="bleu", status="done")
    found = [need.text for need in as_admin.get("/campaigns/").context["needs"]]
    assert [each.code for each in found] == ["need.failed", "need.silent"]
    assert (found[0].parameters["test_set"], found[1].parameters["n"]) == ("Harbour", 9)
    client.force_login(world.researcher)
    assert client.get("/campaigns/").context["needs"] == []  # runs none of them


def test_what_is_complete_and_what_nobody_scored(world: World, as_admin: Client) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    Assignment.objects.update(completed_at=Now())
    [need] = as_admin.get("/campaigns/").context["needs"]
    assert need.text.code == "need.complete"
    Assignment.objects.filter(pk=Assignment.objects.earliest("pk").pk).update(completed_at=None)
    assert as_admin.get("/campaigns/").context["needs"] == []
    first = Assignment.objects.first()
    Judgment.objects.create(assignment=first, score=1, submit_key=uuid.uuid4())
    Campaign.objects.update(status="closed")
    [need] = as_admin.get("/campaigns/").context["needs"]
    assert need.text.code == "need.unscored"


def test_the_leading_metric_comes_from_what_is_stored(world: World, as_admin: Client) -> None:
    campaign, filters = world.campaign, Filters()
    empty = kinds.compute(TABLE, campaign, filters)
    metrics = [
        Metric(
            key=key,
            label=key.upper(),
            signature=key,
            origin="",
            is_turned=False,
            metric=key,
            value=value,
        )
        for key, value in (("bleu", 0.2), ("chrf", 0.31), ("none", None))
    ]
    Analysis.objects.create(
        kind=TABLE, campaign=campaign, question=digest(TABLE, campaign.pk, filters.as_json()),
        payload=pack(replace(empty, metrics=metrics)), as_of=Now(),
    )  # fmt: skip
    found = read_leaders([campaign])[campaign.pk]
    assert (found.label, found.value) == ("CHRF", 0.31)
    Campaign.objects.update(status="closed")
    assert "CHRF 0.31" in as_admin.get("/campaigns/").text
    assert Analysis.objects.count() == 1  # nothing was asked for


def test_a_full_page_takes_no_more_queries_than_three_campaigns(
    several: dict[str, Campaign], as_admin: Client
) -> None:
    as_admin.get("/campaigns/")
    with CaptureQueriesContext(
        connection,
    ) as few:
        as_admin.get("/campaigns/")
    for number in range(27):
        modes = ("static", "pool")
        make_campaign(
            TestSet.objects.first(), f"more-{number}", status=("open", "closed")[number % 2],
            assignment_mode=modes[number % 2],
        )  # fmt: skip
    with CaptureQueriesContext(connection) as many:
        assert len(shown(as_admin)) == 20  # of a page
    assert len(many) <= len(few) + 2  # the pools' items
