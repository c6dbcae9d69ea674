"""Ratings faster than anyone can read: held back, stored, or the end of the work."""

import math
import uuid
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import protocols
from annotation.judging import judgments
from annotation.judging.answers import Answer
from annotation.judging.judgments import TooFastError, submit
from annotation.judging.timing import least_time
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, Reference, Stop
from annotation.qualification.stopping import EVERY, decide, stop_if_due
from tests.annotation.test_grid_of_answers import COMBINATIONS, filled, opened
from tests.annotation.views.test_views_protocols import JSON, address
from tests.planting import plant
from tests.world import make_user

Rule = Campaign.SpeedRule
SECOND = timedelta(seconds=1)
# Something for whatever is asked.
ANSWER = {"score": "2", "s1-score": "2", "text": "One two three.", "c0-choice": "no, not at all"}
SCREENS = {name: (name, None) for name in protocols.PROTOCOLS} | {
    name: (base, answers) for name, (base, answers, *_) in COMBINATIONS.items()
}
# Nine characters and twelve words, at 4 · 357 and 4 · 238 a minute.
SOURCE, OUTPUT = (
    "港口很安静，早上。",
    "The harbour was quiet all morning, and nobody came to the water.",
)
LEAST = 60 * 12 / 952 + 60 * 9 / 1428


