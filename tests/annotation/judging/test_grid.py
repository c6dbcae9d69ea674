"""A screen that is a document by several systems: planted, shown, stored, in few queries."""

import uuid
from collections import defaultdict
from dataclasses import replace
from itertools import product

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.campaigns import add_annotators, layouts, open_campaign
from annotation.exports.judgments import judgment_dicts, span_dicts
from annotation.exports.mtme import bundle
from annotation.judging.answers import Answer
from annotation.judging.judgments import issue_start, read_start, submit
from annotation.judging.screens import find_screen
from annotation.judging.upcoming import screens_ahead
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment
from annotation.protocols import PROTOCOLS, Span
from core.messages import messages_of
from tests.planting import plant
from tests.refusals import refused
from tests.world import make_campaign, make_test_set, make_user

SYSTEMS = ("anna", "bert", "cora", "dora", "emil")


def make(**fields: object) -> Campaign:
    """Four documents of three segments by five systems."""
    test_set = make_test_set("grid", segments=12, systems=SYSTEMS)
    for segment in test_set.segments.all():
        segment.document = f"document {segment.position // 3}"
        segment.save(update_fields=["document"])
    defaults: dict[str, object] = {
        "protocol": "contrastive-esa", "shown_text": "source", "systems_per_screen": 3,
        "annotators_per_item": 1, "traps_per_annotator": 0,
    }  # fmt: skip
    campaign = make_campaign(test_set, "grid", **(defaults | fields))
    add_annotators(campaign=campaign, users=[make_user("annotator-1", "annotator")])
    return campaign


def screens(campaign: Campaign) -> dict[int, list[Item]]:
    found: dict[int, list[Item]] = defaultdict(list)
    rows = campaign.items.select_related("segment", "output__system").order_by("screen", "place")
    for item in rows:
        found[item.screen].append(item)
    return found


