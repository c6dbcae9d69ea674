"""Dynamic assignment: systems drawn for each screen by known chances, and checks by chance."""

import json
import random
import uuid
from collections import Counter
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.access import ANNOTATOR
from annotation.campaign_files import to_values
from annotation.campaigns import add_annotators, open_campaign
from annotation.controls import rotate
from annotation.exports.formats import declared
from annotation.exports.judgments import judgment_dicts
from annotation.judging import assignments, judgments
from annotation.judging.answers import Answer
from annotation.judging.upcoming import screens_ahead
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment
from annotation.models.assignment import wanted
from annotation.pool import adaptive
from annotation.pool.releases import release_stale
from annotation.quality.exclusions import exclude_annotator, reassign_items
from metaeval.judgments.planning import inclusion, standing_weights
from tests.annotation.campaign_files.test_round_trip import run
from tests.annotation.judging.test_judgments import in_threads
from tests.annotation.pools import age_claims, member
from tests.refusals import refused
from tests.world import World, make_campaign, make_test_set, make_user

LEVELS = {"a": 90, "b": 80, "c": 70, "d": 40, "e": 10}


def make_dynamic(world: World, *, segments: int = 12, **fields: object) -> Campaign:
    defaults: dict[str, object] = {
        "assignment_mode": Campaign.Mode.DYNAMIC,
        "protocol": "side-by-side",
        "systems_per_screen": 3,
        "annotators_per_item": 2,
        "traps_per_annotator": 0,
        "cold_start": 1,
    }
    test_set = make_test_set("drawn", segments=segments, systems=tuple(LEVELS))
    campaign = make_campaign(test_set, "dynamic", **(defaults | fields))
    add_annotators(campaign=campaign, users=world.annotators)
    return open_campaign(campaign=campaign)


def screen_of(annotator: Annotator) -> list[Assignment]:
    """The screen that comes next, in its order; empty at the end."""
    public_id = assignments.first_open(annotator)
    if public_id is None:
        return []
    first = Assignment.objects.get(public_id=public_id)
    rows = annotator.assignments.filter(item__screen=first.item.screen).order_by("position")
    return list(rows.select_related("item__output__system"))


def rate(rows: list[Assignment], **fields: object) -> None:
    """Answer a screen by the level of its systems."""
    answers = [
        Answer(
            public_id=row.public_id,
            score=LEVELS[row.item.output.system.name] if row.item.output else 50,
            submit_key=uuid.uuid4(), started_at=timezone.now(), seen=0, **fields,
        )
        for row in rows
    ]  # fmt: skip
    judgments.submit(user=rows[0].annotator.user, answers=answers)


def test_a_screen_has_so_many_systems_and_their_probabilities(world: World) -> None:
    campaign = make_dynamic(world)
    annotator = member(campaign, world.annotators[0])
    screens = []
    while rows := screen_of(annotator):
        rate(rows)
        screens.append(rows)
    # Every document once, and no more; columns from the left.
    assert len({rows[0].item.screen for rows in screens}) == len(screens) == 12
    assert all([row.column for row in rows] == [0, 1, 2] for rows in screens)
    # Nobody was judged when the first was drawn: 3 of 5, all alike.
    assert [row.inclusion for row in screens[0]] == [pytest.approx(0.6)] * 3
    # Every document is wanted by one more person, and shows three of its five outputs.
    assert wanted(campaign) == (36, 72, False)
    listed = list(judgment_dicts(campaign))
    assert [each["column"] for each in listed] == [1, 2, 3] * 12
    assert {each["n_columns"] for each in listed} == {3}
    assert [each["inclusion"] for each in listed] == [
        row.inclusion for rows in screens for row in rows
    ]


def test_better_systems_are_drawn_more_often_once_all_were_judged(world: World) -> None:
    campaign = make_dynamic(world, exploration_percent=10)
    assert set(adaptive.current_weights(campaign).values()) == {1.0}
    annotator = member(campaign, world.annotators[0])
    for _ in range(11):
        rate(screen_of(annotator))
    weights = adaptive.current_weights(campaign)
    names = {system.pk: system.name for system in campaign.systems.all()}
    by_name = {names[pk]: weight for pk, weight in weights.items()}
    assert by_name == pytest.approx(
        dict(zip("abcde", standing_weights([90, 80, 70, 40, 10]), strict=True))
    )
    adaptive.cache.clear()
    adaptive.refresh(campaign, adaptive.current_weights)
    head = campaign.items.filter(kind=Item.Kind.TARGET).first()
    drawn = adaptive.draw_systems(campaign, head.screen)
    chances = inclusion(list(by_name.values()), 3, exploration=0.1)
    known = dict(zip(by_name, chances, strict=True))
    for item in Item.objects.filter(pk__in=drawn):
        assert drawn[item.pk]["inclusion"] == pytest.approx(known[item.output.system.name])


@pytest.mark.parametrize("per_item", [1, 3])
def test_eight_draw_at_once(shared_world: World, per_item: int) -> None:
    """Every document is judged by as many people as asked for, each of whom sees three outputs."""
    users = [make_user(f"crowd-{n}", ANNOTATOR) for n in range(8)]
    campaign = make_dynamic(shared_world, segments=6, annotators_per_item=per_item)
    add_annotators(campaign=campaign, users=users)

    def work(number: int) -> int:
        annotator, n_screens = member(campaign, users[number]), 0
        while rows := screen_of(annotator):
            rate(rows)
            n_screens += 1
        return n_screens

    results = in_threads(work)
    assert all(isinstance(result, int) for result in results), results
    assert sum(results) == 6 * per_item
    shown = Counter(Assignment.objects.values_list("item__screen", "annotator"))
    assert set(shown.values()) == {3}
    assert Counter(screen for screen, _ in shown) == dict.fromkeys(range(6), per_item)
    drawn = Assignment.objects.values_list("item", "annotator", "inclusion")
    assert len({(item, annotator) for item, annotator, _ in drawn}) == 18 * per_item
    assert all(0 < chance <= 1 for *_, chance in drawn)
    assert Judgment.objects.count() == 18 * per_item
    assert wanted(campaign) == (18 * per_item, 18 * per_item, True)