class Time:
    """The server's clock, which stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = timezone.now()

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    clock = Time()
    monkeypatch.setattr(timezone, "now", clock)
    return clock


def units(texts: set[str]) -> float:
    """Seconds of texts by the published rates, words of English and characters of Chinese."""
    chinese = {text for text in texts if text and ord(text[0]) > 0x2FFF}
    n_words = sum(len(text.split()) for text in texts - chinese)
    return 60 * n_words / (4 * 238) + 60 * sum(map(len, chinese)) / (4 * 357)


def on_screen(rows: list[Assignment]) -> set[str]:
    """The texts of the first screen, each once."""
    first = rows[0].item
    same = [row.item for row in rows if row.item.screen == first.screen]
    items = [first] if first.screen is None else same
    outputs = {item.output.text for item in items if item.output}
    return outputs | {item.segment.source for item in items}


@pytest.mark.parametrize("name", SCREENS)
@pytest.mark.django_db
def test_every_screen_is_taken_once_its_texts_can_be_read(
    client: Client, time: Time, name: str
) -> None:
    base, answers = SCREENS[name]
    _, rows = opened(client, base, answers)
    Campaign.objects.update(speed_rule=Rule.SLOW)
    least, here = units(on_screen(rows)), address(rows[0])
    data = filled(client, rows[0], ANSWER)
    time.pass_by(least - 0.01)
    held = client.post(here, data, headers=JSON)
    assert (held.status_code, held.json()["seconds"]) == (429, 1)
    told = held.json()["message"]
    assert (told["code"], told["parameters"]) == ("rating.too-fast", {"n": 1})
    page = client.post(here, data)
    assert page.status_code == 429
    assert held.json()["error"] in page.text
    keys = [name for name in data if name.endswith("submit_key")]
    assert all(data[key] in page.text for key in keys)
    assert not Judgment.objects.exists()
    assert not Assignment.objects.exclude(completed_at=None).exists()

    time.pass_by(0.02)
    # However often it is delivered.
    for _ in range(3):
        assert client.post(here, data, headers=JSON).status_code == 200
    stored = list(Judgment.objects.all())
    assert len(stored) == len({row.assignment_id for row in stored}) >= 1
    taken = [(row.submitted_at - row.started_at).total_seconds() for row in stored]
    assert taken == pytest.approx([least + 0.01] * len(stored), abs=1e-5)
    # Who changes an answer has read.
    data = filled(client, rows[0], ANSWER)
    said = {key.replace("submit_key", "comment"): "Changed." for key in keys}
    assert client.post(here, data | said, headers=JSON).status_code == 200
    assert Judgment.objects.filter(revision=2).count() == len(stored)


@pytest.mark.parametrize("rule", [Rule.OFF, Rule.STOP])
@pytest.mark.django_db
def test_elsewhere_nothing_is_held_back(client: Client, time: Time, rule: str) -> None:
    _, rows = opened(client, "segment-da", None)
    Campaign.objects.update(speed_rule=rule)
    data = filled(client, rows[0], ANSWER)
    assert client.post(address(rows[0]), data, headers=JSON).status_code == 200


@pytest.mark.django_db
def test_without_scripts_the_form_comes_back_filled(client: Client, time: Time) -> None:
    _, rows = opened(client, "segment-da", None)
    Campaign.objects.update(speed_rule=Rule.SLOW)
    data = filled(client, rows[0], {"score": "37", "comment": "Odd <word>"})
    page = client.post(address(rows[0]), data)
    assert page.status_code == 429
    for part in ('value="37"', "Odd &lt;word&gt;", data["submit_key"], data["started"]):
        assert part in page.text
    time.pass_by(10)
    assert client.post(address(rows[0]), data).status_code == 302
    assert Judgment.objects.get().score == 37


@pytest.mark.parametrize("kind", [kind for kind in Item.Kind if kind != Item.Kind.DOCUMENT])
@pytest.mark.django_db
def test_a_control_item_is_held_as_long_as_an_output(client: Client, time: Time, kind: str) -> None:
    """Same texts, same reply, whatever the item is."""
    _, rows = opened(client, "segment-da", None)
    Campaign.objects.update(speed_rule=Rule.SLOW)
    data = filled(client, rows[0], ANSWER)
    plain = client.post(address(rows[0]), data, headers=JSON)
    item = rows[0].item
    Item.objects.filter(pk=item.pk).update(kind=kind, text=item.output.text, low=1, high=2)
    assert client.post(address(rows[0]), data, headers=JSON).content == plain.content
    assert plain.status_code == 429


@pytest.mark.django_db
def test_what_is_shown_counts_and_nothing_else(client: Client) -> None:
    _, rows = opened(client, "side-by-side", None)
    own = [row for row in rows if row.item.screen == rows[0].item.screen]
    outputs = {row.item.output.text for row in own}
    source = {rows[0].item.segment.source}

    def found() -> float:
        again = Assignment.objects.filter(pk__in=[row.pk for row in own])
        return least_time(list(again)).total_seconds()

    assert found() == pytest.approx(units(outputs | source), abs=1e-5)
    # Of two references the first by name is shown.
    for name, text in (("B", "Far too long a reference."), ("A", "A reference.")):
        Reference.objects.create(segment=rows[0].item.segment, name=name, text=text)
    assert found() == pytest.approx(units(outputs | source), abs=1e-5)
    Campaign.objects.update(shown_text="reference")
    assert found() == pytest.approx(units(outputs | {"A reference."}), abs=1e-5)
    # A recording is the source; its text stands elsewhere.
    Campaign.objects.update(shown_text="source")
    type(rows[0].item.segment).objects.update(beside={"is_source": True})
    assert found() == pytest.approx(units(outputs), abs=1e-5)
    # Two systems that say the same are read once.
    for row in own:
        type(row.item.output).objects.filter(pk=row.item.output_id).update(text="Same words.")
    assert found() == pytest.approx(units({"Same words."}), abs=1e-5)


def queue(rule: str = Rule.SLOW, n: int = 12) -> tuple[User, list[Assignment]]:
    """Items alike, all issued now."""
    plant("segment-da", sources=[SOURCE] * n, outputs=[[OUTPUT] * n], speed_rule=rule)
    rows = Assignment.objects.order_by("position")
    return User.objects.get(username="annotator-1"), list(rows)


def answer(row: Assignment, began: datetime, **fields: Any) -> Answer:
    return Answer(row.public_id, uuid.uuid4(), began, seen=0, score=50, **fields)


def times() -> list[float]:
    rows = Judgment.objects.order_by("assignment__position")
    return [round((row.submitted_at - row.started_at).total_seconds(), 2) for row in rows]


@pytest.mark.django_db
def test_answers_of_an_hour_offline_have_their_own_times(time: Time) -> None:
    """Sent at once after an hour, each after 30 s of reading: none is held, and none loses time."""
    user, rows = queue()
    began = time.now
    time.pass_by(3600)
    for n, row in enumerate(rows, start=1):
        waited = 1000 * (3600 - 30 * n)
        given = answer(row, began, waited_ms=waited, visible_ms=30_000)
        submit(user=user, answers=[given])
    assert times() == [30.0] * len(rows)


@pytest.mark.django_db
def test_hasty_answers_in_a_queue_are_all_taken_in_time(time: Time) -> None:
    """Half a second each and sent at once: refused while nobody can have read, and no longer."""
    user, rows = queue()
    began = time.now
    time.pass_by(0.5 * len(rows))
    waiting = [
        (row, answer(row, began, visible_ms=500), began + n * SECOND / 2)
        for n, row in enumerate(rows, start=1)
    ]
    waits: list[int] = []
    for row, given, at in waiting:
        for _ in range(2):
            waited = round((time.now - at) / timedelta(milliseconds=1))
            sent = Answer(**vars(given) | {"waited_ms": waited})
            try:
                submit(user=user, answers=[sent])
                break
            except TooFastError as refusal:
                waits.append(refusal.seconds)
                time.pass_by(refusal.seconds)
        assert Judgment.objects.filter(assignment=row).count() == 1
    # The first ones have had the time of all that followed.
    assert 0 < len(waits) < len(rows)
    assert set(waits) <= set(range(1, math.ceil(LEAST) + 1))
    assert min(times()) >= round(LEAST, 2)
    stored = Judgment.objects.order_by("assignment__position")
    assert all(one.submitted_at <= other.started_at for one, other in pairwise(stored))


@pytest.mark.parametrize("waited", [0, 1, 10**12])
@pytest.mark.parametrize("visible", [None, 0, 10**12])
@pytest.mark.parametrize("idle", [0, 10**12])
@pytest.mark.django_db
def test_what_a_browser_says_gains_nothing(
    time: Time, waited: int, visible: int | None, idle: int
) -> None:
    user, rows = queue()
    began, lies = time.now, {"waited_ms": waited, "visible_ms": visible, "idle_ms": idle}
    time.pass_by(3.5 * LEAST)
    n_stored = 0
    for row in rows:
        try:
            submit(user=user, answers=[answer(row, began, **lies)])
            n_stored += 1
        except TooFastError:
            break
    # Only one if it claims all the time.
    assert 1 <= n_stored <= 3
    assert sum(times()) <= round(3.5 * LEAST, 2)


@pytest.mark.django_db
def test_two_submits_at_once_do_not_share_their_time(time: Time) -> None:
    user, _ = queue()
    began = time.now
    # Both were read before either was stored.
    one, other = Assignment.objects.select_related(
        "annotator__campaign__test_set", "item__output", "item__segment"
    ).order_by("position")[:2]
    time.pass_by(1.5 * LEAST)
    submit(user=user, answers=[answer(one, began)], rows=[one])
    with pytest.raises(TooFastError):
        submit(user=user, answers=[answer(other, began)], rows=[other])
    time.pass_by(LEAST)
    submit(user=user, answers=[answer(other, began)], rows=[other])
    assert Judgment.objects.count() == 2


@pytest.mark.django_db
def test_a_submit_counts_from_the_one_that_came_between(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where another one of the same person is stored after this one has read its rows."""
    user, rows = queue()
    began, lock = time.now, judgments._lock

    def lock_late(*asked: Any) -> Any:
        found = lock(*asked)
        Annotator.objects.update(answered_at=time.now)
        return found

    time.pass_by(1.5 * LEAST)
    monkeypatch.setattr(judgments, "_lock", lock_late)
    with pytest.raises(TooFastError):
        submit(user=user, answers=[answer(rows[0], began)])


