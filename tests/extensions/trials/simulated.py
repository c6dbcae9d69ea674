"""Annotators of known bias, who rate a trial through its pages as browsers do."""

import json
import random
import re
from dataclasses import dataclass
from html import unescape
from math import exp
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Assignment, Item

JSON = {"accept": "application/json"}
# Reports of the browser are believed while they are not beyond what the server saw by so much.
MOST_MS = 4_900


@dataclass(frozen=True)
class Bias:
    """What suggestions do to somebody.

    `takes` is the chance that a planted error is left, `marks` that its region is marked
    unprompted; `misses` and `misses_withheld` that a known error is not marked where nothing, or
    all but it, is suggested; `time` and `shift` what suggestions make of seconds and scores.
    """

    takes: float = 0.7
    marks: float = 0.1
    misses: float = 0.2
    misses_withheld: float = 0.7
    time: float = 0.5
    shift: float = -10.0
    spread: float = 0.2


def rate_all(user: User, bias: Bias, rng: random.Random) -> None:
    """Rate whatever is assigned to somebody, item by item."""
    client = Client()
    client.force_login(user)
    pace = exp(rng.gauss(0, 0.2))
    rows = Assignment.objects.filter(annotator__user=user).select_related("item")
    for row in rows.order_by("position"):
        address = f"/item/{row.public_id}/"
        data = _answer(client.get(address).text, row, bias, pace, rng)
        reply = client.post(address, data | {"ahead": "1"}, headers=JSON)
        assert reply.status_code == 200, reply.content


def _answer(
    page: str, row: Assignment, bias: Bias, pace: float, rng: random.Random
) -> dict[str, Any]:
    fields = dict(re.findall(r'name="(submit_key|revision|started)" value="([^"]*)"', page))
    shown = json.loads(unescape(re.search(r'name="spans" value="([^"]*)"', page).group(1)))
    is_helped = bool(shown)
    spans = _left(shown, row.item, bias, rng)
    seconds = pace * (bias.time if is_helped else 1) * exp(rng.gauss(0, bias.spread))
    score = 70 + (bias.shift if is_helped else 0) + rng.gauss(0, 3)
    milliseconds = min(MOST_MS, round(600 * seconds))
    return fields | {
        "spans": json.dumps(spans),
        "score": str(max(0, min(100, round(score)))),
        "visible_ms": str(milliseconds),
        "active_ms": str(milliseconds),
    }


def _left(
    shown: list[dict[str, Any]], item: Item, bias: Bias, rng: random.Random
) -> list[dict[str, Any]]:
    stored = item.suggestions or {"spans": [], "known": None}
    planted = [own for own in stored["spans"] if own[-1] == "planted"]
    spans = [dict(each) for each in shown]
    for place in planted:
        if offered := [each for each in spans if each["start"] == place[1]]:
            if rng.random() >= bias.takes:
                spans.remove(offered[0])
        elif rng.random() < bias.marks:
            spans.append(_own(place, bool(shown)))
    known = stored["known"]
    chance = bias.misses_withheld if shown else bias.misses
    if known and not any(_is_over(each, known) for each in shown) and rng.random() >= chance:
        spans.append(_own(known, bool(shown)))
    return spans


def _is_over(span: dict[str, Any], place: list[Any]) -> bool:
    return bool(span["start"] < place[2] and place[1] < span["end"])


def _own(place: list[Any], has_offers: bool) -> dict[str, Any]:
    side, start, end = place[:3]
    own = {"side": side, "start": start, "end": end, "severity": "minor", "category": ""}
    return own | {"offer": None} if has_offers else own
