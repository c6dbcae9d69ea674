"""Excluding annotators: the analysis follows at once, and their items find others."""

from collections import Counter
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import close_campaign, open_campaign
from annotation.models import Annotator, Assignment, AuditEntry, Campaign, Item, Judgment
from annotation.models.assignment import count_by_campaign
from annotation.pool.claiming import give_next
from annotation.quality import quality_report, read_columns
from annotation.quality.exclusions import exclude_annotator, include_annotator, reassign_items
from dashboards.documents.computing import state_of
from tests.refusals import refused
from tests.world import World, make_campaign, make_test_set


def started(annotators: int = 4, **fields: object) -> Campaign:
    test_set = make_test_set("shift", segments=12, systems=("s1", "s2", "s3"))
    for segment in test_set.segments.all():
        segment.document = f"doc{segment.position // 4}"
        segment.save()
    campaign = make_campaign(
        test_set, "shift", **{"annotators_per_item": 2, "traps_per_annotator": 2} | fields
    )
    for number in range(annotators):
        Annotator.objects.create(campaign=campaign, label=f"S{number}", is_simulated=True)
    return open_campaign(campaign=campaign)


def rate(annotator: Annotator, count: int, score: int = 50) -> None:
    for assignment in annotator.assignments.order_by("position")[:count]:
        assignment.completed_at = timezone.now()
        assignment.save()
        Judgment.objects.create(assignment=assignment, score=score, submit_key=uuid4())


def holders(campaign: Campaign) -> Counter[int]:
    """Annotators in the analysis for every target, except those who gave it back."""
    rows = Assignment.objects.filter(
        annotator__campaign=campaign, annotator__excluded_at=None, released_at=None,
        item__kind__in=("target", "document"), item__partner=None,
    )  # fmt: skip
    return Counter(rows.values_list("item", flat=True))


def test_the_analysis_follows_at_once(world: World) -> None:
    campaign = started()
    first, second, *_ = campaign.annotators.order_by("pk")
    rate(first, 5, score=10)
    rate(second, 5, score=90)
    key = state_of(campaign)
    exclude_annotator(annotator=first, actor=world.admin, reason="answers at random")
    assert set(read_columns(campaign).score) == {90}
    report = quality_report(campaign)
    assert report.n_judgments == 5
    lines = {person.label: person for person in report.annotators}
    assert lines[first.label].excluded_at is not None
    assert lines[first.label].mean == 10  # the line of their own stays
    assert state_of(campaign) != key  # stored tables are not used again
    assert Judgment.objects.count() == 10
    include_annotator(annotator=first, actor=world.admin, reason="it was a mix-up")
    assert len(read_columns(campaign)) == 10
    assert state_of(campaign) == key


def test_every_decision_is_on_record(world: World) -> None:
    campaign = started()
    annotator = campaign.annotators.first()
    with refused("exclusion.no-reason"):
        exclude_annotator(annotator=annotator, actor=world.admin, reason="  ")
    assert not AuditEntry.objects.exists()
    annotator.refresh_from_db()
    assert annotator.excluded_at is None
    exclude_annotator(annotator=annotator, actor=world.admin, reason="p = .4")
    reassign_items(annotator=annotator, actor=world.admin)
    include_annotator(annotator=annotator, actor=world.admin, reason="checked by hand")
    entries = AuditEntry.objects.order_by("pk").values_list("action", "reason", "actor__username")
    assert list(entries) == [
        ("exclude", "p = .4", "admin"),
        ("reassign", "", "admin"),
        ("include", "checked by hand", "admin"),
    ]
    for verb in (include_annotator, reassign_items):
        with refused("exclusion.not-excluded"):
            verb(annotator=annotator, actor=world.admin, reason="again")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"protocol": "document-da", "traps_per_annotator": 0},
        {"protocol": "side-by-side", "traps_per_annotator": 0, "bad_references_per_annotator": 1},
    ],
    ids=["segments", "documents", "side by side"],
)
def test_items_go_to_others(world: World, fields: dict[str, object]) -> None:
    campaign = started(**fields)
    excluded = campaign.annotators.first()
    rate(excluded, 3)
    targets = excluded.assignments.filter(item__partner=None).exclude(item__kind="trap").count()
    exclude_annotator(annotator=excluded, actor=None, reason="too fast")
    result = reassign_items(annotator=excluded, actor=None)
    assert result.left == 0
    assert set(holders(campaign).values()) == {2}
    loads = []
    for annotator in campaign.annotators.filter(excluded_at=None):
        rows = list(annotator.assignments.order_by("position").values_list("position", "item"))
        assert len({item for _, item in rows}) == len(rows)
        assert [position for position, _ in rows] == list(range(len(rows)))
        loads.append(len(rows))
    total = Assignment.objects.filter(annotator__excluded_at=None).count()
    assert sum(loads) == total
    assert targets > 3
    assert excluded.assignments.filter(completed_at=None, released_at=None).count() == 0
    again = reassign_items(annotator=excluded, actor=None)
    assert (again.given, again.left) == (0, 0)
    assert Judgment.objects.filter(assignment__annotator=excluded).count() == 3


