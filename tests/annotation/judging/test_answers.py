"""What a protocol allows in an answer, and how the answers of one screen are stored."""

import dataclasses
import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import protocols
from annotation.judging import judgments
from annotation.judging.answers import Answer
from annotation.models import Annotator, Assignment, Campaign, ErrorSpan, Item, Judgment
from annotation.protocols import Span
from tests.refusals import refused
from tests.world import World

MAJOR = Span("target", 0, 3, "major")
GRAMMAR = Span("target", 0, 3, "minor", "fluency/grammar")


@pytest.fixture
def assignments(world: World) -> list[Assignment]:
    """Two outputs of one segment, on one screen of the first annotator."""
    campaign = world.campaign
    Campaign.objects.filter(pk=campaign.pk).update(status=Campaign.Status.OPEN)
    annotator = Annotator.objects.create(campaign=campaign, user=world.annotators[0], label="A1")
    segment = world.test_set.segments.get(position=0)
    return [
        Assignment.objects.create(
            annotator=annotator,
            position=place,
            item=Item.objects.create(
                campaign=campaign, segment=segment, output=output, screen=1, place=place
            ),
        )
        for place, output in enumerate(segment.outputs.order_by("system__name"))
    ]


def use(protocol: str, shown: str = "source") -> None:
    Campaign.objects.update(protocol=protocol, shown_text=shown)


def answer(assignment: Assignment, **fields: object) -> Answer:
    return Answer(
        public_id=assignment.public_id,
        submit_key=uuid.uuid4(),
        started_at=timezone.now() - timedelta(seconds=9),
        **({"seen": 0} | fields),  # type: ignore[arg-type]
    )


def submit(world: World, *answers: Answer) -> list[Judgment]:
    return judgments.submit(user=world.annotators[0], answers=answers)


def test_error_spans_and_a_score(world: World, assignments: list[Assignment]) -> None:
    use("esa")
    source = Span("source", 2, 4, "minor")
    (judgment,) = submit(world, answer(assignments[0], score=60, spans=(MAJOR, source)))
    assert (judgment.score, judgment.penalty, judgment.value) == (60, None, 60)
    stored = judgment.spans.values_list("side", "start", "end", "severity", "category")
    assert set(stored) == {dataclasses.astuple(MAJOR), dataclasses.astuple(source)}


def test_mqm_is_scored_by_its_spans(world: World, assignments: list[Assignment]) -> None:
    use("mqm")
    comma = Span("target", 1, 2, "minor", "fluency/punctuation")
    (judgment,) = submit(world, answer(assignments[0], spans=(GRAMMAR, comma)))
    assert judgment.score is None
    assert judgment.penalty == pytest.approx(1.1)
    assert judgment.value == pytest.approx(-1.1)
    (perfect,) = submit(world, answer(assignments[1]))
    assert (perfect.penalty, perfect.value) == (0, 0)


@pytest.mark.parametrize(
    ("protocol", "fields", "code"),
    [
        ("segment-da", {"score": None}, "not-a-percentage"),
        ("segment-da", {"score": 101}, "not-a-percentage"),
        ("segment-da", {"score": True}, "not-a-percentage"),
        ("segment-da", {"score": 50, "spans": (MAJOR,)}, "no-errors-here"),
        ("segment-da", {"score": 50, "comment": "x" * 2_001}, "comment-too-long"),
        ("mqm", {"score": 50}, "no-score-here"),
        ("mqm", {"spans": (MAJOR,)}, "error-without-category"),
        ("mqm", {"spans": (Span("target", 0, 3, "minor", "fluency"),)}, "error-category"),
        ("esa", {"score": 50, "spans": (GRAMMAR,)}, "error-category"),
        ("esa", {"score": 50, "spans": (MAJOR, MAJOR)}, "error-twice"),
        ("esa", {"score": 50, "spans": (Span("target", 3, 3, "major"),)}, "error-outside"),
        ("esa", {"score": 50, "spans": (Span("target", -1, 3, "major"),)}, "error-outside"),
        ("esa", {"score": 50, "spans": (Span("target", 0, 999, "major"),)}, "error-outside"),
        ("esa", {"score": 50, "spans": (Span("target", 0, 3, "fatal"),)}, "error-severity"),
        ("esa", {"score": 50, "spans": (Span("middle", 0, 3, "major"),)}, "error-side"),
    ],
)
def test_what_a_protocol_refuses(
    world: World,
    assignments: list[Assignment],
    protocol: str,
    fields: dict[str, object],
    code: str,
) -> None:
    use(protocol)
    is_nested = code.startswith("error-") and code != "error-twice"
    problem = {"problem": f"rating.{code}"} if is_nested else {}
    with refused("rating.error" if is_nested else f"rating.{code}", **problem):
        submit(world, answer(assignments[0], **fields))
    assert not Judgment.objects.exists()


def test_a_reference_is_no_source_to_mark(world: World, assignments: list[Assignment]) -> None:
    use("esa", shown="reference")
    with refused("rating.error", problem="rating.error-side", side="source"):
        submit(world, answer(assignments[0], score=1, spans=(Span("source", 0, 1, "minor"),)))