@pytest.mark.django_db
def test_two_tabs_with_one_item(client: Client, time: Time) -> None:
    _, rows = opened(client, "segment-da", None)
    Campaign.objects.update(speed_rule=Rule.SLOW)
    tabs = [filled(client, rows[0], {"score": score}) for score in ("1", "1", "2")]
    assert client.post(address(rows[0]), tabs[0], headers=JSON).status_code == 429
    time.pass_by(10)
    replies = [client.post(address(rows[0]), tab, headers=JSON) for tab in tabs]
    assert [reply.status_code for reply in replies] == [200, 200, 409]
    assert list(Judgment.objects.values_list("score", flat=True)) == [1]


@pytest.mark.django_db
def test_a_form_without_its_time_is_no_way_round(client: Client, time: Time) -> None:
    """A page opened again begins anew, and so does its time."""
    _, rows = opened(client, "segment-da", None)
    Campaign.objects.update(speed_rule=Rule.SLOW)
    data = filled(client, rows[0], ANSWER)
    time.pass_by(10)
    fresh = filled(client, rows[0], ANSWER)
    assert client.post(address(rows[0]), fresh, headers=JSON).status_code == 429
    assert client.post(address(rows[0]), data, headers=JSON).status_code == 200


def rated(user: User, rows: list[Assignment], time: Time, seconds: list[float]) -> list[bool]:
    """Rate items, each after its number of seconds; return those after which work was stopped."""
    stops = []
    for row, each in zip(rows, seconds, strict=True):
        began = time.now
        time.pass_by(each)
        stored = submit(user=user, answers=[answer(row, began)])
        person = Annotator.objects.select_related("campaign").get(pk=row.annotator_id)
        stored[0].assignment.annotator = person
        stops.append(stop_if_due(stored))
    return stops


