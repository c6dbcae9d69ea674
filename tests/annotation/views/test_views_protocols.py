"""The item page of every protocol, without a browser: what is sent, stored, refused and hidden."""

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Assignment, Campaign, ErrorSpan, Item, Judgment
from tests.annotation.blindness.test_leaks import KINDS
from tests.core.test_csp import INLINE
from tests.planting import plant

JSON = {"accept": "application/json"}
PROTOCOLS = ["segment-da", "document-da", "side-by-side", "esa", "mqm"]
# Answers that are submitted as one: a segment by two systems, three segments and their document.
TOGETHER = {"side-by-side": 2, "document-da": 4}
MAX_QUERIES = 12
SOURCES = ("源文一。", "源文二。", "源文三。")
OUTPUTS = [("One two three.", "Four five six.", "Seven."), ("Uno.", "Dos.", "Tres.")]
MINOR = {"side": "target", "start": 0, "end": 3, "severity": "minor", "category": ""}


def opened(client: Client, protocol: str, **fields: Any) -> tuple[Campaign, list[Assignment]]:
    """A campaign with `annotator-1` signed in, and their assignments in order."""
    outputs = OUTPUTS if protocol == "side-by-side" else OUTPUTS[:1]
    given: dict[str, Any] = {"sources": SOURCES, "outputs": outputs} | fields
    campaign = plant(protocol, **given)
    client.force_login(User.objects.get(username="annotator-1"))
    return campaign, list(Assignment.objects.order_by("position"))


def address(assignment: Assignment) -> str:
    return reverse("item", args=[assignment.public_id])


def form(client: Client, assignment: Assignment, **changes: str) -> dict[str, str]:
    """The hidden fields of the form that submits a screen, with a score where there is one."""
    page = client.get(address(assignment)).text
    body = re.search(r'<form class="[^"]*rate.*?</form>', page, re.S).group(0)
    names = r'name="([\d-]*(?:submit_key|revision|started))" value="([^"]*)"'
    fields = dict(re.findall(names, body))
    scores = re.findall(r'name="([\ds-]*score)"', body)
    return fields | dict.fromkeys(scores, "50") | changes


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.django_db
def test_a_submit_and_the_next_item(client: Client, protocol: str) -> None:
    campaign, rows = opened(client, protocol)
    span = MINOR | {"category": "fluency/grammar"} if protocol == "mqm" else MINOR
    changes = {"spans": json.dumps([span])} if protocol in ("esa", "mqm") else {}
    data = form(client, rows[0], **changes)
    with CaptureQueriesContext(connection) as queries:
        response = client.post(address(rows[0]), data, headers=JSON)
    assert response.status_code == 200
    together = TOGETHER.get(protocol, 1)
    done = reverse("annotate-done", args=[campaign.slug])
    assert response.json()["next"] == (address(rows[together]) if rows[together:] else done)
    assert Judgment.objects.count() == together
    assert ErrorSpan.objects.count() == len(changes)
    assert len(queries) <= MAX_QUERIES


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.django_db
def test_the_same_submit_twice_stores_once(client: Client, protocol: str) -> None:
    _, rows = opened(client, protocol)
    data = form(client, rows[0])
    replies = [client.post(address(rows[0]), data, headers=JSON) for _ in range(2)]
    assert [reply.status_code for reply in replies] == [200, 200]
    assert Judgment.objects.count() == TOGETHER.get(protocol, 1)


@pytest.mark.parametrize("score", ["", "101", "99999999999", "-1", "5.5"])
@pytest.mark.parametrize("protocol", ["document-da", "side-by-side", "esa"])
@pytest.mark.django_db
def test_a_wrong_score_stores_nothing(client: Client, protocol: str, score: str) -> None:
    _, rows = opened(client, protocol)
    field = "1-score" if protocol in TOGETHER else "score"
    reply = client.post(address(rows[0]), form(client, rows[0], **{field: score}), headers=JSON)
    assert (reply.status_code, reply.json()["field"]) == (422, field)
    code = "rating.score-wrong" if score else "rating.score-missing"
    assert reply.json()["message"]["code"] == code
    assert not Judgment.objects.exists()


@pytest.mark.django_db
def test_zero_is_an_answer_and_nothing_is_not(client: Client) -> None:
    _, rows = opened(client, "side-by-side")
    data = form(client, rows[0])
    del data["1-score"]
    assert client.post(address(rows[0]), data, headers=JSON).status_code == 422
    assert not Judgment.objects.exists()
    data |= {"0-score": "0", "1-score": "0"}
    assert client.post(address(rows[0]), data, headers=JSON).status_code == 200
    assert list(Judgment.objects.values_list("score", flat=True)) == [0, 0]