def test_the_least_loaded_take_most() -> None:
    from annotation.quality.exclusions import _takers

    heap = [(0, 1), (5, 2), (9, 3)]
    assert _takers(heap, {1}, 1, 2) == [2]
    assert _takers(heap, set(), 2, 2) == [1, 2]
    assert _takers(heap, {1, 2, 3}, 1, 2) == []
    assert sorted(heap) == [(2, 1), (9, 2), (9, 3)]


def test_nobody_is_left_who_has_not_seen_them(world: World) -> None:
    campaign = started(annotators=2)
    excluded = campaign.annotators.first()
    exclude_annotator(annotator=excluded, actor=None, reason="left")
    assert reassign_items(annotator=excluded, actor=None).left == 36
    close_campaign(campaign=campaign)
    with refused("campaign.not-open"):
        reassign_items(annotator=excluded, actor=None)


def test_in_a_pool_the_items_are_wanted_again(world: World) -> None:
    campaign = started(annotators=2, assignment_mode="pool")
    first, second = campaign.annotators.order_by("pk")
    one, two, three = campaign.items.filter(kind=Item.Kind.TARGET)[:3]
    for annotator, item in ((first, one), (first, two), (second, two), (second, three)):
        place = annotator.assignments.count()
        Assignment.objects.create(annotator=annotator, item=item, position=place)
        item.refresh_from_db()
        item.wanted -= 1
        item.save()
    rate(first, 2)
    exclude_annotator(annotator=first, actor=None, reason="too fast")
    assert reassign_items(annotator=first, actor=None).given == 2
    wanted = dict(campaign.items.values_list("pk", "wanted"))
    assert (wanted[one.pk], wanted[two.pk], wanted[three.pk]) == (2, 1, 1)
    include_annotator(annotator=first, actor=None, reason="no, it was fine")
    wanted = dict(campaign.items.values_list("pk", "wanted"))
    assert (wanted[one.pk], wanted[two.pk], wanted[three.pk]) == (1, 0, 1)


def test_on_the_page(world: World, as_admin: Client, client: Client) -> None:
    campaign = started()
    annotator, other, *_ = campaign.annotators.order_by("pk")
    rate(annotator, 5)
    rate(other, 5)
    people, quality = (reverse(name, args=[campaign.slug]) for name in ("monitor", "quality"))
    assert "Exclude S0" in as_admin.get(people).text
    address = reverse("annotator-decide", args=[campaign.slug, annotator.pk, "exclude"])
    page = as_admin.post(address, {"reason": ""}, follow=True)
    assert "Give a reason" in page.text
    page = as_admin.post(address, {"reason": "<b>random</b>"}, follow=True)
    assert "S0 is excluded" in page.text
    assert "Include S0" in page.text
    assert "Excluded annotators: S0." in as_admin.get(quality).text
    again = address.replace("exclude", "reassign")
    assert "Reassigned" in as_admin.post(again, follow=True).text
    overview = as_admin.get(reverse("campaign-setup", args=[campaign.slug])).text
    assert "&lt;b&gt;random" in overview
    assert as_admin.post(address.replace("exclude", "promote")).status_code == 404
    client.force_login(world.researcher)
    assert client.post(address, {"reason": "x"}).status_code == 403
    assert "Exclude S1" not in client.get(people).text
    client.force_login(world.annotators[0])
    assert client.post(address, {"reason": "x"}).status_code == 403


@pytest.mark.parametrize("mode", ["static", "pool"])
def test_counts_that_were_asked_for_before_are_those_of_the_rows(world: World, mode: str) -> None:
    """Numbers of assignments are kept, and checked before each use."""
    campaign = started(assignment_mode=mode)

    def check() -> None:
        rows = Assignment.objects.filter(annotator__campaign=campaign)
        stored = list(rows.values_list("completed_at", "released_at"))
        expected = (
            len(stored),
            sum(completed is None for completed, _ in stored),
            sum(completed is None and released is None for completed, released in stored),
        )
        found = count_by_campaign(campaign.annotators.all(), with_open=True)
        assert found[campaign.pk][:3] == expected

    check()
    people = list(campaign.annotators.order_by("pk"))
    for annotator in people:
        for _ in range(3):
            give_next(annotator=annotator)
            given = annotator.assignments.filter(completed_at=None).earliest("position")
            given.completed_at = timezone.now()
            given.save()
            check()
    exclude_annotator(annotator=people[0], actor=world.admin, reason="answers at random")
    reassign_items(annotator=people[0], actor=world.admin)
    check()
    Assignment.objects.filter(completed_at=None).update(released_at=timezone.now())
    check()
    people[1].delete()
    check()
