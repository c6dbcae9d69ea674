"""A document by one system is submitted as one: all of it, what is left of it, or a part alone."""

import uuid
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.campaigns import layouts
from annotation.judging.answers import MAX_TEXT
from annotation.judging.judgments import issue_start
from annotation.judging.upcoming import screens_ahead
from annotation.models import Annotator, Assignment, Campaign, Judgment
from annotation.protocols.composed import MOST_CHOICES, MOST_SCALES
from core.messages import messages_of
from tests.annotation.test_grid_of_answers import filled
from tests.annotation.views.test_views_protocols import JSON, MAX_QUERIES, address
from tests.planting import plant

FORM = "application/x-www-form-urlencoded"
TEXTS = [f"Text {number} is here." for number in range(30)]


@pytest.fixture
def rows(db: None, client: Client) -> list[Assignment]:
    """Thirty segments and their document, with `annotator-1` signed in."""
    plant("document-da", sources=TEXTS, outputs=[TEXTS])
    client.force_login(Annotator.objects.get().user)
    return list(Assignment.objects.order_by("position"))


def alone(row: Assignment, score: str) -> dict[str, str]:
    """What pages of before sent of one segment."""
    started = issue_start(user_id=row.annotator.user_id, public_id=row.public_id)
    key = str(uuid.uuid4())
    return {"score": score, "submit_key": key, "revision": "0", "started": started}


def scores() -> list[int | None]:
    found = Judgment.objects.filter(is_current=True).order_by("assignment__position")
    return list(found.values_list("score", flat=True))


def test_a_document_is_stored_once_and_in_few_queries(
    client: Client, rows: list[Assignment]
) -> None:
    data = filled(client, rows[0], {"score": "60"})
    with CaptureQueriesContext(connection) as asked:
        assert client.post(address(rows[0]), data, headers=JSON).status_code == 200
    assert len(asked) <= MAX_QUERIES
    # Whichever of its items it is sent to.
    assert client.post(address(rows[7]), data, headers=JSON).status_code == 200
    assert scores() == [60] * 31
    assert set(Judgment.objects.values_list("revision", "sent_together")) == {(1, 31)}


def test_a_long_document_that_was_written_anew_is_stored(db: None, client: Client) -> None:
    """Three bytes a letter, nine as a form sends it: 2.7 MB."""
    texts = [f"{letter}。" + letter * (MAX_TEXT - 2) for letter in "天地玄黃宇宙洪荒日月盈昃辰宿列"]
    plant("document-da", sources=texts, outputs=[texts], answers={"scales": [], "text": "empty"})
    client.force_login(Annotator.objects.get().user)
    row = Assignment.objects.earliest("position")
    data = filled(client, row, {"text": ""})
    fields = [name for name in data if name.endswith("text")]
    body = urlencode(data | dict(zip(fields, texts, strict=True)))
    assert len(body) > 2.6e6
    reply = client.post(address(row), body, FORM, headers=JSON)
    assert reply.status_code == 200, reply.text
    assert set(Judgment.objects.exclude(hter=None).values_list("hter", flat=True)) == {0.0}
    assert Judgment.objects.filter(post_edit__startswith="天。").count() == 1


def test_one_segment_is_revised_and_the_others_stay(client: Client, rows: list[Assignment]) -> None:
    client.post(address(rows[0]), filled(client, rows[0], {"score": "60"}), headers=JSON)
    data = filled(client, rows[0], {"score": "60"}) | {"4-score": "20"}
    with CaptureQueriesContext(connection) as asked:
        assert client.post(address(rows[0]), data, headers=JSON).status_code == 200
    assert len(asked) <= MAX_QUERIES + 3
    revised = Judgment.objects.get(revision=2)
    assert (revised.assignment, revised.score, revised.sent_together) == (rows[4], 20, 1)
    assert (len(scores()), Judgment.objects.count()) == (31, 32)


def test_half_a_document_keeps_what_is_rated_and_asks_for_the_rest(
    client: Client, rows: list[Assignment]
) -> None:
    """Segments that an earlier version of the page sent alone are taken, now and later."""
    for row in rows[:3]:
        sent = alone(row, "40")
        replies = [client.post(address(row), sent, headers=JSON) for _ in range(2)]
        assert [reply.status_code for reply in replies] == [200, 200]
        # The page of before opens the rest of the document anew.
        assert "html" not in replies[0].json()
    assert scores() == [40] * 3
    data = filled(client, rows[3], {})
    assert [data[f"{n}-revision"] for n in (0, 2, 3)] == ["1", "1", "0"]
    given = data | {f"{n}-score": "40" if n < 3 else "70" for n in range(31)}
    lacking = client.post(address(rows[3]), given | {"9-score": ""}, headers=JSON)
    assert (lacking.status_code, lacking.json()["field"]) == (422, "9-score")
    assert client.post(address(rows[3]), given, headers=JSON).status_code == 200
    assert scores() == [40] * 3 + [70] * 28
    assert set(Judgment.objects.values_list("revision", "sent_together")) == {(1, 1), (1, 28)}


def test_what_cannot_be_changed_any_more_is_left_out(
    client: Client, rows: list[Assignment]
) -> None:
    Campaign.objects.update(edit_minutes=5)
    client.post(address(rows[0]), alone(rows[0], "40"), headers=JSON)
    Assignment.objects.filter(pk=rows[0].pk).update(
        completed_at=timezone.now() - timedelta(hours=1)
    )
    data = filled(client, rows[1], {"score": "70"})
    assert "0-submit_key" not in data
    assert client.post(address(rows[1]), data, headers=JSON).status_code == 200
    assert scores() == [40] + [70] * 30


def test_time_is_paid_for_every_segment(client: Client, rows: list[Assignment]) -> None:
    """A page that lay open for an hour: ten minutes would be the most for one item."""
    data = filled(client, rows[0], {"score": "70"})
    Annotator.objects.update(answered_at=None)
    with pytest.MonkeyPatch.context() as patch:
        later = timezone.now() + timedelta(hours=1)
        patch.setattr(timezone, "now", lambda: later)
        assert client.post(address(rows[0]), data, headers=JSON).status_code == 200
    paid = sum(Judgment.objects.values_list("paid_ms", flat=True))
    assert paid == pytest.approx(3_600_000, rel=0.01)


def test_documents_come_ahead_whole(rows: list[Assignment]) -> None:
    (screen,) = screens_ahead(annotator=rows[0].annotator)
    assert len(screen.items) == 31
    assert screen.limit_seconds == 31 * 600


def test_a_document_has_a_size(rows: list[Assignment]) -> None:
    campaign = Campaign.objects.get()
    campaign.test_set.segments.update(document="long")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layouts, "MOST_ON_SCREEN", 29)
        with pytest.raises(ValidationError) as caught:
            layouts.plant_targets(campaign)
    (refusal,) = messages_of(caught.value)
    assert refusal.code == "layout.long-document"
    assert (refusal.parameters["n"], refusal.parameters["most"]) == (30, 29)
    # Hidden fields, text, errors, comment, flag and the recording beside it, scales and choices.
    fields = 10 + MOST_SCALES + MOST_CHOICES
    assert (layouts.MOST_ON_SCREEN + 1) * fields < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
