"""Limits of paid time by words, the pay that annotators see, and the hours of people."""

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.access import RESEARCHER
from annotation.judging import judgments
from annotation.judging.answers import Answer
from annotation.models import Assignment, Campaign, Judgment
from annotation.pay import limit_of, offer, pay_for
from core.text import words_in
from tests.planting import plant
from tests.world import make_user

TEXTS = ("One two three four.", "Five.")


@pytest.fixture
def campaign(db: None) -> Campaign:
    return plant("segment-da", outputs=[TEXTS], hourly_rate=Decimal("13.50"), time_cap_seconds=20)


def test_words_are_counted_as_lengths_are() -> None:
    assert [words_in(*each) for each in (("a  b c", "de"), ("港口 很。", "zh"), ("", "en"))] == [
        3, 4, 0,
    ]  # fmt: skip


def test_the_limit_is_the_campaigns(campaign: Campaign) -> None:
    user, row = User.objects.get(username="annotator-1"), Assignment.objects.earliest("position")
    assert limit_of(campaign, TEXTS) == 20
    Campaign.objects.update(seconds_per_word="2.5")
    campaign.refresh_from_db()
    # Five words.
    assert limit_of(campaign, TEXTS) == 32
    begun = datetime.now(UTC) - timedelta(seconds=500)
    answer = Answer(row.public_id, uuid.uuid4(), begun, seen=0, score=50)
    # Four words: 20 + 4 · 2.5 seconds.
    assert judgments.submit(user=user, answers=[answer])[0].paid_ms == 30_000


def test_pay_is_to_the_cent() -> None:
    campaign = Campaign(hourly_rate=Decimal("13.50"), shows_pay=True, protocol="esa")
    # 13.50 / 3600 · 1234 s = 4.6275
    assert pay_for(campaign, 1_234_000) == Decimal("4.63")
    assert pay_for(Campaign(), 1_000) is None
    # ESA: (48 + 65) / 2 seconds an item (WMT23), so 40 items are 2260 s.
    told = offer(campaign, 40)
    assert told is not None
    assert (told.minutes, told.amount) == (38, Decimal("8.48"))
    unknown = offer(campaign, None)
    assert unknown is not None
    assert (unknown.rate, unknown.amount) == (Decimal("13.50"), None)
    campaign.shows_pay = False
    assert offer(campaign, 40) is None


def test_annotators_read_of_pay_where_the_admin_wants_it(campaign: Campaign) -> None:
    client, row = Client(), Assignment.objects.earliest("position")
    client.force_login(User.objects.get(username="annotator-1"))
    address = reverse("item", args=[row.public_id])
    assert "data-pay" not in client.get(address).text
    Campaign.objects.update(shows_pay=True, idle_seconds=45)
    page = client.get(address).text
    assert "data-pay>" in page
    assert "13.50 EUR" in page
    assert ('data-limit="20"' in page, 'data-after="45"' in page) == (True, True)


def test_hours_and_pay_of_people(campaign: Campaign) -> None:
    row = Assignment.objects.earliest("position")
    times = {"active_ms": 600_000, "submit_key": uuid.uuid4(), "score": 1}
    Judgment.objects.create(assignment=row, paid_ms=1_800_000, is_current=False, **times)
    again = {"revision": 2, "submit_key": uuid.uuid4(), "time_doubt": "longer"}
    Judgment.objects.create(assignment=row, paid_ms=600_000, **times | again)
    client = Client()
    client.force_login(make_user("reader", RESEARCHER))
    table = client.get(reverse("hours", args=[campaign.slug]))
    assert b"".join(table.streaming_content).decode().splitlines() == [
        "annotator,rated,paid_hours,active_hours,pay,currency",
        "A1,0,0.6667,0.1667,9.00,EUR",
    ]
    page = client.get(reverse("access", args=[campaign.slug])).text
    assert ("40 min" in page, "9.00 EUR" in page) == (True, True)
