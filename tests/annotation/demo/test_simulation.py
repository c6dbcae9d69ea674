"""Simulated annotators are marked, complete, reproducible and follow the adequacy."""

import numpy as np

from annotation.demo import load_demo
from annotation.demo.load import RATERS, simulate_campaign
from annotation.models import Annotator, Campaign, Item, Judgment, Output
from annotation.protocols import PROTOCOLS
from tests.world import World, make_campaign


def simulate(world: World, slug: str) -> Campaign:
    campaign = make_campaign(world.test_set, slug, origin="simulated")
    outputs = Output.objects.order_by("pk").values_list("pk", flat=True)
    adequacy = {pk: 100.0 * rank / len(outputs) for rank, pk in enumerate(outputs)}
    return simulate_campaign(campaign=campaign, adequacy=adequacy)


def scores(campaign: Campaign) -> list[tuple[str, int, int]]:
    rows = Judgment.objects.filter(assignment__annotator__campaign=campaign)
    columns = ("assignment__annotator__label", "assignment__position", "score")
    return sorted(rows.values_list(*columns))


def test_everything_is_rated_and_marked(world: World) -> None:
    campaign = simulate(world, "one")
    assert campaign.status == Campaign.Status.CLOSED
    assert len(scores(campaign)) == 3 * 10
    assert set(Annotator.objects.values_list("is_simulated", "user")) == {(True, None)}


def test_no_two_judgments_share_a_key_between_campaigns(world: World) -> None:
    simulate(world, "one")
    simulate(world, "two")
    assert Judgment.objects.count() == 60


def test_the_demo_has_four_simulated_campaigns_and_one_to_try_of_each_protocol(db: None) -> None:
    load_demo()
    load_demo()  # changes nothing
    origins = dict(Campaign.objects.values_list("slug", "origin"))
    assert {slug for slug, origin in origins.items() if origin == "simulated"} == {
        "demo-en-zh-50",
        "demo-en-zh-80",
        "demo-zh-en-50",
        "demo-zh-en-80",
    }
    to_try = Campaign.objects.filter(origin="collected", status="open")
    assert sorted(to_try.values_list("protocol", flat=True)) == sorted(PROTOCOLS)
    assert len(origins) == 4 + len(PROTOCOLS)
    assert Judgment.objects.count() == 4 * 3 * (44 * 3 + 20)
    assert not Judgment.objects.filter(assignment__item__campaign__slug__startswith="try-").exists()


def test_means_follow_the_systems_and_traps_are_low(db: None) -> None:
    load_demo()
    rows = Judgment.objects.filter(assignment__item__campaign__slug="demo-en-zh-80")
    means = [
        np.mean(rows.filter(assignment__item__output__system__name=name).values_list("score"))
        for name in ("prefix-token", "length-embedding", "cut-decoder")
    ]
    assert means[0] > means[1] + 10 > means[2] + 20
    traps = rows.filter(assignment__item__kind=Item.Kind.TRAP).values_list("score", flat=True)
    attention = np.mean([rater.attention for rater in RATERS])
    assert abs(np.mean(np.array(traps) <= 20) - attention) < 0.12
