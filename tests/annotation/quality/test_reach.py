"""Whether annotators can be assessed: the design on the form, the messages of every verdict."""

import random
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import add_annotators, open_campaign
from annotation.filters import Filters
from annotation.forms.campaign.form import CampaignForm
from annotation.models import Annotator, Campaign, Item, Judgment, Reference
from annotation.monitor import monitor_report
from annotation.quality import Verdict, quality_report
from annotation.quality.reach import Reach, design_warnings, proposed_traps, reach_of
from annotation.quality.verdict import of_rate, of_test
from dashboards.overview.document import compute
from dashboards.report.parts import parts
from metaeval.judgments.controls import control_test, pass_rate
from tests.annotation.views.test_views_campaigns import FORM, new_address
from tests.refusals import tells
from tests.world import World, make_campaign, make_test_set

DECIDED = {Verdict.PASSES, Verdict.FAILS}


@pytest.mark.parametrize("n", range(1, 13))
def test_the_design_is_judged_by_the_rule_of_verdicts(n: int) -> None:
    """As many traps, or pairs, as make the verdicts themselves decide."""
    verdicts = {of_rate(pass_rate(passed, n)) for passed in (0, n)}
    assert (verdicts == DECIDED) == (reach_of(traps=n, bad_references=0) == Reach.ENOUGH)
    differences = ([-20.0 - k for k in range(n)], [20.0 + k for k in range(n)])
    verdicts = set()
    for own in differences:
        pairs = [50 + each for each in own], [50.0] * n
        ranks = control_test(*pairs, method="wilcoxon")
        verdicts.add(of_test(control_test(*pairs), ranks))
    reach = reach_of(traps=0, bad_references=n)
    assert (verdicts == DECIDED) == (reach == Reach.ENOUGH)
    assert (verdicts == {Verdict.PASSES, Verdict.UNKNOWN}) == (reach == Reach.PASSES)


def test_traps_decide_nothing_without_a_score() -> None:
    assert reach_of(traps=60, bad_references=0, has_score=False) == Reach.NONE
    assert reach_of(traps=60, bad_references=10, has_score=False) == Reach.ENOUGH


@pytest.mark.parametrize(
    ("possible", "outputs", "traps"),
    [
        (10, 30, 10),
        (60, 30, 10),
        (7, 21, 7),
        (4, 12, 0),
        (0, 900, 0),
        (60, 400, 40),
        (60, 50_000, 60),
    ],
)
def test_the_proposal(possible: int, outputs: int, traps: int) -> None:
    assert proposed_traps(possible, outputs) == traps


def test_the_proposed_campaign_gives_random_clicking_a_verdict(world: World) -> None:
    """Thirty outputs: the old tenth was three traps for each, and a verdict on nobody."""
    test_set = make_test_set("ten", segments=10, systems=("one", "two", "three"))
    initial = CampaignForm(test_set=test_set).initial
    campaign = make_campaign(
        test_set,
        "clicked",
        traps_per_annotator=initial["traps_per_annotator"],
        trap_ratio=initial["trap_ratio"],
        control_spacing=initial["control_spacing"],
    )
    assert not design_warnings(campaign)
    click_at_random(world, campaign)
    report = quality_report(campaign)
    assert [each.checks.verdict for each in report.annotators] == [Verdict.FAILS] * 3
    (failing,) = report.tested.messages
    assert (failing.code, failing.parameters) == ("controls.fail", {"n": 3, "total": 3})
    assert compute(campaign, Filters()).tested == report.tested


def click_at_random(world: World, campaign: Campaign) -> None:
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    rng = random.Random(3)
    judge(campaign, lambda item: rng.randint(0, 100))


def judge(campaign: Campaign, score: object) -> None:
    for annotator in Annotator.objects.filter(campaign=campaign).order_by("pk"):
        for row in annotator.assignments.select_related("item").order_by("position"):
            Judgment.objects.create(assignment=row, score=score(row.item), submit_key=uuid4())  # type: ignore[operator]