@pytest.mark.parametrize(
    "change",
    [
        {"start": 3, "end": 3},
        {"start": 5, "end": 2},
        {"start": -1},
        {"end": 15},  # the text has 14 characters
        {"severity": "critical"},
        {"category": "style/none"},
        {"side": "reference"},
        {"start": "0"},
    ],
)
@pytest.mark.django_db
def test_a_wrong_span_stores_nothing(client: Client, change: dict[str, object]) -> None:
    _, rows = opened(client, "mqm")
    span = MINOR | {"category": "fluency/grammar"} | change
    for marked in ([span], [MINOR | {"category": "style/awkward"}, span]):
        data = form(client, rows[0], spans=json.dumps(marked))
        reply = client.post(address(rows[0]), data, headers=JSON)
        assert reply.status_code == 422
        damaged = "rating.errors-damaged" if change.get("start") == "0" else "rating.error"
        assert reply.json()["message"]["code"] == damaged
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.django_db
def test_an_item_of_nobody_and_of_somebody_else(client: Client, protocol: str) -> None:
    _, rows = opened(client, protocol)
    data = form(client, rows[0])
    client.force_login(User.objects.create_user("stranger"))
    assert client.post(address(rows[0]), data, headers=JSON).status_code == 404
    client.logout()
    assert client.post(address(rows[0]), data, headers=JSON).status_code == 401
    assert client.post(address(rows[0]), data).status_code == 401
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.django_db
def test_pages_escape_and_hide(client: Client, protocol: str) -> None:
    """Texts are escaped; nothing is inline or foreign; no word tells what an item is."""
    evil = "<script>alert(1)</script> & <b>"
    outputs = [(evil, "Four.", "Six.")] * (2 if protocol == "side-by-side" else 1)
    _, rows = opened(client, protocol, sources=(evil, "二", "三"), outputs=outputs)
    Item.objects.filter(kind=Item.Kind.TARGET).update(kind=Item.Kind.BAD_REF, text=evil)
    for row in rows:
        page = client.get(address(row)).text
        assert "<script>alert" not in page
        assert [what for what, pattern in INLINE.items() if pattern.search(page)] == []
        assert not KINDS.search(page), KINDS.search(page)
        assert "system 0" not in page
    first = client.get(address(rows[0])).text
    escaped = "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;b&gt;"
    assert first.count(escaped) >= 2
    assert 'step="1"' in first or protocol == "mqm"
    hidden = re.findall(r'<input type="hidden" name="([^"]*)"', first)
    wanted = {"csrfmiddlewaretoken", "submit_key", "revision", "started", "spans"}
    wanted |= {"visible_ms", "active_ms", "next"}  # the choice of a language comes back here
    assert {re.sub(r"^\d+-", "", name) for name in hidden} <= wanted


@pytest.mark.django_db
def test_every_character_of_a_text_arrives(client: Client) -> None:
    """A bare carriage return would become a line feed, and shift the errors that come after."""
    _, rows = opened(client, "esa", outputs=[("a\r\nb\rc", "Four.", "Six.")])
    page = client.get(address(rows[0])).text
    assert "a&#13;\nb&#13;c</p>" in page


@pytest.mark.django_db
def test_marks_are_taken_only_in_texts_that_are_shown(client: Client) -> None:
    _, rows = opened(client, "esa")
    span = MINOR | {"side": "source"}
    data = form(client, rows[0], spans=json.dumps([span]))
    Campaign.objects.update(shown_text=Campaign.ShownText.REFERENCE)
    assert 'data-side="source"' not in client.get(address(rows[0])).text
    assert client.post(address(rows[0]), data, headers=JSON).status_code == 422
    Campaign.objects.update(shown_text=Campaign.ShownText.SOURCE)
    assert 'data-side="source"' in client.get(address(rows[0])).text
    assert client.post(address(rows[0]), data, headers=JSON).status_code == 200


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.django_db
def test_after_the_edit_window(client: Client, protocol: str) -> None:
    campaign, rows = opened(client, protocol, edit_minutes=0)
    data = form(client, rows[0])
    assert client.post(address(rows[0]), data, headers=JSON).status_code == 200
    page = client.get(address(rows[0])).text
    assert "data-locked" in page
    history = client.get(reverse("annotate-history", args=[campaign.slug])).text
    assert "Change" not in history
    Campaign.objects.update(edit_minutes=None)
    assert "Change" in client.get(reverse("annotate-history", args=[campaign.slug])).text


@pytest.mark.django_db
def test_the_history_names_scores_and_penalties(client: Client) -> None:
    campaign, rows = opened(client, "mqm")
    span = MINOR | {"category": "fluency/punctuation"}
    client.post(address(rows[0]), form(client, rows[0], spans=json.dumps([span]), comment="Hm <b>"))
    client.post(address(rows[1]), form(client, rows[1], flag="1"))
    history = client.get(reverse("annotate-history", args=[campaign.slug])).text
    for words in ("Penalty 0.1", "No errors", "Flagged", "Hm &lt;b&gt;"):
        assert words in history


@pytest.mark.django_db
def test_a_form_without_scripts_survives_the_session(client: Client) -> None:
    """Signed out with two texts rated and a comment: the page keeps all, and sends it again."""
    _, rows = opened(client, "side-by-side")
    data = form(client, rows[0], **{"0-score": "0", "1-comment": 'A "name"?'})
    client.logout()
    page = client.post(address(rows[0]), data)
    assert page.status_code == 401
    kept = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page.text))
    for name in ("csrfmiddlewaretoken", "next"):
        kept.pop(name, None)
    assert kept.pop("1-comment") == "A &quot;name&quot;?"
    assert kept == {name: value for name, value in data.items() if name != "1-comment"}
    client.force_login(User.objects.get(username="annotator-1"))
    assert client.post(address(rows[0]), data).status_code == 302
    rated = Judgment.objects.order_by("pk").values_list("score", "comment")
    assert list(rated) == [(0, ""), (50, 'A "name"?')]
