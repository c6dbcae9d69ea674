"""The next step of a campaign: one for each state, and never the page that one is on."""

import re
import uuid
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import add_annotators, close_campaign, open_campaign
from annotation.filters import Filters
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Item,
    Judgment,
    Output,
    PublishedScore,
)
from annotation.quality.exclusions import exclude_annotator, reassign_items
from annotation.web.navigation import first_steps
from core.work.models import Now
from dashboards.documents import kinds
from dashboards.documents.computing import digest, pack
from dashboards.documents.reasons import Verdict
from dashboards.home.next_step import STEPS, TABLE, TRUST, State, next_step, state_of, steps
from dashboards.models import Analysis
from metrics.models import MetricRun
from tests.world import World, score

PAGES = {
    "overview": "campaign-setup", "access": "access", "monitor": "monitor", "quality": "quality",
    "export": "export",
}  # fmt: skip


def without_texts(world: World) -> None:
    world.campaign.systems.clear()


def with_people(world: World) -> None:
    Campaign.objects.update(annotators_per_item=2, traps_per_annotator=0)
    world.campaign.refresh_from_db()
    add_annotators(campaign=world.campaign, users=world.annotators)


def hindered(world: World) -> None:
    with_people(world)
    Campaign.objects.update(check_percent=20)


def opened(world: World) -> None:
    with_people(world)
    open_campaign(campaign=world.campaign)


def rate(n: int | None) -> None:
    """Store a judgment for the first open assignments, or for all."""
    rows = list(Assignment.objects.filter(completed_at=None).order_by("pk")[:n])
    for row in rows:
        Judgment.objects.create(assignment=row, score=50, submit_key=uuid.uuid4())
    Assignment.objects.filter(pk__in=[row.pk for row in rows]).update(completed_at=Now())


def under_way(world: World) -> None:
    opened(world)
    rate(1)


def rated(world: World) -> None:
    opened(world)
    rate(None)


def excluded(world: World) -> None:
    rated(world)
    first = Annotator.objects.filter(assignments__isnull=False).first()
    assert first is not None
    exclude_annotator(annotator=first, actor=world.admin, reason="for a test")


def closed(world: World) -> None:
    rated(world)
    close_campaign(campaign=world.campaign)


def unjudged(world: World) -> None:
    opened(world)
    close_campaign(campaign=world.campaign)


def all_excluded(world: World) -> None:
    closed(world)
    Annotator.objects.update(excluded_at=Now())


def scoring(world: World) -> None:
    closed(world)
    add_run(world, "running")


def failed(world: World) -> None:
    closed(world)
    add_run(world, "failed")


def scored(world: World) -> None:
    closed(world)
    score(world.test_set, "chrf")


def store(campaign: Campaign, kind: str, document: object) -> None:
    question = digest(kind, campaign.pk, Filters().as_json())
    Analysis.objects.create(
        kind=kind, campaign=campaign, question=question, payload=pack(document), as_of=Now()
    )


def computed(world: World) -> None:
    scored(world)
    store(world.campaign, TABLE, kinds.compute(TABLE, world.campaign, Filters()))


def refused(world: World) -> None:
    computed(world)
    trust = kinds.compute(TRUST, world.campaign, Filters())
    store(world.campaign, TRUST, replace(trust, verdict=Verdict.DO_NOT_USE))


def add_run(world: World, status: str) -> MetricRun:
    run = MetricRun.objects.create(test_set=world.test_set, metric="chrf", status=status)
    run.systems.set(world.test_set.systems.all())
    return run


STATES: dict[State, Callable[[World], None]] = {
    State.WITHOUT_TEXTS: without_texts,
    State.WITHOUT_PEOPLE: lambda world: None,
    State.HINDERED: hindered,
    State.READY: with_people,
    State.NOT_STARTED: opened,
    State.UNDER_WAY: under_way,
    State.EXCLUDED: excluded,
    State.RATED: rated,
    State.UNJUDGED: unjudged,
    State.ALL_EXCLUDED: all_excluded,
    State.SCORING: scoring,
    State.SCORING_FAILED: failed,
    State.UNSCORED: closed,
    State.SCORED: scored,
    State.REFUSED: refused,
    State.COMPUTED: computed,
}


