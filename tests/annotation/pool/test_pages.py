"""Pages of an open pool: from the first item to the last, what they say, what they cost."""

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.judging import upcoming
from annotation.models import Assignment, Campaign, Item, Judgment
from annotation.pool import candidates
from tests.annotation.pools import (
    age_claims,
    controlled,
    costs,
    make_pool,
    member,
    next_of,
    rate,
    work,
)
from tests.annotation.views.test_views_judgments import JSON, MAX_QUERIES, form
from tests.house.templates.seen import seen
from tests.world import World

Kind = Item.Kind
IS_SQLITE = connection.vendor == "sqlite"


def test_from_the_first_item_to_the_last(world: World, client: Client) -> None:
    campaign = make_pool(world.annotators, segments=2)
    client.force_login(world.annotators[0])
    start = reverse("annotate", args=[campaign.slug])
    place = client.get(start).url
    for number in range(1, 5):
        page = client.get(place)
        assert f"<h1>Item {number}</h1>" in seen(page.text)
        row = Assignment.objects.get(position=number - 1)
        place = client.post(place, form(client, row), headers=JSON).json()["next"]
    assert place == reverse("annotate-done", args=[campaign.slug])
    assert 'data-rated="4"' in client.get(place).text
    assert Judgment.objects.count() == 4


def test_the_last_page_looks_for_work_again(world: World, client: Client) -> None:
    campaign = make_pool(world.annotators, segments=1, systems=("only",), annotators_per_item=1)
    next_of(member(campaign, world.annotators[0]))
    client.force_login(world.annotators[1])
    done = reverse("annotate-done", args=[campaign.slug])
    assert client.get(done).status_code == 200
    age_claims(hours=5)
    assert client.get(done, follow=True).redirect_chain[-1][0].startswith("/item/")


def titles(world: World, **fields: object) -> list[str]:
    """What the pages of one annotator say of the place, over controls and the ratings of others."""
    campaign = controlled(world, traps_per_annotator=4, repeats_per_annotator=2, **fields)
    annotator = member(campaign, world.annotators[0])
    shown = []
    while (row := next_of(annotator)) is not None:
        shown.append(upcoming.next_screen(annotator=annotator).title)
        # Others take what is left of some items, so that the pool runs out before the limit.
        work(member(campaign, world.annotators[1]), at_most=1)
        rate(row)
    assert Assignment.objects.filter(annotator=annotator, item__kind=Kind.TRAP).exists()
    return shown


def test_a_total_is_what_was_set_beforehand_whatever_comes(world: World) -> None:
    shown = titles(world, items_per_annotator=40)
    assert shown == [f"Item {number} of at most 40" for number in range(1, 41)]


def test_without_a_limit_there_is_no_total(world: World) -> None:
    """Nobody knows it, and an estimate would move with the kinds of items and with other people."""
    shown = titles(world, items_per_annotator=0)
    assert len(shown) > 40
    assert shown == [f"Item {number}" for number in range(1, len(shown) + 1)]


def test_a_last_screen_may_go_beyond_the_limit(world: World) -> None:
    campaign = make_pool(
        world.annotators, systems=("a", "b", "c"), together=True, protocol="side-by-side",
        items_per_annotator=2,
    )  # fmt: skip
    annotator = member(campaign, world.annotators[0])
    next_of(annotator)
    assert upcoming.next_screen(annotator=annotator).title == "Items 1–3 of at most 3"


def test_a_submit_costs_little_at_any_place(world: World, client: Client) -> None:
    campaign = make_pool(world.annotators, segments=60)
    first, *others = costs(client, campaign, world.annotators[0], {0, 1, 50, 99})
    assert {first, *others} == {first}
    assert first <= MAX_QUERIES


def test_a_control_costs_no_more(world: World, client: Client) -> None:
    campaign = controlled(
        world, traps_per_annotator=4, repeats_per_annotator=2, bad_references_per_annotator=2
    )
    counted = costs(client, campaign, world.annotators[0], set(range(38)))
    assert max(counted) <= MAX_QUERIES


@pytest.mark.parametrize("mode", [Campaign.Mode.POOL, Campaign.Mode.ACTIVE])
def test_a_look_reads_stretches_of_the_index_not_levels(world: World, mode: str) -> None:
    """With the equation second, SQLite sorts every screen of a level, for every claim."""
    make_pool(world.annotators, assignment_mode=mode)
    sql, params = candidates._prepared(mode, False, 2).make().query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(("EXPLAIN QUERY PLAN " if IS_SQLITE else "EXPLAIN ") + sql, params)
        plan = "\n".join(str(row[-1]) for row in cursor.fetchall())
    # PostgreSQL reads a table this small as a whole, and says so; the order does not matter to it.
    assert ("(campaign_id=? AND wanted=? AND shuffle>?)" in plan) == IS_SQLITE
    assert not (IS_SQLITE and "ORDER BY" in plan)
