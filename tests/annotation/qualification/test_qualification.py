"""The comprehension test before the first item, and being stopped after failed checks."""

import json
import re
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.campaign_files import to_values
from annotation.campaigns import add_annotators, open_campaign
from annotation.forms.campaign.instructions import QuestionsField
from annotation.models import (
    Annotator,
    Campaign,
    Item,
    Judgment,
    Notification,
    Stop,
    TestAttempt,
)
from annotation.qualification.comprehension import faults, in_lines, read_lines
from annotation.qualification.stopping import EVERY, stop
from core.messages import messages_of
from metaeval.messages import Message
from tests.annotation.campaigns.test_campaign_form import problems
from tests.annotation.views.test_views_campaigns import FORM, new_address
from tests.refusals import tells
from tests.world import World, make_campaign, make_test_set

JSON = {"accept": "application/json"}
LINES = """What is rated?
- The style
* The meaning
> A clumsy sentence may say all of it.

Does 0 count as an answer?
* Yes
- No"""
QUESTIONS = read_lines(LINES)
GERMAN = """

[de]
Was wird bewertet?
- Der Stil
* Die Bedeutung

Zählt 0 als Antwort?
* Ja
- Nein"""


def made(world: World, segments: int = 12, **fields: Any) -> Campaign:
    test_set = make_test_set("tested", segments=segments)
    campaign = make_campaign(test_set, "tested", traps_per_annotator=0, **fields)
    campaign.annotators_per_item = 1
    campaign.save(update_fields=["annotators_per_item"])
    add_annotators(campaign=campaign, users=world.annotators[:1])
    return open_campaign(campaign=campaign)


def me(campaign: Campaign) -> Annotator:
    return campaign.annotators.get()


def way(campaign: Campaign, name: str = "annotate") -> str:
    return reverse(name, args=[campaign.slug])


@pytest.fixture
def visitor(world: World, client: Client) -> Client:
    client.force_login(world.annotators[0])
    return client


@pytest.fixture
def boss(world: World) -> Client:
    client = Client()
    client.force_login(world.admin)
    return client


def test_questions_are_written_in_lines() -> None:
    assert QUESTIONS == [
        {
            "question": "What is rated?", "choices": ["The style", "The meaning"], "right": 1,
            "explanation": "A clumsy sentence may say all of it.",
        },
        {"question": "Does 0 count as an answer?", "choices": ["Yes", "No"], "right": 0},
    ]  # fmt: skip
    assert read_lines(in_lines(QUESTIONS)) == QUESTIONS
    both = read_lines(LINES + GERMAN)
    assert both[1]["translations"] == {
        "de": {"question": "Zählt 0 als Antwort?", "choices": ["Ja", "Nein"]}
    }
    assert read_lines(in_lines(both)) == both
    assert list(faults(QUESTIONS)) == list(faults(both)) == []
    one = [{**both[0], "translations": {"xx": {"question": "", "choices": ["a", "b"]}}}, both[1]]
    assert [innermost(each) for each in faults(one)] == [
        "test.unknown-language",
        "test.question",
        "test.other-languages",
    ]


def innermost(fault: Message) -> str:
    """The code of what is wrong, wherever in the test."""
    inner = fault.parameters.get("fault")
    return innermost(inner) if inner else fault.code


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("* yes", "test.no-question"),
        ("Why?\n* a\n* b", "test.two-right"),
        ("Why?\n* a", "test.choices"),
        ("Why?\n- a\n- b", "test.no-right-choice"),
        ("Why?\n* a\n- a", "test.same-choices"),
        ("Why?\n* a\n-", "test.choice"),
        ("Why?\n* a\n- b\n[de]", "test.language-count"),
        ("Why?\n* a\n- b\n[de]\nWarum?\n- a\n* b", "test.language-right"),
        ("Why?\n* a\n- b\n[de]\n[de]", "test.language-repeated"),
    ],
)
def test_what_is_wrong_with_a_test_is_named(lines: str, code: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        QuestionsField(required=False).clean(lines)
    assert code in map(innermost, messages_of(refusal.value))


GOOD = {"question": "Which?", "choices": ["this", "that"], "right": 0}


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({}, "test.a-list"),
        ([GOOD] * 31, "test.too-long"),
        (["Which?"], "test.not-a-question"),
        ([GOOD, GOOD | {"hint": "x"}], "test.unknown-keys"),
        ([GOOD | {"translations": ["de"]}], "test.by-language"),
        ([GOOD | {"translations": {"xx": GOOD}}], "test.unknown-language"),
        ([GOOD | {"translations": {"de": "Was?"}}], "test.parts"),
        ([GOOD | {"translations": {"de": {"choices": ["a"]}}}], "test.other-choices"),
        ([GOOD | {"choices": 5, "translations": {"de": {"choices": ["a"]}}}], "test.choices"),
        ([GOOD | {"explanation": ""}], "test.explanation"),
        ([GOOD | {"question": 7}], "test.question"),
    ],
)
def test_what_is_wrong_with_a_test_in_a_file_is_named(values: Any, code: str) -> None:
    assert code in map(innermost, faults(values))


