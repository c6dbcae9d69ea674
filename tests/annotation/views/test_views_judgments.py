"""The item page: what a submit costs, and what each wrong one is answered."""

import gzip
import re
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.signing import Signer
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import protocols
from annotation.campaigns import add_annotators, close_campaign, open_campaign
from annotation.judging.judgments import EPOCH, START_SALTS
from annotation.models import Assignment, Item, Judgment
from config.storage import bare
from tests.house.templates.seen import seen
from tests.world import World, make_campaign, make_test_set

JSON = {"accept": "application/json"}
MAX_QUERIES = 13


def opened(world: World, segments: int = 4) -> list[Assignment]:
    test_set = make_test_set("sea", segments=segments) if segments > 4 else world.test_set
    campaign = make_campaign(test_set, "sea-80")
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    rows = Assignment.objects.filter(annotator__user=world.annotators[0])
    return list(rows.order_by("position"))


def address(assignment: Assignment) -> str:
    return reverse("item", args=[assignment.public_id])


def form(client: Client, assignment: Assignment, **changes: Any) -> dict[str, Any]:
    text = client.get(address(assignment)).text
    found = {
        name: re.search(rf'name="{name}" value="([^"]*)"', text).group(1)
        for name in ("submit_key", "revision", "started")
    }
    return found | {"score": "50"} | changes


def test_a_submit_costs_the_same_at_item_1_and_item_500(world: World, client: Client) -> None:
    rows = opened(world, segments=252)
    assert len(rows) >= 506
    client.force_login(world.annotators[0])
    costs = {}
    for place in (0, 1, 499, 505):
        Assignment.objects.filter(pk__in=[row.pk for row in rows[:place]]).update(
            completed_at="2026-01-01T00:00:00Z"
        )
        data = form(client, rows[place])
        with CaptureQueriesContext(connection) as queries:
            response = client.post(address(rows[place]), data, headers=JSON)
        assert response.status_code == 200
        costs[place] = len(queries)
    # Behind the last item there is none: what was passed over is looked for, too.
    assert costs[0] == costs[1] == costs[499]
    assert max(costs.values()) <= MAX_QUERIES
    assert Judgment.objects.count() == 4


def test_an_answer_whose_next_screen_is_there_takes_six_statements(
    world: World, client: Client
) -> None:
    rows = opened(world)
    client.force_login(world.annotators[0])
    data = form(client, rows[0], ahead="1")
    with CaptureQueriesContext(connection) as queries:
        assert client.post(address(rows[0]), data, headers=JSON).status_code == 200
    # In PostgreSQL four without the savepoint, which only a test has around it.
    assert len(queries) == (6 if connection.vendor == "postgresql" else 8), queries.captured_queries


def test_a_plain_form_goes_to_the_next_item(world: World, client: Client) -> None:
    rows = opened(world)
    client.force_login(world.annotators[0])
    page = client.post(address(rows[0]), form(client, rows[0]), follow=True)
    assert page.redirect_chain[-1][0] == address(rows[1])
    assert "Item 2 of 10" in page.text


@pytest.mark.parametrize("salt", START_SALTS)
@pytest.mark.parametrize("headers", [{}, JSON])
def test_a_form_of_an_earlier_version_is_stored(
    world: World, client: Client, salt: str, headers: dict[str, str]
) -> None:
    """It lacks what later ones measure, has a field that is gone, and another salt signed it."""
    row = opened(world)[0]
    client.force_login(world.annotators[0])
    sent = form(client, row, mood="calm")
    signer = Signer(salt=f"{salt}:{world.annotators[0].pk}:{row.public_id}")
    sent["started"] = signer.sign(sent["started"].partition(":")[0])
    answer = client.post(address(row), sent, headers=headers)
    assert answer.status_code == (200 if headers else 302)
    stored = Judgment.objects.get()
    microseconds = int(sent["started"].partition(":")[0])
    assert (stored.score, stored.started_at) == (50, EPOCH + timedelta(microseconds=microseconds))
    assert (stored.visible_ms, stored.active_ms) == (None, None)


@pytest.mark.parametrize(
    "score",
    [
        "",
        " ",
        "-1",
        "101",
        "55.5",
        "NaN",
        "1e2",
        "５０",
        "٥٠",
        "1_0",
        "+5",
        "0x1f",
        "9" * 5000,
        "ok",
    ],
)
@pytest.mark.parametrize("headers", [{}, JSON])
def test_wrong_scores(world: World, client: Client, score: str, headers: dict[str, str]) -> None:
    row = opened(world)[0]
    client.force_login(world.annotators[0])
    response = client.post(address(row), form(client, row, score=score), headers=headers)
    assert response.status_code == 422
    assert "from 0 to 100" in response.text
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("field", ["submit_key", "revision", "started"])
def test_damaged_forms_can_be_sent_again(world: World, client: Client, field: str) -> None:
    row = opened(world)[0]
    client.force_login(world.annotators[0])
    damaged = form(client, row, **{field: "junk"})
    response = client.post(address(row), damaged, headers=JSON)
    assert response.status_code == 422
    again = damaged | response.json()["form"]
    assert client.post(address(row), again, headers=JSON).status_code == 200
    assert Judgment.objects.get().score == 50


