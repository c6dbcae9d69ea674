"""What each protocol's layout plants: screens, redundancy, controls beside their partners."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import groupby, pairwise
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.campaigns import add_annotators, open_campaign
from annotation.campaigns.layouts import group_sizes
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, Segment
from annotation.quality import quality_report, read_columns
from tests.refusals import refused
from tests.world import make_campaign, make_test_set, make_user

Kind = Item.Kind
SOURCE = Campaign.ShownText.SOURCE
CONTROLS = {
    "traps_per_annotator": 0,
    "bad_references_per_annotator": 5,
    "repeats_per_annotator": 4,
    "references_per_annotator": 3,
    "control_spacing": 2,
    "shown_text": SOURCE,
}


def start(campaign: Campaign, annotators: int = 3) -> Campaign:
    for number in range(annotators):
        Annotator.objects.create(campaign=campaign, label=f"S{number}", is_simulated=True)
    return open_campaign(campaign=campaign)


def with_documents(test_set: object, size: int = 5) -> None:
    for segment in test_set.segments.all():  # type: ignore[attr-defined]
        segment.document = f"doc{segment.position // size}"
        segment.save()


def shown(annotator: Annotator) -> list[list[Item]]:
    """The screens of an annotator, in order."""
    rows = annotator.assignments.select_related("item__output").order_by("position")
    items = [row.item for row in rows]
    return [
        list(group)
        for _, group in groupby(items, key=lambda i: i.screen if i.screen is not None else -i.pk)
    ]  # fmt: skip


def is_control(screen: Sequence[Item]) -> bool:
    return any(item.partner_id for item in screen)


def signature(campaign: Campaign) -> list[object]:
    """Everything that was planned, without primary keys of this campaign."""
    return [
        (row.annotator.label, row.position, row.item.kind, row.item.segment_id,
         row.item.output_id, row.item.text, row.item.place)
        for row in Assignment.objects.filter(annotator__campaign=campaign)
        .select_related("annotator", "item").order_by("annotator__label", "position")
    ]  # fmt: skip


LAYOUTS = {
    "segment-da": {},
    "document-da": {"bad_references_per_annotator": 2, "repeats_per_annotator": 1,
                    "references_per_annotator": 1, "control_spacing": 1},
    "side-by-side": {"bad_references_per_annotator": 4, "repeats_per_annotator": 2,
                     "references_per_annotator": 1, "control_spacing": 1},
}  # fmt: skip


def make(protocol: str, slug: str = "plan", **fields: object) -> Campaign:
    test_set = make_test_set(f"set-{slug}", segments=20, systems=("s1", "s2", "s3"))
    with_documents(test_set)
    design = CONTROLS | LAYOUTS[protocol] | {"annotators_per_item": 2} | fields
    return make_campaign(test_set, slug, protocol=protocol, **design)


@pytest.mark.parametrize("protocol", LAYOUTS)
def test_controls_are_paired_and_spaced(db: None, protocol: str) -> None:
    campaign = start(make(protocol))
    design = LAYOUTS[protocol] or CONTROLS
    spacing = int(str(design["control_spacing"]))
    for annotator in campaign.annotators.all():
        screens = shown(annotator)
        place = {item.pk: n for n, screen in enumerate(screens) for item in screen}
        controls = [n for n, screen in enumerate(screens) if is_control(screen)]
        expected = sum(
            int(str(design[name])) for name in design if str(name).endswith("_per_annotator")
        )
        assert len(controls) == expected
        assert all(b - a > spacing for a, b in pairwise(controls))
        for n in controls:
            for item in screens[n]:
                assert item.partner_id in place  # this annotator rates the partner too
                assert abs(place[item.partner_id] - n) > spacing
                assert item.partner.segment_id == item.segment_id
                assert item.partner.kind in (Kind.TARGET, Kind.DOCUMENT)
                if item.kind == Kind.BAD_REF:
                    assert item.output_id is None
                    assert item.text.split() != item.partner.output.text.split()
                if item.kind == Kind.REPEAT:
                    assert (item.output_id, item.text) == (item.partner.output_id, "")
                if item.kind == Kind.REF:
                    assert item.text == item.segment.references.first().text


@pytest.mark.parametrize("protocol", LAYOUTS)
def test_redundancy_is_exact_and_loads_are_even(db: None, protocol: str) -> None:
    campaign = start(make(protocol), annotators=5)
    rows = Assignment.objects.filter(annotator__campaign=campaign, item__partner=None)
    assert set(Counter(rows.values_list("item", flat=True)).values()) == {2}
    assert rows.values("item").distinct().count() == campaign.items.filter(partner=None).count()
    screens = [
        sum(not is_control(screen) for screen in shown(annotator))
        for annotator in campaign.annotators.all()
    ]
    assert max(screens) - min(screens) <= 1
    for annotator in campaign.annotators.all():
        positions = list(annotator.assignments.values_list("position", flat=True))
        assert sorted(positions) == list(range(len(positions)))


@pytest.mark.parametrize("protocol", LAYOUTS)
def test_the_same_seed_gives_the_same_plan(db: None, protocol: str) -> None:
    first = start(make(protocol))
    again, other = (
        make_campaign(
            first.test_set, name, protocol=protocol, annotators_per_item=2, seed=seed,
            **CONTROLS | LAYOUTS[protocol],
        )
        for name, seed in (("again", 7), ("other", 8))
    )  # fmt: skip
    assert signature(start(again)) == signature(first)
    assert signature(start(other)) != signature(first)


def test_documents_are_whole_and_end_with_the_document(db: None) -> None:
    campaign = start(make("document-da", traps_per_annotator=1))
    for annotator in campaign.annotators.all():
        for screen in shown(annotator):
            assert [item.kind == Kind.DOCUMENT for item in screen] == [False] * 5 + [True]
            assert [item.place for item in screen] == list(range(6))
            positions = [item.segment.position for item in screen[:5]]
            assert positions == list(range(positions[0], positions[0] + 5))
            systems = {(item.output or item.partner.output).system_id for item in screen[:5]}
            assert systems == {screen[5].system_id}
            assert screen[5].output_id is None
            assert screen[5].segment_id == screen[0].segment_id
            kinds = Counter(item.kind for item in screen[:5])
            if is_control(screen):  # a third of five, rounded, is replaced
                assert kinds in ({"bad_ref": 2, "repeat": 3}, {"trap": 2, "repeat": 3},
                                 {"repeat": 5}, {"ref": 5})  # fmt: skip
    assert campaign.items.filter(kind=Kind.DOCUMENT, partner=None).count() == 4 * 3


def test_side_by_side_shows_every_system_of_a_segment_once(db: None) -> None:
    test_set = make_test_set("five", segments=30, systems=("a", "b", "c", "d", "e"))
    campaign = make_campaign(
        test_set, "five", protocol="side-by-side", traps_per_annotator=0,
        bad_references_per_annotator=5, annotators_per_item=1,
    )  # fmt: skip
    start(campaign, annotators=1)
    screens = shown(campaign.annotators.get())
    targets = [screen for screen in screens if not is_control(screen)]
    assert sorted({len(screen) for screen in targets}) == [2, 3]
    met: dict[int, list[int]] = defaultdict(list)
    for screen in targets:
        assert len({item.segment_id for item in screen}) == 1
        met[screen[0].segment_id] += [item.output.system_id for item in screen]
    assert all(len(each) == len(set(each)) == 5 for each in met.values())
    assert len({tuple(each) for each in met.values()}) > 10  # in random order
    for screen in screens:
        if is_control(screen):
            kinds = Counter(item.kind for item in screen)
            assert kinds == {"bad_ref": 1, "repeat": len(screen) - 1}
            assert len({item.partner.screen for item in screen}) == 1


@given(n=st.integers(2, 40), wanted=st.integers(2, 8))
def test_no_screen_has_one_system(n: int, wanted: int) -> None:
    sizes = group_sizes(n, wanted)
    assert sum(sizes) == n
    assert min(sizes) >= 2
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= max(wanted, 3)


@pytest.mark.parametrize(("segments", "systems"), [(1, 3), (99, 1), (101, 1), (33, 3), (67, 3)])
@pytest.mark.parametrize("annotators", [1, 4])
def test_batches_of_any_size(db: None, segments: int, systems: int, annotators: int) -> None:
    """Appraise imports nothing of a batch that has not exactly 100 items."""
    names = [f"s{number}" for number in range(systems)]
    test_set = make_test_set("any", segments=segments, systems=names)
    few = segments == 1
    campaign = make_campaign(
        test_set, "any", traps_per_annotator=0, annotators_per_item=1, control_spacing=1,
        bad_references_per_annotator=0 if few else 3, repeats_per_annotator=0 if few else 2,
    )  # fmt: skip
    start(campaign, annotators)
    given = Assignment.objects.filter(item__campaign=campaign, item__kind=Kind.TARGET)
    assert sorted(given.values_list("item__output", flat=True)) == sorted(
        test_set.systems.values_list("outputs", flat=True)
    )
    for annotator in campaign.annotators.all():
        kinds = Counter(annotator.assignments.values_list("item__kind", flat=True))
        assert (kinds["bad_ref"], kinds["repeat"]) == ((0, 0) if few else (3, 2))


def test_tutorial_first_and_gold_in_between(db: None) -> None:
    campaign = make("segment-da")
    segment = campaign.test_set.segments.first()
    for kind, count in ((Kind.TUTORIAL, 3), (Kind.GOLD, 4)):
        for number in range(count):
            Item.objects.create(
                campaign=campaign,
                kind=kind,
                segment=segment,
                text=f"{kind} {number}",
                low=0,
                high=9,
            )
    start(campaign)
    for annotator in campaign.annotators.all():
        items = [screen[0] for screen in shown(annotator)]
        assert [i.text for i in items[:3]] == [f"tutorial {n}" for n in range(3)]
        gold = [n for n, item in enumerate(items) if item.kind == Kind.GOLD]
        assert len(gold) == 4
        part = (len(items) - 3) / 4
        assert all(abs(n - 3 - (k + 0.5) * part) <= 0.75 * part for k, n in enumerate(gold))


@pytest.mark.parametrize("protocol", LAYOUTS)
@pytest.mark.parametrize("mode", ["pool", "active"])
def test_a_pool_has_wants_and_no_assignments(db: None, protocol: str, mode: str) -> None:
    campaign = start(make(protocol, assignment_mode=mode, items_per_annotator=30), annotators=0)
    assert not Assignment.objects.exists()
    screens: dict[object, list[Item]] = defaultdict(list)
    for item in campaign.items.order_by("screen", "place", "pk"):
        screens[item.pk if item.screen is None else ("s", item.screen)].append(item)
    for items in screens.values():
        first = 0 if is_control(items) else 2
        assert [item.wanted for item in items] == [first] + [0] * (len(items) - 1)
    shuffles = [items[0].shuffle for items in screens.values() if not is_control(items)]
    assert len(set(shuffles)) == len(shuffles) > 1
    kinds = Counter(campaign.items.values_list("kind", flat=True))
    assert kinds["bad_ref"]
    assert kinds["repeat"]
    assert kinds["ref"]
    assert campaign.items.filter(kind=Kind.BAD_REF, partner=None).count() == 0


def test_people_join_an_open_pool(db: None) -> None:
    campaign = start(make("segment-da", assignment_mode="pool"), annotators=0)
    add_annotators(campaign=campaign, users=[make_user("late", "annotator")])
    assert campaign.annotators.count() == 1
    static = start(make("segment-da", slug="fixed"))
    with refused("campaign.not-draft"):
        add_annotators(campaign=static, users=[make_user("later", "annotator")])


@pytest.mark.parametrize(
    ("protocol", "fields", "code"),
    [
        ("segment-da", {"repeats_per_annotator": 60}, "controls.too-few-targets"),
        ("segment-da", {"control_spacing": 30}, "campaign.no-room-for-controls"),
        ("segment-da", {"shown_text": "reference"}, "design.references-rated"),
        ("document-da", {"bad_references_per_annotator": 30}, "controls.too-few-targets"),
    ],
)
def test_designs_that_do_not_fit(
    db: None, protocol: str, fields: dict[str, object], code: str
) -> None:
    with refused(code):
        start(make(protocol, **fields))
    assert not Item.objects.exists()


def test_documents_are_needed_and_so_are_two_systems(db: None) -> None:
    campaign = make("document-da")
    Segment.objects.filter(position__in=(3, 4)).update(document="")
    with refused("layout.needs-documents"):
        start(campaign)
    pair = make("side-by-side", slug="pair")
    pair.systems.get(name="s3").outputs.first().delete()
    pair.systems.get(name="s2").outputs.first().delete()
    with refused("layout.single-outputs"):
        start(pair)
    pair.systems.set(pair.test_set.systems.filter(name="s1"))
    with refused("layout.needs-systems"):
        open_campaign(campaign=pair)


def test_annotators_with_the_same_partner_share_a_control(db: None) -> None:
    campaign = start(
        make(
            "segment-da", annotators_per_item=3, bad_references_per_annotator=30, control_spacing=0
        )
    )
    made = campaign.items.filter(kind=Kind.BAD_REF)
    assert made.count() == made.values("partner").distinct().count() < 90
    assert Assignment.objects.filter(item__in=made).count() == 90


def test_opening_costs_no_more_queries_for_twice_the_items(
    db: None, django_assert_max_num_queries: object
) -> None:
    for segments in (100, 200):
        test_set = make_test_set(f"big-{segments}", segments=segments)
        campaign = make_campaign(test_set, f"big-{segments}", **CONTROLS, annotators_per_item=3)
        with django_assert_max_num_queries(70):  # type: ignore[operator]
            start(campaign)


def test_ratings_beside_a_replaced_text_are_no_ratings_of_outputs(db: None) -> None:
    """Side by side, an output looks better next to a bad reference."""
    campaign = start(make("side-by-side"))
    annotator = campaign.annotators.first()
    for row in annotator.assignments.all():
        Judgment.objects.create(assignment=row, score=50, submit_key=uuid4())
    columns = read_columns(campaign)
    counted = set(columns.item[columns.is_target])
    for screen in shown(annotator):
        kinds = {item.kind for item in screen}
        assert {item.pk in counted for item in screen} == {kinds in ({"target"}, {"repeat"})}
    checks = quality_report(campaign).annotators[0].checks
    assert checks.repeats.n == sum(
        len(screen) for screen in shown(annotator) if {i.kind for i in screen} == {"repeat"}
    )
    assert checks.bad_references.n == 4


def test_copies_of_documents_are_no_ratings_of_documents(db: None) -> None:
    campaign = start(make("document-da"))
    annotator = campaign.annotators.first()
    for row in annotator.assignments.all():
        Judgment.objects.create(assignment=row, score=50, submit_key=uuid4())
    columns = read_columns(campaign)
    own = [screen[-1].pk for screen in shown(annotator) if not is_control(screen)]
    assert sorted(columns.item[columns.is_document]) == sorted(own)