def test_the_task_page_keeps_the_test_and_the_file_tells_it(world: World, boss: Client) -> None:
    too_many = FORM | {"comprehension": LINES, "pass_mark": "3"}
    assert "pass_mark" in problems(boss.post(new_address(world), too_many).text)
    given = FORM | {
        "comprehension": LINES, "pass_mark": "1", "stop_after": "2", "speed_rule": "slow",
    }  # fmt: skip
    assert boss.post(new_address(world), given).status_code == 302
    campaign = Campaign.objects.get(name=FORM["name"])
    assert (campaign.comprehension, campaign.test_attempts) == (QUESTIONS, 2)
    assert "Does 0 count as an answer?\n* Yes" in boss.get(way(campaign, "campaign-edit")).text
    task = to_values(campaign)["task"]
    assert (task["comprehension"], task["pass_mark"], task["stop_after"]) == (QUESTIONS, 1, 2)
    assert task["speed_rule"] == "slow"
    # The page says how it is set, and what happens.
    assert "slowed down" in boss.get(way(campaign, "campaign-edit")).text
    assert "slowed down" in boss.get(campaign.get_absolute_url()).text
    stored = boss.get(f"/api/campaigns/{campaign.slug}/").json()
    assert stored["speed_rule"] == "slow"


def test_nobody_rates_before_the_test_is_passed(world: World, visitor: Client) -> None:
    campaign = made(world, comprehension=read_lines(LINES + GERMAN), test_attempts=3)
    test, item = way(campaign, "annotate-test"), me(campaign).assignments.first()
    assert visitor.get(way(campaign))["Location"] == test
    refused = visitor.post(reverse("item", args=[item.public_id]), {}, headers=JSON)
    assert (refused.status_code, refused.json()["address"]) == (409, test)
    page = visitor.get(test).text
    assert ("You have 3 attempts." in page, "clumsy" in page) == (True, False)
    german = visitor.get(test, headers={"accept-language": "de"}).text
    assert '<legend lang="de" dir="auto">Was wird bewertet?' in german
    assert (
        '<legend lang="" dir="auto">What is rated?'
        in visitor.get(test, headers={"accept-language": "cs"}).text
    )
    assert visitor.post(test, {"number": "1", "q0": "1"}).status_code == 422
    assert visitor.post(test, {"number": "1", "q0": "1", "q1": "7"}).status_code == 422
    assert not TestAttempt.objects.exists()

    wrong = {"number": "1", "q0": "0", "q1": "0"}
    assert visitor.post(test, wrong)["Location"] == test
    page = visitor.get(test).text
    assert "You answered 1 of 2 questions correctly." in page
    assert page.count("Wrong in your last attempt") == page.count("A clumsy sentence") == 1
    # The form sent once more, by a second window, is no attempt of its own.
    visitor.post(test, wrong | {"q0": "1"})
    assert list(TestAttempt.objects.values_list("given", "n_right", "is_passed")) == [
        ([0, 0], 1, False)
    ]
    assert visitor.post(test, {"number": "2", "q0": "1", "q1": "0"})["Location"] == way(campaign)
    assert me(campaign).qualified_at is not None
    assert visitor.get(way(campaign))["Location"] == reverse("item", args=[item.public_id])
    assert visitor.get(test)["Location"] == way(campaign)


def test_who_fails_is_heard_once_and_may_be_let_in(
    world: World, visitor: Client, boss: Client
) -> None:
    campaign = made(world, comprehension=QUESTIONS, test_attempts=1)
    test, stopped = way(campaign, "annotate-test"), way(campaign, "annotate-stopped")
    visitor.post(test, {"number": "1", "q0": "0", "q1": "1"})
    assert visitor.get(way(campaign))["Location"] == stopped
    assert visitor.post(stopped, {"message": " "}).status_code == 422
    assert visitor.post(stopped, {"message": "x" * 2_001}).status_code == 422
    visitor.post(stopped, {"message": "I read <the> second page too late."})
    visitor.post(stopped, {"message": "Another one."})
    assert "I read &lt;the&gt; second page too late." in visitor.get(stopped).text
    stop = Stop.objects.get()
    assert (stop.message, stop.n_failed, stop.reason) == (
        "I read <the> second page too late.", 2, "test",
    )  # fmt: skip
    assert "second page too late" in boss.get(way(campaign, "access")).text
    decide = reverse("stop-decide", args=[campaign.slug, stop.pk])
    boss.post(decide, {"do": "on", "reply": "Welcome."})
    assert tells(shown(boss.post(decide, {"do": "end"})), "stop.already-decided")
    stop.refresh_from_db()
    assert (stop.may_go_on, stop.decided_by) == (True, world.admin)
    assert visitor.get(way(campaign))["Location"].startswith("/item/")
    assert list(campaign.audit.values_list("action", "reason")) == [("let go on", "Welcome.")]
    assert not Notification.objects.exists()