def test_somebody_elses_item_is_not_there(world: World, client: Client) -> None:
    row = opened(world)[0]
    client.force_login(world.annotators[0])
    data = form(client, row)
    for user in (world.annotators[1], world.outsider, world.admin):
        client.force_login(user)
        assert client.get(address(row)).status_code == 404
        assert client.post(address(row), data).status_code == 404
    assert client.get(reverse("item", args=[uuid.uuid4()])).status_code == 404
    assert not Judgment.objects.exists()


def test_a_closed_campaign(world: World, client: Client) -> None:
    row = opened(world)[0]
    client.force_login(world.annotators[0])
    data = form(client, row)
    close_campaign(campaign=row.item.campaign)
    for headers in ({}, JSON):
        response = client.post(address(row), data, headers=headers)
        assert response.status_code == 409
        assert "closed" in response.text
    assert not Judgment.objects.exists()


def test_an_expired_session_keeps_the_score(world: World, client: Client) -> None:
    row = opened(world)[0]
    client.force_login(world.annotators[0])
    data = form(client, row, score="73")
    client.logout()
    script = client.post(address(row), data, headers=JSON)
    assert (script.status_code, script.json()["sign_in"]) == (401, "/login/")
    page = client.post(address(row), data)
    assert page.status_code == 401
    assert "73" in page.text
    back = re.search(rf'href="({re.escape(address(row))}\?[^"]*)"', page.text).group(1)
    client.force_login(world.annotators[0])
    again = client.get(back.replace("&amp;", "&"))
    assert 'value="73"' in again.text
    assert not Judgment.objects.exists()


def test_what_a_script_asks_signed_out_leaves_the_sign_in_page_alone(
    world: World, client: Client
) -> None:
    """A new CSRF cookie would spoil the form that is open in another tab."""
    row = opened(world)[0]
    slug = row.annotator.campaign.slug
    names = [("annotate-own", slug), ("annotate-ahead", slug)]
    names += [("item", row.public_id), ("item-around", row.public_id)]
    for name, key in names:
        response = client.get(reverse(name, args=[key]), headers=JSON)
        assert (response.status_code, response.cookies) == (401, {})
        assert client.get(reverse(name, args=[key])).status_code == 302


def test_a_late_reply_to_a_script_brings_no_older_cookie(world: World) -> None:
    """Signing in elsewhere gives a new CSRF cookie; what was asked before must not undo that."""
    row = opened(world)[0]
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.annotators[0])
    names = [("annotate-ahead", row.annotator.campaign.slug), ("item", row.public_id)]
    for name, key in names:
        # Who has none gets one, to send with the answer.
        client.cookies.pop("csrftoken", None)
        assert "csrftoken" in client.get(reverse(name, args=[key]), headers=JSON).cookies
        assert "csrftoken" not in client.get(reverse(name, args=[key]), headers=JSON).cookies


def test_without_a_csrf_token(world: World) -> None:
    row = opened(world)[0]
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.annotators[0])
    for headers in ({}, JSON):
        response = client.post(address(row), form(client, row), headers=headers)
        assert response.status_code == 403
        assert "not saved" in response.text
    assert not Judgment.objects.exists()


def test_a_program_that_follows_next_comes_to_the_end(world: World, client: Client) -> None:
    """Also where practice comes first: its own screen is beside the way on."""
    rows = opened(world)
    Item.objects.filter(pk__in=[row.item_id for row in rows[:2]]).update(
        kind=Item.Kind.TUTORIAL, low=20, high=40, feedback="Half is missing."
    )
    client.force_login(world.annotators[0])
    place, rated = reverse("annotate", args=[rows[0].annotator.campaign.slug]), []
    for _ in rows:
        page = client.get(place, follow=True)
        row = next(row for row in rows if address(row) == page.request["PATH_INFO"])
        reply = client.post(address(row), form(client, row), headers=JSON).json()
        place = reply["next"]
        rated.append(row)
        is_practice = row in rows[:2]
        assert ("data-feedback" in reply.get("html", "")) == is_practice
        assert (reply.get("path") == address(row)) == is_practice
    assert rated == rows
    assert "/done/" in place