def test_offsets_count_code_points(world: World, assignments: list[Assignment]) -> None:
    use("esa")
    Item.objects.filter(pk=assignments[0].item_id).update(text="👩‍👩‍👧 e\u0301")  # 5 + 1 + 2
    whole = Span("target", 0, 8, "minor")
    with refused("rating.error", problem="rating.error-outside", length=8):
        submit(world, answer(assignments[0], score=5, spans=(Span("target", 0, 9, "minor"),)))
    submit(world, answer(assignments[0], score=5, spans=(whole,)))
    assert ErrorSpan.objects.get().end == 8


def test_a_screen_is_stored_together_or_not_at_all(
    world: World, assignments: list[Assignment]
) -> None:
    use("side-by-side")
    wrong = [answer(assignments[0], score=10), answer(assignments[1], score=101)]
    with pytest.raises(ValidationError):
        submit(world, *wrong)
    assert not Judgment.objects.exists()
    assert not Assignment.objects.exclude(completed_at=None).exists()
    stored = submit(world, answer(assignments[0], score=10), answer(assignments[1], score=0))
    assert [(row.score, row.sent_together) for row in stored] == [(10, 2), (0, 2)]
    assert not Assignment.objects.filter(completed_at=None).exists()


def test_a_screen_sent_twice_is_stored_once(world: World, assignments: list[Assignment]) -> None:
    use("side-by-side")
    sent = [answer(assignments[0], score=10), answer(assignments[1], score=20)]
    first = submit(world, *sent)
    assert [row.pk for row in submit(world, *sent)] == [row.pk for row in first]
    assert Judgment.objects.count() == 2


def test_spans_sent_twice_are_stored_once(world: World, assignments: list[Assignment]) -> None:
    use("esa")
    sent = answer(assignments[0], score=10, spans=(MAJOR,))
    submit(world, sent)
    submit(world, sent)
    assert ErrorSpan.objects.count() == 1
    other = dataclasses.replace(sent, spans=(dataclasses.replace(MAJOR, severity="minor"),))
    with pytest.raises(judgments.ConflictError):
        submit(world, other)
    assert ErrorSpan.objects.get().severity == "major"


def test_revised_spans_leave_the_old_ones(world: World, assignments: list[Assignment]) -> None:
    use("mqm")
    submit(world, answer(assignments[0], spans=(GRAMMAR,)))
    (second,) = submit(world, answer(assignments[0], seen=1))
    assert (second.revision, second.penalty, second.spans.count()) == (2, 0, 0)
    first = Judgment.objects.get(revision=1)
    assert (first.is_current, first.penalty, first.spans.count()) == (False, 1, 1)


def test_the_edit_window(world: World, assignments: list[Assignment]) -> None:
    use("segment-da")
    Campaign.objects.update(edit_minutes=10)
    submit(world, answer(assignments[0], score=10))
    submit(world, answer(assignments[0], score=20, seen=1))
    Assignment.objects.update(completed_at=timezone.now() - timedelta(minutes=11))
    again = answer(assignments[0], score=30, seen=2)
    with pytest.raises(judgments.TooLateError):
        submit(world, again)
    assert Judgment.objects.get(is_current=True).score == 20
    # A repeated submit of what is stored is no change, however late it comes.
    assert submit(world, answer(assignments[0], score=20))[0].revision == 2


@pytest.mark.parametrize(
    ("minutes", "can_change", "until"), [(None, True, False), (60, True, True), (0, False, True)]
)
def test_the_last_page_says_until_when_ratings_can_change(
    world: World,
    assignments: list[Assignment],
    client: Client,
    minutes: int | None,
    can_change: bool,
    until: bool,
) -> None:
    use("segment-da")
    Campaign.objects.update(edit_minutes=minutes)
    Assignment.objects.exclude(pk=assignments[0].pk).delete()
    submit(world, answer(assignments[0], score=10))
    client.force_login(world.annotators[0])
    page = client.get(reverse("annotate-done", args=[Campaign.objects.get().slug]))
    assert page.context["is_changeable"] == can_change
    assert bool(page.context["until"]) == until
    assert str(page.context["annotator"]) == assignments[0].annotator.label


def test_texts_are_called_by_colours_where_the_question_is(
    world: World, assignments: list[Assignment], client: Client
) -> None:
    use("segment-da")
    client.force_login(world.annotators[0])
    shown = set()
    for ratio in (Decimal(1), Decimal("0.8")):
        question = protocols.get("segment-da").ask(ratio)
        Campaign.objects.update(question=question, length_ratio=ratio)
        page = client.get(reverse("item", args=[assignments[0].public_id])).text
        shown.add(("in-colours" in page, "Black text" in page))
    assert shown == {(False, False), (True, True)}


def test_no_edit_window_at_all(world: World, assignments: list[Assignment]) -> None:
    use("segment-da")
    Campaign.objects.update(edit_minutes=0)
    submit(world, answer(assignments[0], score=10))
    with pytest.raises(judgments.TooLateError):
        submit(world, answer(assignments[0], score=20, seen=1))


def test_comment_and_flag(world: World, assignments: list[Assignment]) -> None:
    use("segment-da")
    sent = answer(assignments[0], score=10, comment="Cut off?", is_flagged=True)
    submit(world, sent)
    stored = Judgment.objects.get()
    assert (stored.comment, stored.is_flagged) == ("Cut off?", True)
    with pytest.raises(judgments.ConflictError):
        submit(world, dataclasses.replace(sent, comment="No."))
