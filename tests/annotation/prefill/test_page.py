"""Suggestions on the item page, as programs see it: shown, kept, refused, and hidden."""

import json
import re
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from annotation.models import Assignment, Campaign, ErrorSpan, Item, Judgment, SuggestionFate
from tests.annotation.views.test_views_protocols import JSON, address, form, opened

ONE = {"side": "target", "start": 0, "end": 3, "severity": "minor", "category": ""}
TWO = {"side": "target", "start": 4, "end": 7, "severity": "major", "category": ""}
STORED = {
    "spans": [["target", 4, 7, "major", "", "planted"], ["target", 0, 3, "minor", "", ""]],
    "known": None,
}


def prefilled(
    client: Client, condition: str = "planted", protocol: str = "esa", **stored: Any
) -> Assignment:
    """The first of two items, with a real suggestion at [0, 3) and a planted one at [4, 7)."""
    _, rows = opened(client, protocol)
    Campaign.objects.update(is_prefilled=True)
    Item.objects.filter(pk=rows[0].item_id).update(suggestions=STORED | stored)
    Assignment.objects.filter(pk=rows[0].pk).update(condition=condition)
    return rows[0]


def send(client: Client, row: Assignment, spans: list[dict[str, Any]], **changes: str) -> Any:
    data = form(client, row, spans=json.dumps(spans), **changes)
    return client.post(address(row), data, headers=JSON)


def left() -> list[tuple[object, ...]]:
    rows = SuggestionFate.objects.filter(judgment__is_current=True)
    return list(rows.values_list("number", "origin", "fate", "start", "end", "severity"))


@pytest.mark.django_db
def test_every_fate_is_stored_and_history_kept(client: Client) -> None:
    row = prefilled(client)
    own = {**ONE, "start": 8, "end": 10, "offer": None}
    assert send(client, row, [ONE | {"offer": 0}, TWO | {"offer": 1}, own]).status_code == 200
    assert left() == [
        (0, "suggested", "kept", 0, 3, "minor"),
        (1, "planted", "kept", 4, 7, "major"),
    ]
    assert list(ErrorSpan.objects.values_list("start", flat=True)) == [0, 8]
    moved = [ONE | {"offer": 0, "end": 2}, own]
    assert send(client, row, moved).status_code == 200
    assert left() == [
        (0, "suggested", "moved", 0, 2, "minor"), (1, "planted", "deleted", 4, 7, "major")
    ]  # fmt: skip
    assert SuggestionFate.objects.count() == 4
    # The older revision has what was kept before.
    assert Judgment.objects.filter(is_current=False).get().fates.count() == 2


@pytest.mark.django_db
def test_the_same_answer_again_is_stored_once(client: Client) -> None:
    row = prefilled(client)
    key = {"submit_key": str(uuid4())}
    kept = [ONE | {"offer": 0}, TWO | {"offer": 1}]
    for _ in range(2):
        assert send(client, row, kept, **key).status_code == 200
    # From another window, which has seen nothing: the same is no conflict, another is.
    assert send(client, row, kept, revision="0").status_code == 200
    assert send(client, row, kept[:1], revision="0").status_code == 409
    anew = [kept[0], TWO | {"offer": None}]
    assert send(client, row, anew, revision="0").status_code == 409
    assert (Judgment.objects.count(), SuggestionFate.objects.count()) == (1, 2)


@pytest.mark.parametrize(
    "spans",
    [
        [ONE],  # an older script says nothing of suggestions
        [ONE | {"offer": 0}, TWO],
        [ONE | {"offer": 2}],
        [ONE | {"offer": -1}],
        [ONE | {"offer": 0}, TWO | {"offer": 0}],
        [ONE | {"offer": "0"}],
        [ONE | {"offer": True}],
        [ONE | {"offer": 0, "origin": "own"}],
    ],
)
@pytest.mark.django_db
def test_stale_and_forged_answers_are_refused(client: Client, spans: list[dict[str, Any]]) -> None:
    row = prefilled(client)
    reply = send(client, row, spans)
    assert reply.status_code == 422
    assert reply.json()["message"]["code"] in ("rating.errors-out-of-date", "rating.errors-damaged")
    assert not Judgment.objects.exists()
    # Nor does an item without suggestions take any.
    Assignment.objects.update(condition="blank")
    if any(span.get("offer") is not None for span in spans):
        assert send(client, row, spans).status_code == 422


@pytest.mark.django_db
def test_planted_and_real_ones_look_alike(client: Client) -> None:
    """Changing which of two is planted changes no byte of any page, before and after the answer."""
    row = prefilled(client)
    other = {"spans": [[*rest, "" if role else "planted"] for *rest, role in STORED["spans"]]}

    def seen() -> list[str]:
        pages = []
        for stored in (STORED, STORED | other):
            Item.objects.filter(pk=row.item_id).update(suggestions=stored)
            page = client.get(address(row)).text
            for name in ("submit_key", "started", "csrfmiddlewaretoken"):
                page = _without(page, name)
            pages.append(page)
        return pages

    first, second = seen()
    assert first == second
    assert "planted" not in first
    assert "data-offered" in first
    send(client, row, [ONE | {"offer": 0}, TWO | {"offer": 1}])
    stored = [_spans(client, row)]
    Judgment.objects.all().delete()
    Assignment.objects.update(completed_at=None)
    Item.objects.filter(pk=row.item_id).update(suggestions=STORED | other)
    send(client, row, [ONE | {"offer": 0}, TWO | {"offer": 1}])
    stored.append(_spans(client, row))
    assert stored[0] == stored[1]
    assert len(stored[0]) == 2


def _without(page: str, name: str) -> str:
    return re.sub(rf'name="{name}" value="[^"]*"', "", page)


def _spans(client: Client, row: Assignment) -> Any:
    page = client.get(address(row)).text
    return json.loads(unescape(re.search(r'name="spans" value="([^"]*)"', page).group(1)))


@pytest.mark.django_db
def test_a_total_tells_nothing_of_planted_errors(client: Client) -> None:
    """The penalty is without them where it counts, and with them where the annotator sees it."""
    spans = [[*row[:4], "style/awkward", row[5]] for row in STORED["spans"]]
    row = prefilled(client, protocol="mqm", spans=spans)
    own = {"category": "style/awkward"}
    reply = send(client, row, [ONE | own | {"offer": 0}, TWO | own | {"offer": 1}])
    assert reply.status_code == 200
    assert Judgment.objects.get().penalty == 1
    page = client.get(f"/annotate/{Campaign.objects.get().slug}/history/").text
    assert "Penalty 6<" in page