FAST, SLOW = LEAST - 0.1, LEAST + 0.1


@pytest.mark.parametrize(
    ("seconds", "n_fast"),
    [
        ([FAST] * 6 + [SLOW] * 4, 6),
        ([FAST] * 5 + [SLOW] * 5, 0),
        # A long pause hides nothing.
        ([3600.0, *[FAST] * 9], 9),
    ],
)
@pytest.mark.django_db
def test_half_of_ten_screens_may_be_that_fast(
    time: Time, seconds: list[float], n_fast: int
) -> None:
    user, rows = queue(Rule.STOP)
    stops = rated(user, rows[:EVERY], time, seconds)
    assert stops == [False] * (EVERY - 1) + [n_fast > 0]
    assert list(Stop.objects.values_list("reason", "n_failed")) == (
        [("speed", n_fast)] if n_fast else []
    )
    assert (Annotator.objects.get().stopped_at is not None) == (n_fast > 0)


@pytest.mark.django_db
def test_after_a_decision_only_later_screens_count(time: Time, client: Client) -> None:
    user, rows = queue(Rule.STOP, n=2 * EVERY + 2)
    assert rated(user, rows[:EVERY], time, [FAST] * EVERY)[-1]
    client.force_login(user)
    campaign = Campaign.objects.get()
    page = client.get(reverse("annotate-stopped", args=[campaign.slug])).text
    assert 'data-case="speed"' in page
    boss = make_user("boss", "admin")
    time.pass_by(60)
    decide(campaign=campaign, pk=Stop.objects.get().pk, actor=boss, may_go_on=True)
    client.force_login(boss)
    assert 'data-failed="10"' in client.get(reverse("access", args=[campaign.slug])).text
    time.pass_by(60)
    # Six slow and four fast ones: with those before, most would be fast.
    seconds = [SLOW] * 6 + [FAST] * 4
    assert not any(rated(user, rows[EVERY : 2 * EVERY], time, seconds))
    assert Stop.objects.count() == 1


@pytest.mark.django_db
def test_an_hour_offline_stops_nobody_who_read(time: Time) -> None:
    user, rows = queue(Rule.STOP)
    began = time.now
    time.pass_by(3600)
    for n, row in enumerate(rows[:EVERY], start=1):
        given = answer(row, began, waited_ms=1000 * (3600 - 30 * n), visible_ms=30_000)
        stored = submit(user=user, answers=[given])
    stored[0].assignment.annotator = Annotator.objects.select_related("campaign").get()
    assert not stop_if_due(stored)


@pytest.mark.django_db
def test_a_document_is_one_screen_with_one_time(time: Time) -> None:
    """Ten segments in three seconds are not ten times three seconds."""
    sources, outputs = [f"{SOURCE}{n}" for n in range(10)], [f"{OUTPUT} {n}" for n in range(10)]
    plant("document-da", sources=sources, outputs=[outputs], speed_rule=Rule.STOP)
    user, rows = User.objects.get(username="annotator-1"), list(Assignment.objects.all())
    # Five documents alike: with fewer, speed is not looked at.
    for screen in range(1, 6):
        for row in rows:
            item = row.item
            item.pk, item.screen, item.batch = None, screen, str(screen)
            item.save()
            Assignment.objects.create(
                annotator=row.annotator, item=item, position=screen * len(rows) + row.position
            )
    stops = []
    for screen in range(5):
        own = Assignment.objects.filter(item__screen=screen).order_by("position")
        began = time.now
        time.pass_by(3.0)
        stored = submit(user=user, answers=[answer(row, began) for row in own])
        person = Annotator.objects.select_related("campaign").get()
        stored[0].assignment.annotator = person
        stops.append(stop_if_due(stored))
    assert stops == [False] * 4 + [True]
    assert Stop.objects.get().n_failed == 5