def test_a_stop_is_told_where_somebody_wants_to_hear(world: World) -> None:
    campaign = made(world, stop_after=2, notify_email="lab@example.org", notify_webhook="https://x")
    person = me(campaign)
    stop(person, Stop.Reason.CHECKS, n_failed=2)
    mail, hook = Notification.objects.order_by("channel")
    total = person.assignments.count()
    assert mail.subject == f"Tested has stopped {person.label}"
    told = json.loads(hook.body)
    page = f"http://localhost:8000{way(campaign, 'access')}"
    assert (told["event"], told["annotator"], told["url"]) == ("stopped", person.label, page)
    assert (told["done"], told["total"]) == (0, total)
    assert page in mail.body


def shown(response: Any) -> str:
    return " ".join(str(each) for each in get_messages(response.wsgi_request))


def answer(visitor: Client, address: str, score: int = 50) -> Any:
    page = visitor.get(address).text
    fields = dict(re.findall(r'name="(submit_key|revision|started)" value="([^"]*)"', page))
    return visitor.post(address, fields | {"score": str(score)}, headers=JSON)


def addresses(campaign: Campaign) -> list[str]:
    rows = me(campaign).assignments.order_by("position")
    return [reverse("item", args=[each]) for each in rows.values_list("public_id", flat=True)]


def gold(campaign: Campaign, place: int, **right: Any) -> None:
    row = me(campaign).assignments.get(position=place)
    Item.objects.filter(pk=row.item_id).update(kind=Item.Kind.GOLD, **right)


def test_failed_checks_stop_at_a_place_that_tells_nothing(
    world: World, visitor: Client, boss: Client
) -> None:
    campaign = made(world, stop_after=2)
    gold(campaign, 2, low=80, high=100)
    gold(campaign, 5, rules={"errors": [[0, 0, 1, 9, ""]]})  # none is marked
    items = addresses(campaign)
    begun = visitor.get(items[EVERY]).text
    for address in items[: EVERY - 1]:
        assert answer(visitor, address).json()["next"] in items
    last = answer(visitor, items[EVERY - 1]).json()
    stopped = way(campaign, "annotate-stopped")
    assert last == {"next": stopped, "leaves": True}
    assert Stop.objects.get().n_failed == 2
    page = visitor.get(stopped).text
    assert not re.search(r"check|gold|trap|\b2\b", page.split("<main")[1].split("</main")[0])

    # What was begun before is stored, what is begun later is not.
    fields = dict(re.findall(r'name="(submit_key|revision|started)" value="([^"]*)"', begun))
    kept = visitor.post(items[EVERY], fields | {"score": "7"}, headers=JSON)
    assert (kept.status_code, kept.json()["leaves"]) == (200, True)
    assert visitor.get(items[EVERY + 1])["Location"] == stopped
    assert visitor.get(way(campaign, "annotate-ahead")).json() == {"screens": []}
    assert Judgment.objects.filter(is_current=True).count() == EVERY + 1

    stop = Stop.objects.get()
    assert "undecided" in page_of(world.researcher, campaign)
    boss.post(reverse("stop-decide", args=[campaign.slug, stop.pk]), {"do": "on"})
    # Failures of before count no more.
    for address in items[EVERY + 1 : 2 * EVERY + 1]:
        assert "leaves" not in answer(visitor, address).json()


def page_of(user: Any, campaign: Campaign) -> str:
    client = Client()
    client.force_login(user)
    return client.get(way(campaign, "access")).text


def test_who_ends_keeps_all_judgments(world: World, visitor: Client, boss: Client) -> None:
    campaign = made(world, stop_after=1)
    gold(campaign, 0, low=80, high=100)
    items = addresses(campaign)
    for address in items[:EVERY]:
        answer(visitor, address)
    stop = Stop.objects.get()
    url = reverse("stop-decide", args=[campaign.slug, stop.pk])
    assert "Choose whether" in shown(boss.post(url, {}))
    boss.post(url, {"do": "end", "reply": "Thank you."})
    page = visitor.get(way(campaign, "annotate-stopped")).text
    assert ('data-case="ended"' in page, "Thank you." in page) == (True, True)
    assert visitor.get(way(campaign))["Location"] == way(campaign, "annotate-stopped")
    assert Judgment.objects.filter(is_current=True).count() == EVERY


def test_the_same_queries_whatever_the_tenth_item_is(world: World, visitor: Client) -> None:
    campaign = made(world, stop_after=5)
    gold(campaign, EVERY - 1, low=80, high=100)
    items = addresses(campaign)
    counts = []
    for place, address in enumerate(items[: 2 * EVERY]):
        page = visitor.get(address).text
        fields = dict(re.findall(r'name="(submit_key|revision|started)" value="([^"]*)"', page))
        with CaptureQueriesContext(connection) as queries:
            visitor.post(address, fields | {"score": "1"}, headers=JSON)
        if place % EVERY == EVERY - 1:
            counts.append(len(queries))
    assert counts[0] == counts[1]
