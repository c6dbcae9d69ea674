"""Whatever is sent to any address of the site: an answer, and no failure of the server."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pytest
from celery.app.task import Task
from django.test import Client
from django.test.utils import override_settings

from tests.addresses import routes
from tests.fuzz.cases import FILES, MULTIPART, multipart
from tests.fuzz.hostile import (
    BODIES,
    CONTENT_TYPES,
    DEPTH,
    HEADERS,
    IN_ADDRESS,
    IN_FORM,
    METHODS,
    chosen,
)
from tests.fuzz.listening import listening
from tests.fuzz.places import Places, make_places
from tests.fuzz.reaching import REFUSED_AS_SENT, Way, furthest, sent_and_undone, signed_in
from tests.fuzz.requests import Case, Record
from tests.shared import SharedRows

FORM = "application/x-www-form-urlencoded"
# Pages share the code that reads their filters: this number sends hostile values by one name.
OFTEN = 2 * DEPTH
ADMIN = {
    "admin": "/admin/",
    "admin users": "/admin/auth/user/",
    "admin user": "/admin/auth/user/<pk>/change/",
    "admin group": "/admin/auth/group/<pk>/change/",
    "admin sign-in": "/admin/login/",
}
# One leads to the sign-in, a check asks for a model, no figure is drawn of nothing, no account
# waits for a password, no trial asks what people think of it, no document is shown around,
# nothing is played, nobody is stopped, and nobody differs.
NOWHERE = {
    "logout", "model-check", "matrix-figure", "preferences-figure", "account-link",
    "job-data", "job-figure",
    "annotate-attitude", "item-around", "item-media", "segment-media",
    "stop-decide", "adjudicate", "annotate-corrections",
}  # fmt: skip
FOR_ANYBODY = {"login"}
# What makes a form right as far as it can be known beforehand.
RIGHT = {
    "name": "Fuzzed", "username": "researcher", "password": "wrong", "source_language": "zh",
    "target_language": "en", "tool": "appraise", "score": "50", "test_set": "harbour",
    "metrics": "bleu", "campaign": "harbour-80", "corpora": "fit", "kind": "remap", "label": "x",
    "language": "de", "decision": "agree", "role": "researcher", "count": "1", "quota": "1",
    "provider": "open", "reason": "because", "do": "save", "private": "yes",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_workers(
    unlogged: None, kept_state: None, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """Documents of the dashboards and started work are for workers; here is none."""
    settings.ANALYSES_IN_PLACE = False
    monkeypatch.setattr(Task, "apply_async", lambda *_, **__: None)


@pytest.fixture(scope="module")
def ways(shared_rows: SharedRows[list[Way]]) -> Iterator[list[Way]]:
    """How to get to every address; nothing that a request changes stays."""
    with pytest.MonkeyPatch.context() as patch, override_settings(ANALYSES_IN_PLACE=False):
        patch.setattr(Task, "apply_async", lambda *_, **__: None)
        patch.setattr(logging.getLogger("django.request"), "disabled", True)
        with shared_rows(lambda: all_ways(make_places())) as made:
            yield made


def all_ways(places: Places) -> list[Way]:
    signed = signed_in(places)
    return [furthest(signed, name, route, values) for name, route, values in addresses(places)]


def addresses(places: Places) -> Iterator[tuple[str, str, Mapping[str, Sequence[str]]]]:
    """Yield name, route, and what may fill it rightly."""
    values = {
        "slug": ["harbour-80", "harbour", "port"],
        "public_id": [places.item],
        "name": ["fit", "chrf", "table-6"],
        "fmt": ["json", "csv"],
        "figure": ["intervals"],
        "sweep": ["fit"],
        "verb": ["exclude", "archive"],
        "format": ["json"],
        "kind": ["remap", "campaign"],
        "which": ["harbour-80"],
        "family": ["bertscore", "judge"],
        "template": ["error-spans"],
        "token": ["link", "personal"],
    }
    for name, route in [*routes(), *ADMIN.items()]:
        # 503 is right where nothing works, and 404 where nobody counts.
        if name in ("readyz", "prometheus"):
            continue
        yield name, route, values | {"pk": [places.key(route)]}


def spread(cases: Iterable[Case], clients: Mapping[str, Client]) -> Iterator[tuple[str, Case]]:
    """The role that gets furthest sends all; each of the others one in thirty."""
    first, *others = clients
    for number, case in enumerate(cases):
        yield first, case
        if number % 30 < len(others):
            yield others[number % 30], case


def in_addresses(route: str, right: str, names: set[str]) -> Iterator[Case]:
    """Hostile paths and queries, a few hostile headers, every method."""
    parts = route.split("/")
    for number, part in enumerate(right.split("/")):
        if number < len(parts) and "<" in parts[number]:
            for what, value in chosen(IN_ADDRESS, 2 * DEPTH, route, part):
                changed = right.split("/")
                changed[number] = value
                yield Case("GET", "/".join(changed), f"{part}: {what}")
    for name in sorted(names | {"unknown"}):
        for what, value in chosen(IN_ADDRESS, DEPTH, route, name):
            yield Case("GET", f"{right}?{quote(name)}={value}", f"{name}: {what}")
    for what, headers in chosen({str(each): each for each in HEADERS}, DEPTH, route):
        yield Case("GET", right, f"headers {what}", headers=headers)
    for method, _ in chosen(dict.fromkeys(METHODS[1:]), DEPTH, route):
        yield Case(method, right, f"method {method}")


def in_forms(route: str, right: str, names: set[str]) -> Iterator[Case]:
    """Empty, damaged and hostile forms, as text and as a file.

    Every eighth field in its turn, and the others together: each says what is wrong with it. With
    a greater depth all have their turn.
    """
    for what, body in chosen(BODIES, DEPTH, route):
        for content_type in (FORM, MULTIPART, "application/json", *chosen_types(route)):
            yield Case("POST", right, f"{content_type}: {what}", body, content_type)
    plausible = {name: RIGHT.get(name.rpartition("-")[2], "1") for name in names}
    for what, data in chosen(FILES, DEPTH, route):
        files = {name: data if name not in RIGHT else value for name, value in plausible.items()}
        yield Case("POST", right, f"files: {what}", multipart(files), MULTIPART)
    yield Case("POST", right, "plausible", multipart(plausible), MULTIPART)
    alone = sorted(names)[:: 1 if DEPTH > 1 else 8]
    for name in alone:
        for what, value in chosen(IN_FORM, DEPTH, route, name):
            body = multipart(plausible | {name: value})
            yield Case("POST", right, f"{name}: {what}", body, MULTIPART)
    together = {name: chosen(IN_FORM, 1, route, name)[0][1] for name in names.difference(alone)}
    yield Case("POST", right, "the others", multipart(plausible | together), MULTIPART)


def chosen_types(route: str) -> list[str]:
    return [each for each, _ in chosen(dict.fromkeys(CONTENT_TYPES), 1, route)]


def test_every_address_leads_somewhere(db: None, ways: list[Way]) -> None:
    """Otherwise all that is sent there would be refused for one and the same reason."""
    lost = {way.name: way.address for way in ways if way.rank < REFUSED_AS_SENT}
    # Second factors ask for the password, a provider has to be there.
    assert {name for name in lost if not name.startswith(("factor", "provider"))} == NOWHERE
    assert {way.name for way in ways if next(iter(way.clients)) == "anonymous"} == FOR_ANYBODY


def test_every_address_with_hostile_paths_and_queries(db: None, ways: list[Way]) -> None:
    record, met = Record(), Counter[str]()
    for way in ways:
        rare = {name for name in way.names if met[name] < OFTEN}
        met.update(rare)
        for role, case in spread(in_addresses(way.route, way.address, rare), way.clients):
            record.add(way.name, case, sent_and_undone(way.clients[role], case), "", role)
    print(record.table)
    assert not record.faults, record.summary


def test_every_address_with_hostile_forms(db: None, ways: list[Way]) -> None:
    record = Record()
    for way in ways:
        plain = Case("POST", way.address, "", multipart(RIGHT), MULTIPART)
        with listening() as names:
            answer = sent_and_undone(way.first, plain)
        if answer.status_code != 405:
            for role, case in spread(in_forms(way.route, way.address, names), way.clients):
                record.add(way.name, case, sent_and_undone(way.clients[role], case), "", role)
    print(record.table)
    assert not record.faults, record.summary
