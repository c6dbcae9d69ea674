"""The own items that a page lists beside the item, and the practice that one can read again."""

from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.campaigns import close_campaign
from annotation.models import Assignment, Campaign, Item, Judgment
from tests.annotation.pools import make_pool, member, next_of, rate
from tests.annotation.views.test_views_judgments import JSON, address, form, opened
from tests.planting import plant
from tests.world import World


def own(client: Client, campaign: Campaign) -> dict[str, Any]:
    response = client.get(reverse("annotate-own", args=[campaign.slug]), headers=JSON)
    assert response.status_code == 200
    found: dict[str, Any] = response.json()
    return found


def test_all_own_items_and_which_are_rated(world: World, client: Client) -> None:
    rows = opened(world)
    client.force_login(world.annotators[0])
    campaign = rows[0].annotator.campaign
    rate(rows[2], 10)
    listed = own(client, campaign)["screens"]
    assert listed == [[address(row), n, n, int(n == 3)] for n, row in enumerate(rows, start=1)]
    # Any of them opens, is answered, and can be answered anew, and earlier answers are kept.
    for score in (20, 30):
        sent = form(client, rows[2], score=str(score))
        assert client.post(address(rows[2]), sent, headers=JSON).status_code == 200
    history = Judgment.objects.filter(assignment=rows[2]).order_by("revision")
    assert list(history.values_list("score", "is_current")) == [
        (10, False), (20, False), (30, True),
    ]  # fmt: skip
    close_campaign(campaign=campaign)
    assert own(client, campaign) == {"screens": [], "examples": ""}


def test_a_screen_of_several_texts_is_listed_once(db: None, client: Client) -> None:
    campaign = plant("side-by-side", outputs=[("A1.", "A2."), ("B1.", "B2.")])
    client.force_login(User.objects.get(username="annotator-1"))
    rows = list(Assignment.objects.order_by("position"))
    assert own(client, campaign)["screens"] == [
        [address(rows[0]), 1, 2, 0], [address(rows[2]), 3, 4, 0],
    ]  # fmt: skip


def test_a_pool_lists_nothing_that_was_not_rated_or_passed(world: World, client: Client) -> None:
    """How many more were given would tell what they are."""
    campaign = make_pool(world.annotators[:1], segments=12)
    annotator = member(campaign, world.annotators[0])
    client.force_login(world.annotators[0])
    assert own(client, campaign)["screens"] == []
    client.get(reverse("annotate-ahead", args=[campaign.slug]), headers=JSON)
    assert own(client, campaign)["screens"] == []
    for _ in range(2):
        row = next_of(annotator)
        assert row is not None
        rate(row)
    rows = list(annotator.assignments.order_by("position")[:2])
    assert own(client, campaign)["screens"] == [
        [address(row), n, n, 1] for n, row in enumerate(rows, start=1)
    ]


def test_practice_is_read_again_once_it_is_done(db: None, client: Client) -> None:
    campaign = plant("segment-da", outputs=[("The first.", "The second.")])
    first, second = Assignment.objects.order_by("position")
    client.force_login(User.objects.get(username="annotator-1"))
    Item.objects.filter(pk=first.item_id).update(
        kind=Item.Kind.TUTORIAL, low=70, high=90, feedback="All is <there>."
    )
    # What comes after practice waits for it, and practice tells nothing before it is done.
    assert own(client, campaign) == {"screens": [[address(first), 1, 1, 0]], "examples": ""}
    rate(first, 40)
    found = own(client, campaign)
    assert [one[0] for one in found["screens"]] == [address(first), address(second)]
    for words in ("The first.", "You gave 40", "between 70 and 90", "All is &lt;there&gt;."):
        assert words in found["examples"]
    assert "The second." not in found["examples"]


def test_the_list_costs_the_same_whatever_it_holds(
    world: World, client: Client, django_assert_max_num_queries: Any
) -> None:
    rows = opened(world, segments=40)
    client.force_login(world.annotators[0])
    campaign = rows[0].annotator.campaign
    for row in rows[:30]:
        rate(row)
    with django_assert_max_num_queries(8):
        assert len(own(client, campaign)["screens"]) == len(rows)