def test_twice_the_same(world: World, client: Client) -> None:
    row = opened(world)[0]
    client.force_login(world.annotators[0])
    data = form(client, row)
    answers = [client.post(address(row), data, headers=JSON) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json()["next"] == answers[1].json()["next"]
    assert Judgment.objects.count() == 1


def test_a_second_window_has_to_confirm(world: World, client: Client) -> None:
    row = opened(world)[0]
    client.force_login(world.annotators[0])
    first, second = (form(client, row, score=score) for score in ("73", "40"))
    assert client.post(address(row), first).status_code == 302
    page = client.post(address(row), second)
    assert page.status_code == 409
    assert 'value="40"' in page.text
    script = client.post(address(row), second, headers=JSON)
    told = script.json()["message"]
    assert (told["code"], told["parameters"]) == ("rating.score-differs", {"old": 73, "new": 40})
    again = second | script.json()["form"]
    assert client.post(address(row), again).status_code == 302
    rows = Judgment.objects.order_by("revision").values_list("score", "is_current")
    assert list(rows) == [(73, False), (40, True)]


def test_a_page_that_was_open_for_too_long(world: World, client: Client) -> None:
    row = opened(world)[0]
    client.force_login(world.annotators[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotation.judging.judgments.START_MAX_AGE", timedelta(seconds=-1))
        old = form(client, row)
        refused = client.post(address(row), old, headers=JSON)
    assert (refused.status_code, refused.json()["message"]["code"]) == (422, "rating.start-too-old")
    again = old | refused.json()["form"]
    assert again["submit_key"] == old["submit_key"]
    assert client.post(address(row), again, headers=JSON).status_code == 200


def test_no_page_of_an_annotator_is_kept_by_caches(world: World, client: Client) -> None:
    row = opened(world)[0]
    client.force_login(world.annotators[0])
    for headers in ({}, JSON):
        response = client.get(address(row), headers=headers)
        assert "no-store" in response["Cache-Control"]
        # Page and JSON share an address; the back button must not mix them up.
        assert "Accept" in response["Vary"]


def test_texts_are_escaped(world: World, client: Client) -> None:
    row = opened(world)[0]
    row.item.segment.references.update(text="<script>alert(1)</script> & <b>")
    client.force_login(world.annotators[0])
    page = client.get(address(row)).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;b&gt;" in page
    assert "<script>alert" not in page


def test_an_empty_output_is_said_to_be_empty(world: World, client: Client) -> None:
    row = next(row for row in opened(world) if row.item.output)
    type(row.item.output).objects.update(text="")
    client.force_login(world.annotators[0])
    assert "data-empty" in client.get(address(row)).text


@pytest.mark.parametrize("name", protocols.PROTOCOLS)
def test_the_script_stays_small(name: str) -> None:
    """What an item page needs before it works, and every module that it comes to load."""
    own = protocols.get(name)
    marking = ["protocols/marking.js"] if own.spans else []
    needed = ["annotate.js", own.script.removeprefix("js/"), *marking]
    first = modules(*needed)
    assert {"clock", "slider", "store", Path(own.script).stem} <= set(first)
    assert ("spans" in first) == (own.spans is not None)
    assert sum(len(text) for text in first.values()) <= 60 * 1024
    # What only a press of a button fetches is no part of it.
    every = modules(*needed, is_later=True)
    assert ("taxonomy" in every) == (own.spans is not None)
    assert {"ahead", "own", "beside"} <= set(every) - set(first)
    # As it travels: compressed.
    assert sum(len(gzip.compress(text)) for text in every.values()) < 33 * 1024


def modules(*names: str, is_later: bool = False) -> dict[str, bytes]:
    """Modules as they are served, with all that they import, on demand too if `is_later`.

    Of the modules of layouts only those that are named: one screen has one layout.
    """
    folder = settings.BASE_DIR / "static" / "js"
    found: dict[Path, str] = {}
    wanted = [folder / name for name in names]
    while wanted:
        path = wanted.pop()
        if path in found or path.stem == "differences":
            continue
        found[path] = bare(path.read_text())
        imports = re.findall(r"""(from |import\()"([^"]+)\"""", found[path])
        wanted += [
            (path.parent / name).resolve()
            for how, name in imports
            if how == "from " or (is_later and path.stem != "load")
        ]
    return {path.stem: text.encode() for path, text in found.items()}


def test_texts_carry_language_and_direction(world: World, client: Client) -> None:
    test_set = make_test_set("arabic", languages=("en", "ar"))
    campaign = make_campaign(test_set, "arabic-80", annotators_per_item=1)
    add_annotators(campaign=campaign, users=[world.outsider])
    open_campaign(campaign=campaign)
    client.force_login(world.outsider)
    page = client.get(reverse("annotate", args=[campaign.slug]), follow=True)
    assert seen(page.text).count('lang="ar" dir="rtl"') == 2