@pytest.fixture
def untested(world: World) -> Campaign:
    """Nine traps in all, three for each annotator, none passed: too few for a verdict."""
    test_set = make_test_set("ten", segments=10, systems=("one", "two", "three"))
    campaign = make_campaign(test_set, "clicked", traps_per_annotator=3)
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    rng = random.Random(5)
    judge(campaign, lambda item: 90 if item.kind == Item.Kind.TRAP else rng.randint(0, 100))
    return campaign


def test_nobody_tested_is_said_everywhere(untested: Campaign, as_researcher: Client) -> None:
    messages = quality_report(untested).tested.messages
    assert [each.code for each in messages] == [
        "controls.nobody",
        "controls.needed",
        "controls.closest",
    ]
    assert (messages[2].parameters["n"], messages[2].parameters["missing"]) == (3, 2)
    assert parts(untested, Filters())["quality"].tested == messages
    text = as_researcher.get(reverse("quality", args=[untested.slug])).text
    assert all(each.text in text for each in messages)
    address = reverse("quality-data", args=[untested.slug, "json"])
    tested = as_researcher.get(address).json()["tested"]
    assert (tested["n"], tested["tested"], tested["failing"]) == (3, 0, [])
    assert as_researcher.get(f"/api/results/{untested.slug}/").json()["quality"]["tested"] == tested
    page = as_researcher.get(reverse("monitor", args=[untested.slug])).text
    tested = monitor_report(untested).tested
    assert tested.text in page
    assert (tested.code, tested.parameters["most"]) == ("monitor.nobody-assessed", 3)


def test_nothing_planted_and_nothing_answered(world: World) -> None:
    campaign = make_campaign(world.test_set, "bare", traps_per_annotator=0)
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    assert "controls.no-judgments" in codes(campaign)
    judge(campaign, lambda item: 50)
    assert "controls.not-planted" in codes(campaign)
    Item.objects.create(
        campaign=campaign, kind=Item.Kind.GOLD, segment=world.test_set.segments.first(), text="x"
    )
    assert "controls.not-answered" in codes(campaign)


def codes(campaign: Campaign) -> list[str]:
    """What the report says of who was assessed."""
    return [each.code for each in quality_report(campaign).tested.messages]


def test_some_tested_and_none_failing(untested: Campaign) -> None:
    """Two more traps for one annotator, who passes all five."""
    person = untested.annotators.order_by("pk").first()
    assert person is not None
    for segment in untested.test_set.segments.all()[:2]:
        item = Item.objects.create(
            campaign=untested, kind=Item.Kind.TRAP, segment=segment, text="Cut"
        )
        row = person.assignments.create(item=item, position=900 + segment.position)
        Judgment.objects.create(assignment=row, score=5, submit_key=uuid4())
    Judgment.objects.filter(assignment__annotator=person, assignment__item__kind="trap").update(
        score=3
    )
    assert codes(untested) == ["controls.none-fails", "controls.not-assessed", "controls.needed"]


def test_the_form_tells_what_its_numbers_find_out(world: World, as_admin: Client) -> None:
    page = as_admin.get(new_address(world)).text
    assert tells(page, "preset.too-small", n=4)
    assert '<p data-when="none">' in page
    assert '<p data-when="few" hidden>' in page
    few = as_admin.post(new_address(world), FORM | {"systems": []}).text
    assert '<p data-when="few">' in few
    as_admin.post(new_address(world), FORM)
    made = as_admin.get(reverse("campaign-setup", args=[Campaign.objects.latest("pk").slug])).text
    assert tells(made, "controls.few")
    campaign = Campaign.objects.get(name="Harbour, 80%")
    add_annotators(campaign=campaign, users=world.annotators)
    opened = as_admin.post(reverse("campaign-open", args=[campaign.slug]), follow=True).text
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.OPEN
    assert tells(opened, "controls.few")


def test_without_references_an_output_is_cut(world: World) -> None:
    test_set = make_test_set("ten", segments=10)
    Reference.objects.filter(segment__test_set=test_set).delete()
    assert CampaignForm(test_set=test_set).initial["traps_per_annotator"] == 10
