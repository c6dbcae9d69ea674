"""Where systems were drawn by their standing: means with the probabilities, and a warning."""

from collections import defaultdict

import pytest
from django.test import Client
from django.urls import reverse

from annotation.filters import Filters
from annotation.models import Judgment
from dashboards.panel.human import human_scores
from dashboards.quality.document import compute as quality
from dashboards.systems.document import SystemsChoice, compute
from metaeval.judgments.planning.reweighted import BIAS
from tests.annotation.pool.test_dynamic import LEVELS, make_dynamic, rate, screen_of
from tests.annotation.pools import member
from tests.dashboards.documents.working import compute_waiting
from tests.world import World

USABLE = {"choices": [{"name": "Usable", "options": ["yes", "no"]}]}


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_the_page_has_means_weighted_by_the_probabilities(world: World, client: Client) -> None:
    campaign = make_dynamic(world, segments=8, answers=USABLE)
    for user in world.annotators[:2]:
        annotator = member(campaign, user)
        while rows := screen_of(annotator):
            rate(rows, choices={"Usable": "yes"})
    # Some judgments with another score, so that weights play a part.
    for number, judgment in enumerate(Judgment.objects.order_by("pk")):
        score = LEVELS[judgment.assignment.item.output.system.name] - number % 7
        usable = {"Usable": "yes" if score > 60 else "no"}
        Judgment.objects.filter(pk=judgment.pk).update(score=score, choices=usable)
    found = {row.system: row for row in compute(campaign, SystemsChoice(scores="raw")).drawn}
    above, below = defaultdict(float), defaultdict(float)
    for judgment in Judgment.objects.select_related("assignment__item__output__system"):
        name, chance = judgment.assignment.item.output.system.name, judgment.assignment.inclusion
        above[name] += judgment.score / chance
        below[name] += 1 / chance
    assert {name: row.mean for name, row in found.items()} == pytest.approx(
        {name: above[name] / below[name] for name in above}
    )
    assert BIAS in human_scores(campaign, "raw").warnings
    # Choices by system: whoever answered, and in how far two agree.
    (table,) = quality(campaign, Filters()).choices
    assert (table.name, table.options) == ("Usable", ["yes", "no"])
    by_name = {row.system: {one.option: one.n for one in row.options} for row in table.systems}
    assert by_name["a"]["no"] == by_name["e"]["yes"] == 0
    assert by_name["a"]["yes"] == found["a"].n
    assert table.alpha == 1.0
    # Wilson's interval of 0 in n reaches to z² / (n + z²).
    (zero,) = (one for row in table.systems if row.system == "a" for one in row.options[1:])
    n = found["a"].n
    assert (zero.low, zero.high) == pytest.approx((0, 3.8415 / (n + 3.8415)), abs=1e-4)
    client.force_login(world.researcher)
    for name, words in (("systems", "drawn-table"), ("quality", "Choice: Usable")):
        client.get(reverse(name, args=[campaign.slug]))
        compute_waiting()
        assert words in client.get(reverse(name, args=[campaign.slug])).text


def test_nothing_was_drawn_elsewhere(rated: object) -> None:
    assert compute(rated, SystemsChoice()).drawn == []