def test_a_claim_that_goes_back_keeps_its_systems_for_who_had_it(world: World) -> None:
    campaign = make_dynamic(world, segments=2, annotators_per_item=1)
    first, second = (member(campaign, user) for user in world.annotators[:2])
    before = screen_of(first)
    # A page loaded again, or another process, finds the same screen.
    assert [row.pk for row in screen_of(first)] == [row.pk for row in before]
    age_claims(minutes=999)
    assert release_stale(campaign) == 1
    assert sum(campaign.items.values_list("wanted", flat=True)) == 2
    assert [row.pk for row in screen_of(first)] == [row.pk for row in before]
    after = screen_of(second)
    rate(before)
    rate(after)
    assert screen_of(second) == []
    assert wanted(campaign) == (6, 6, True)
    # Whoever is taken out leaves a document to be judged again, whichever of it they were shown.
    exclude_annotator(annotator=first, actor=world.admin, reason="careless")
    assert reassign_items(annotator=first, actor=world.admin).given == 1
    (head,) = campaign.items.filter(wanted__gt=0)
    assert (head.screen, head.wanted) == (before[0].item.screen, 1)
    assert len(screen_of(second)) == 3


def test_screens_come_ahead_whatever_systems_they_show(world: World) -> None:
    campaign = make_dynamic(world, segments=20)
    shown = screens_ahead(annotator=member(campaign, world.annotators[0]))
    assert len(shown) > 1
    assert all(len(each.items) == 3 for each in shown)
    # All that is open is on them: none was drawn twice, none begins in the middle.
    given = Assignment.objects.filter(annotator__campaign=campaign).count()
    assert given == 3 * len(shown)


def test_checks_come_by_chance_and_nobody_gets_one_twice(world: World) -> None:
    campaign = make_dynamic(world, rotated_checks=4, check_percent=40)
    gold = campaign.items.filter(kind=Item.Kind.GOLD)
    assert gold.count() == 12
    for screen in {item.screen for item in gold}:
        items = {item.place: item for item in gold.filter(screen=screen)}
        (place,) = {item.rules["above"] for item in items.values() if item.rules}
        spoiled, clean = items[place].text, items[(place + 1) % 3].text
        assert spoiled.split() != clean.split()
        own = campaign.test_set.segments.get(pk=items[0].segment_id).outputs
        assert not own.filter(text=spoiled).exists()
        assert own.filter(text=clean).exists()
        assert any(sorted(o.text.split()) == sorted(spoiled.split()) for o in own.all())
    annotator = member(campaign, world.annotators[0])
    order = []
    while rows := screen_of(annotator):
        rate(rows)
        order.append((rows[0].item.kind, rows[0].item.screen))
    assert len(set(order)) == len(order)
    kinds = [kind for kind, _ in order]
    assert kinds.count(Item.Kind.TARGET) == 12
    assert 1 <= kinds.count(Item.Kind.GOLD) <= 4
    # The same draws for the same person: the time of a look does not matter.
    assert {row.inclusion for row in annotator.assignments.filter(item__kind="gold")} == {None}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"protocol": "segment-da"}, "design.dynamic-needs-systems"),
        ({"systems_per_screen": 5}, "design.nothing-drawn"),
        ({"traps_per_annotator": 2}, "design.dynamic-without-planted"),
        ({"rotated_checks": 2}, "design.no-chance"),
        ({"assignment_mode": "static", "check_percent": 5}, "design.chance-of-fixed"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    world: World, fields: dict[str, object], code: str
) -> None:
    with refused(code):
        make_dynamic(world, **fields)
    assert not Item.objects.filter(campaign__slug="dynamic").exists()


def test_its_file_makes_the_same_campaign(world: World, tmp_path: Path) -> None:
    campaign = make_dynamic(
        world, rotated_checks=2, check_percent=30, cold_start=3, exploration_percent=40
    )
    written = to_values(campaign)
    # The checks that were made are among the items; they are not made once more.
    assert len(written["items"]) == 6
    run(tmp_path, written, "--slug", "copy")
    again = to_values(Campaign.objects.get(slug="copy"))
    assert again.pop("task") == written.pop("task") | {"slug": "copy"}
    assert again == written


@pytest.mark.needs("extensions.formats")
def test_pearmut_has_its_rules(world: World) -> None:
    campaign = make_dynamic(
        world, rotated_checks=2, check_percent=30, cold_start=3, exploration_percent=40
    )
    (as_pearmut,) = declared()["pearmut"].pieces(campaign)
    info = json.loads(as_pearmut)["info"]
    assert (info["assignment"], info["dynamic_models"], info["dynamic_coldstart"]) == (
        "dynamic", 3, 3,
    )  # fmt: skip


def test_words_change_places_in_a_ring() -> None:
    text = "one two three four five six seven"
    for seed in range(20):
        found = rotate(text, "en", random.Random(seed))
        assert found is not None
        moved = [a != b for a, b in zip(text.split(), found.split(), strict=True)]
        assert sum(moved) == 5
        assert sorted(found.split()) == sorted(text.split())
    assert rotate("one two three four", "en", random.Random(1)) is None
    characters = rotate("海港今天早上非常安静啊", "zh", random.Random(1))
    assert characters is not None
    assert sorted(characters) == sorted("海港今天早上非常安静啊")