def test_every_output_is_on_one_screen_with_its_document(db: None) -> None:
    campaign = open_campaign(campaign=make())
    found = screens(campaign)
    # Five systems by threes are three and two.
    assert sorted(len(items) for items in found.values()) == [6] * 4 + [9] * 4
    seen = set()
    for items in found.values():
        assert len({item.segment.document for item in items}) == 1
        width = len(items) // 3
        by_row = [items[start : start + width] for start in range(0, len(items), width)]
        columns = [[item.output.system.name for item in row] for row in by_row]
        assert columns == [columns[0]] * 3
        assert [[item.column for item in row] for row in by_row] == [list(range(width))] * 3
        assert {item.n_columns for item in items} == {width}
        seen |= {(item.segment_id, item.output.system.name) for item in items}
    assert len(seen) == 12 * len(SYSTEMS)
    # Shuffled: five systems in one order on all four documents would be a chance of 1 in 120^3.
    orders = {
        tuple(item.output.system.name for item in items[: len(items) // 3])
        for items in found.values()
    }
    assert len(orders) > 2


def test_a_document_lacks_no_output(db: None) -> None:
    campaign = make()
    campaign.systems.first().outputs.first().delete()
    with refused("layout.missing-outputs"):
        open_campaign(campaign=campaign)


def test_a_screen_has_a_size(db: None) -> None:
    campaign = make(systems_per_screen=5)
    campaign.test_set.segments.update(document="one")
    test_set = campaign.test_set
    assert layouts.MOST_ON_SCREEN >= 12 * 5
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layouts, "MOST_ON_SCREEN", 59)
        with pytest.raises(ValidationError) as caught:
            open_campaign(campaign=Campaign.objects.get(test_set=test_set))
    (refusal,) = messages_of(caught.value)
    assert refusal.code == "layout.large-screen"
    assert (refusal.parameters["systems"], refusal.parameters["n"]) == (5, 60)


def test_controls_copy_the_screen_and_replace_texts_of_one_column(db: None) -> None:
    campaign = make(bad_references_per_annotator=2, repeats_per_annotator=1)
    campaign = open_campaign(campaign=campaign)
    controls = [
        items for items in screens(campaign).values() if any(item.partner_id for item in items)
    ]
    assert len(controls) == 3
    for items in controls:
        systems = [
            {row.partner.output.system_id for row in items if row.column == column}
            for column in range(items[0].n_columns)
        ]
        assert all(len(column) == 1 for column in systems)
        bad = [item for item in items if item.kind == Item.Kind.BAD_REF]
        assert len(bad) in (0, 1)
        assert all(not item.text for item in items if item not in bad)
    assert sum(any(i.kind == "bad_ref" for i in items) for items in controls) == 2


def answers(annotator: Annotator, rows: list[Assignment], score: int, seen: int) -> list[Answer]:
    return [
        Answer(
            public_id=row.public_id,
            submit_key=uuid.uuid4(),
            started_at=read_start(
                issue_start(user_id=annotator.user_id, public_id=row.public_id),
                user_id=annotator.user_id, public_id=row.public_id,
            ),
            seen=seen,
            score=score,
            spans=(Span("target", 0, 3, "minor"), Span("target", 4, 6, "major")),
        )
        for row in rows
    ]  # fmt: skip


@pytest.fixture
def wide(db: None) -> Annotator:
    """Twelve segments by eight systems on one screen."""
    texts = [f"Text {n} is here." for n in range(12)]
    plant("contrastive-esa", sources=texts, outputs=[texts] * 8)
    return Annotator.objects.select_related("user", "campaign__test_set").get()


def test_a_submit_of_96_takes_few_queries(wide: Annotator) -> None:
    rows = list(wide.assignments.order_by("position"))
    assert len(rows) == 96
    for seen in (0, 1):
        with CaptureQueriesContext(connection) as asked:
            submit(user=wide.user, answers=answers(wide, rows, 70 + seen, seen))
        assert len(asked) <= 15, [query["sql"][:80] for query in asked]
    kept = Judgment.objects.filter(assignment__annotator=wide)
    assert kept.filter(is_current=True, score=71, revision=2).count() == 96
    assert kept.filter(is_current=False, score=70).count() == 96
    assert Assignment.objects.filter(completed_at=None).count() == 0


def test_a_screen_of_96_is_shown_in_few_queries(wide: Annotator) -> None:
    first = wide.assignments.order_by("position")[0]
    with CaptureQueriesContext(connection) as asked:
        screen = find_screen(user=wide.user, public_id=first.public_id)
    assert len(asked) <= 5
    assert [(item.row, item.place) for item in screen.items] == [
        (row, 8 * row + column + 1) for row, column in product(range(12), range(8))
    ]


def test_screens_ahead_follow_a_large_one(db: None) -> None:
    campaign = make(systems_per_screen=5)
    for segment in campaign.test_set.segments.all():
        segment.document = f"document {segment.position // 6}"
        segment.save(update_fields=["document"])
    campaign = open_campaign(campaign=campaign)
    annotator = Annotator.objects.select_related("campaign__test_set").get(campaign=campaign)
    first, second = annotator.assignments.order_by("position")[0:31:30]
    ahead = screens_ahead(annotator=annotator, after=first.public_id)
    assert [screen.public_id for screen in ahead] == [second.public_id]
    assert len(ahead[0].items) == 30


def test_tokens_stand_behind_the_text(db: None) -> None:
    """One code point each, whatever the text; nothing spans text and token."""
    campaign = plant("contrastive-esa", sources=["源文。"], outputs=[("A 😀.",), ("B.",)])
    annotator = Annotator.objects.get()
    rows = list(annotator.assignments.order_by("position"))
    one, other = answers(annotator, rows, 50, 0)

    def send(*found: Span) -> list[Judgment]:
        return submit(user=annotator.user, answers=[
            replace(one, spans=found), replace(other, spans=()),
        ])  # fmt: skip

    for wrong in (Span("target", 3, 5, "minor"), Span("target", 5, 6, "minor"),
                  Span("target", 4, 6, "minor"), Span("source", 0, 1, "minor")):  # fmt: skip
        with pytest.raises(ValidationError):
            send(wrong)
    assert not Judgment.objects.exists()
    send(Span("target", 4, 5, "major"), Span("target", 2, 3, "minor"))
    assert [(row["text"], row["weight"]) for row in span_dicts(campaign)] == [
        ("[missing]", 5), ("😀", 1),
    ]  # fmt: skip
    rated = list(judgment_dicts(campaign))
    assert [(row["screen"], row["column"], row["n_columns"]) for row in rated] == [
        (0, 1, 2), (0, 2, 2),
    ]  # fmt: skip
    # mt-metrics-eval has no place for it but the source, all of it.
    files = {name: "".join(lines) for name, lines in bundle(campaign)}
    ratings = next(text for name, text in files.items() if name.endswith(".seg.rating"))
    assert '"start": 0, "end": 3' in ratings
    assert '"is_source_error": true' in ratings


def test_a_campaign_has_tokens_of_its_own(db: None) -> None:
    campaign = plant(
        "contrastive-esa", sources=["源文。"], outputs=[("A.",), ("B.",)],
        special_tokens=["[missing]", "[instructions fault]"],
    )  # fmt: skip
    annotator = Annotator.objects.get()
    rows = list(annotator.assignments.order_by("position"))
    one, other = answers(annotator, rows, 50, 0)
    fault = Span("target", 3, 4, "minor")
    submit(user=annotator.user, answers=[replace(one, spans=(fault,)), replace(other, spans=())])
    assert [row["text"] for row in span_dicts(campaign)] == ["[instructions fault]"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_note_is_shown_above_its_segment(db: None, client: Client, protocol: str) -> None:
    campaign = plant(protocol)
    campaign.items.update(note="Formal <b>style</b>.")
    annotator = Annotator.objects.select_related("user").get()
    client.force_login(annotator.user)
    first = annotator.assignments.order_by("position")[0]
    html = client.get(f"/item/{first.public_id}/").text
    assert "Formal &lt;b&gt;style&lt;/b&gt;." in html