def fresh(world: World) -> Campaign:
    return Campaign.objects.get(pk=world.campaign.pk)


@pytest.mark.parametrize("state", list(State))
def test_each_state_has_one_step_that_leads_to_another_page(
    world: World, as_admin: Client, state: State
) -> None:
    STATES[state](world)
    campaign = fresh(world)
    step = next_step(campaign, "preview")
    assert step is not None
    assert step.state == state
    _, target = STEPS[state]
    for page in PAGES:
        assert (next_step(campaign, page) is None) == (page == target)
    assert as_admin.get(step.link.href).status_code == 200


@pytest.mark.parametrize("state", [state for state, (_, page) in STEPS.items() if page in PAGES])
def test_a_page_does_not_name_itself_as_the_next_step(
    world: World, as_admin: Client, state: State
) -> None:
    STATES[state](world)
    address = reverse(PAGES[STEPS[state][1]], args=[world.campaign.slug])
    guides = re.findall(r'role="note" data-state=.*?href="([^"]*)"', as_admin.get(address).text)
    assert address not in guides


def test_items_given_to_others_are_no_longer_asked_for(world: World) -> None:
    excluded(world)
    reassign_items(annotator=Annotator.objects.get(excluded_at__isnull=False), actor=world.admin)
    found = state_of(fresh(world))
    assert found is not None
    assert found[0] == State.UNDER_WAY


def test_outputs_of_a_later_system_are_asked_for_alone(world: World) -> None:
    scored(world)
    run = MetricRun.objects.get()
    run.systems.remove(world.test_set.systems.get(name="weak"))
    found = state_of(fresh(world))
    assert found is not None
    state, about = found
    assert (state, about.code) == (State.UNSCORED, "campaign.partly-unscored")
    assert about.parameters == {"n": 1, "total": 2}


def test_outputs_whose_texts_are_unknown_are_not_scored(world: World) -> None:
    closed(world)
    Output.objects.update(text="")
    found = state_of(fresh(world))
    assert found is not None
    assert found[0] == State.SCORED


def test_an_import_is_scored_and_read_as_any_other(world: World) -> None:
    Campaign.objects.update(status="closed", origin="imported")
    assert state_of(fresh(world)) is None
    system = world.test_set.systems.first()
    PublishedScore.objects.create(campaign=world.campaign, system=system, value=1.0)
    found = state_of(fresh(world))
    assert found is not None
    assert found[0] == State.UNSCORED


def test_the_steps_of_a_draft_are_ticked_once_they_are_done(world: World) -> None:
    def done() -> list[str]:
        return [step.label for step in steps(fresh(world), "overview") if step.is_done]

    assert done() == ["Texts", "Task"]
    with_people(world)
    assert done() == ["Texts", "Task", "People"]
    without_texts(world)
    assert done() == ["Task"]


def test_steps_have_one_name_before_and_after_the_draft_is_saved(world: World) -> None:
    saved = [str(each.label) for each in steps(fresh(world), "overview")]
    assert saved == [str(each.label) for each in first_steps("texts")]


def test_no_test_set_is_ticked_before_one_is_chosen(world: World, as_admin: Client) -> None:
    assert 'class="done"' not in as_admin.get("/campaigns/new/").text
    assert 'class="done"' in as_admin.get("/campaigns/new/?testset=harbour").text


def test_practice_alone_is_no_rating(world: World) -> None:
    opened(world)
    Item.objects.update(kind=Item.Kind.TUTORIAL)
    found = state_of(fresh(world))
    assert found is not None
    assert found[0] == State.NOT_STARTED
