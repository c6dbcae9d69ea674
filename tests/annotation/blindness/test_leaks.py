"""Annotators never receive a system name, an item's kind, row ids or another's score."""

import re
import uuid
from collections.abc import Iterator

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.campaigns import add_annotators, close_campaign, open_campaign
from annotation.judging.judgments import issue_start
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment
from annotation.protocols import PROTOCOLS, Protocol
from tests.addresses import fill, routes
from tests.secret_world import (
    FEEDBACK,
    NEVER,
    OTHERS_LABEL,
    OTHERS_SCORE,
    SYSTEMS,
    SecretWorld,
    make_secret_world,
)
from tests.world import World, add_system, make_campaign, make_test_set

SECRETS = ["zebraSYSTEMone", "quaggaSYSTEMtwo"]
KINDS = re.compile(r"\b(trap|bad_ref|bad reference|repeat|control item|is_simulated|kind)\b", re.I)


@pytest.fixture
def campaign(world: World) -> Campaign:
    test_set = make_test_set("hidden", systems=())
    for name in SECRETS:
        add_system(test_set, name)
    # The outputs of this world name their system backwards; here they must not.
    for number, output in enumerate(test_set.systems.first().outputs.model.objects.all()):
        output.text = f"Text number {number * 7} about the sea."
        output.save()
    campaign = make_campaign(test_set, "hidden-80")
    add_annotators(campaign=campaign, users=world.annotators)
    opened = open_campaign(campaign=campaign)
    for assignment in Assignment.objects.filter(annotator__user=world.annotators[1]):
        Judgment.objects.create(assignment=assignment, score=OTHERS_SCORE, submit_key=uuid.uuid4())
    return opened


def form_of(client: Client, address: str) -> dict[str, str]:
    text = client.get(address).text
    names = ("submit_key", "revision", "started")
    return {name: re.search(rf'name="{name}" value="([^"]*)"', text).group(1) for name in names}


def every_response(client: Client, world: World, campaign: Campaign) -> list[object]:
    """Everything that an annotator can get, right and wrong, as page and as JSON."""
    mine = list(
        Assignment.objects.filter(
            annotator__user=world.annotators[0], item__campaign=campaign
        ).order_by("position")
    )
    theirs = Assignment.objects.filter(annotator__user=world.annotators[1]).first()
    responses = []
    for headers in ({}, {"accept": "application/json"}):
        for assignment in mine:
            address = reverse("item", args=[assignment.public_id])
            responses.append(client.get(address, headers=headers))
            form = form_of(client, address)
            for score in ("", "101", "55.5", "44"):
                data = form | {"score": score, "submit_key": str(uuid.uuid4())}
                responses += [client.post(address, data, headers=headers)]
        other = reverse("item", args=[theirs.public_id])
        responses += [client.get(other, headers=headers), client.post(other, headers=headers)]
        pages = ["/", "/campaigns/", "/testsets/", "/runs/", "/api/judgments/", "/api/campaigns/"]
        names = ("annotate", "annotate-done", "annotate-history", "annotate-own")
        names += ("campaign", "quality")
        pages += [reverse(name, args=[campaign.slug]) for name in names]
        pages += [reverse("judgments-data", args=[campaign.slug, f]) for f in ("csv", "json")]
        responses += [client.get(page, headers=headers) for page in pages]
    close_campaign(campaign=campaign)
    responses += [client.get(reverse("item", args=[row.public_id])) for row in mine[:2]]
    return responses


def test_no_response_tells(world: World, campaign: Campaign, client: Client) -> None:
    client.force_login(world.annotators[0])
    responses = every_response(client, world, campaign)
    assert {response.status_code for response in responses} >= {200, 403, 404, 422}
    for response in responses:
        body = response.text + str(dict(response.headers))
        assert not any(secret in body for secret in SECRETS)
        assert not KINDS.search(body), KINDS.search(body)
        assert str(OTHERS_SCORE) not in re.sub(r"[0-9a-f-]{30,}|[\w:=-]{25,}|[\d.]{4,}", "", body)
        assert "annotator-2" not in body
        assert world.annotators[1].username not in body


OF_TEST_SETS = ("/testsets/", "/api/test-sets/")


def every_address(campaign: Campaign, own: Assignment) -> Iterator[str]:
    """Every address of the project, filled with what belongs to the campaign."""
    values = {
        "public_id": [str(own.public_id)],
        "fmt": ["csv", "json"],
        "format": ["json"],
        "pk": ["1"],
        "token": ["guess"],
    }
    for _, route in routes():
        slug = campaign.test_set.slug if route.startswith(OF_TEST_SETS) else campaign.slug
        yield from fill(route, values | {"slug": [slug]})


# Not within a UUID, a token or a time in microseconds, where these digits come by chance.
ROW_ID = re.compile(r"(?<![0-9a-f])91357\d{4}(?![0-9A-Za-z])")
MARKERS = re.compile(
    r"\b(traps?|bad[_-]?refs?|repeats?|golds?|controls?_?items?|attention|calibration|is_simulated|"
    r"kinds?|itemtype|tgt|chk|is_correct|expected|wanted|batch|partner)\b",
    re.I,
)
# Where an annotator rates. The other addresses are not the annotator's, and know no protocol.
RATING = ("/annotate/", "/item/")
# What all protocols of a layout share is looked at before, between and after with one of them.
FIRST_OF_LAYOUT = {PROTOCOLS[name].layout: name for name in reversed(PROTOCOLS)}.values()
ALLOWED = {200, 204, 302, 400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429}


def tags_and_keys(body: str) -> str:
    """What a program reads: tags with their attributes, comments, the keys and values of JSON."""
    if body.startswith(("{", "[")):
        return re.sub(r'"(html|error)": "(\\.|[^"\\])*"', "", body) + " ".join(
            re.findall(r"<[^>]*>", body)
        )
    return " ".join(re.findall(r"<!--.*?-->|<[^>]*>", body, re.S))


def check(response: object, what: object, *, is_answered: bool) -> None:
    """Find no secret in a response; `is_answered` is True once the practice item has an answer."""
    content = b"".join(response) if response.streaming else response.content
    body = content.decode()
    whole = body + str(dict(response.headers)) + str(response.cookies)
    assert [secret for secret in NEVER if secret in whole] == [], what
    assert is_answered or FEEDBACK not in whole, what
    assert not ROW_ID.search(whole), (what, ROW_ID.search(whole))
    # The API's description, which everybody reads, names its fields and tells of no item.
    is_schema = "openapi" in body[:40]
    found = None if is_schema else MARKERS.search(tags_and_keys(body))
    assert not found, (what, found)
    # Random ids, stamps and keys may hold any digits.
    plain = re.sub(r"[\w:=+/-]{20,}|[\d.]{4,}", "", body)
    assert str(OTHERS_SCORE) not in plain, what


def both(client: Client, method: str, address: str, data: object = None) -> Iterator[object]:
    """Ask as a browser and as a script."""
    for headers in ({}, {"accept": "application/json"}):
        yield getattr(client, method)(address, data, headers=headers)


def walk(
    client: Client, secret: SecretWorld, *, is_answered: bool, only: tuple[str, ...] = ("/",)
) -> set[int]:
    """Send GET and POST to every address that begins like `only`, and read what comes back."""
    own = secret.me.assignments.first()
    theirs = secret.other.assignments.first()
    statuses = set()
    addresses = [*every_address(secret.campaign, own), reverse("item", args=[theirs.public_id])]
    assert {reverse("campaign", args=[secret.campaign.slug]), "/api/judgments/"} <= {*addresses}
    addresses += ["/nowhere/", f"/campaigns/{secret.campaign.slug}/nowhere/", "/item/1/"]
    addresses = [address for address in addresses if address.startswith(only)]
    skipped = {reverse("logout"), reverse("item", args=[own.public_id])}
    for address in addresses:
        for method in ("get", "post"):
            if address in skipped and method == "post":
                continue
            for response in both(client, method, address):
                check(response, (method, address), is_answered=is_answered)
                statuses.add(response.status_code)
    return statuses


def answer(secret: SecretWorld, rows: list[Assignment], **changed: str) -> dict[str, str]:
    """The form of the items that are submitted together."""
    protocol = secret.campaign.judging
    together = protocol.layout.has_systems
    data = {}
    for number, row in enumerate(rows):
        fields = {
            **score_of(protocol, 44),
            **({"text": "My own text."} if protocol.text else {}),
            "spans": '[{"side": "target", "start": 0, "end": 1, "severity": "minor", '
            '"category": "CATEGORY"}]'.replace("CATEGORY", category(secret.campaign)),
            "submit_key": str(uuid.uuid4()),
            "revision": "0",
            "started": issue_start(user_id=secret.me.user_id, public_id=row.public_id),
        }
        if protocol.spans is None:
            fields["spans"] = "[]"
        for name, value in (fields | changed).items():
            data[f"{number}-{name}" if together else name] = value
    return data


def score_of(protocol: Protocol, percent: int) -> dict[str, str]:
    """A value on every scale, so far up from its lowest one; an empty one where there is none."""
    values = [str(each.range_at(0, percent / 100)[1]) for each in protocol.scales]
    names = ["score", *(f"s{n}-score" for n in range(1, len(values)))]
    return dict(zip(names, values or [""], strict=True))


def category(campaign: Campaign) -> str:
    keys = campaign.judging.spans.category_keys if campaign.judging.spans else ()
    return min(keys) if keys else ""


def screens_of(secret: SecretWorld) -> list[list[Assignment]]:
    """What is submitted together, in order."""
    rows = list(secret.me.assignments.select_related("item").order_by("position"))
    if not secret.campaign.judging.layout.has_systems:
        return [[row] for row in rows]
    return [rows[start : start + 2] for start in range(0, len(rows), 2)]


WRONG = ({"score": "101"}, {"spans": "[1]"}, {"started": "x"}, {"submit_key": "x"})


@pytest.mark.usefixtures("unlogged")
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_protocol_tells(client: Client, db: None, protocol: str) -> None:
    """Pages before and while rating, wrong and right answers, the end, and every error."""
    secret = make_secret_world(protocol)
    client.force_login(secret.me.user)
    everywhere = ("/",) if protocol == "segment-da" else RATING
    is_first = protocol in FIRST_OF_LAYOUT
    assert not is_first or walk(client, secret, is_answered=False, only=everywhere) <= ALLOWED
    statuses = set()
    mine = Judgment.objects.filter(assignment__annotator=secret.me)
    refused = set[tuple[str, ...]]()
    for number, rows in enumerate(screens_of(secret)):
        kinds = tuple(row.item.kind for row in rows)
        address = reverse("item", args=[rows[0].public_id])
        for wrong in WRONG if kinds not in refused and (is_first or number < 2) else ():
            for response in both(client, "post", address, answer(secret, rows, **wrong)):
                check(response, (address, wrong), is_answered=mine.exists())
                statuses.add(response.status_code)
        refused.add(kinds)
        for response in both(client, "get", address):
            check(response, address, is_answered=mine.exists())
        sent = answer(secret, rows)
        for response in both(client, "post", address, sent):
            check(response, address, is_answered=True)
            statuses.add(response.status_code)
        for response in both(
            client, "post", address, answer(secret, rows, **score_of(secret.campaign.judging, 90))
        ):
            check(response, (address, "conflict"), is_answered=True)
            statuses.add(response.status_code)
    assert {200, 302, 422} <= statuses <= ALLOWED
    assert mine.count() == len(secret.items)
    # Nobody but those who are done learns the code.
    Assignment.objects.filter(annotator=secret.me, position=0).update(completed_at=None)
    assert walk(client, secret, is_answered=True, only=RATING) <= ALLOWED
    close_campaign(campaign=secret.campaign)
    assert not is_first or walk(client, secret, is_answered=True, only=RATING) <= ALLOWED


def test_what_is_asked_first_tells_nothing(client: Client, db: None) -> None:
    secret = make_secret_world("segment-da", consent="Agree?", asks_background=True)
    client.force_login(secret.me.user)
    Annotator.objects.filter(pk=secret.other.pk).update(background={"expertise": "gnuCOMMENT"})
    assert walk(client, secret, is_answered=False, only=RATING) <= ALLOWED
    client.post(reverse("consent", args=[secret.campaign.slug]), {"decision": "agree"})
    assert walk(client, secret, is_answered=False, only=RATING) <= ALLOWED


def test_forms_out_of_date_and_sessions_that_ended_tell_nothing(db: None) -> None:
    secret = make_secret_world("segment-da")
    rows = screens_of(secret)[0]
    address, data = reverse("item", args=[rows[0].public_id]), answer(secret, rows)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(secret.me.user)
    for client, status in ((strict, 403), (Client(), 401)):
        for response in both(client, "post", address, data):
            check(response, address, is_answered=False)
            assert response.status_code == status


def test_a_crash_tells_nothing(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = make_secret_world("segment-da")

    def crash(**_: object) -> None:
        raise RuntimeError(f"{SYSTEMS[0]} {OTHERS_LABEL}")

    monkeypatch.setattr("annotation.judging.screens.find_screen", crash)
    client = Client(raise_request_exception=False)
    client.force_login(secret.me.user)
    address = reverse("item", args=[secret.me.assignments.first().public_id])
    for response in both(client, "get", address):
        check(response, address, is_answered=False)
        assert response.status_code == 500


def test_the_check_would_notice() -> None:
    for body in (
        f"<p>{SYSTEMS[1]}</p>", "<p data-kind='x'>", "<p class='trap'>", "<!-- repeat -->",
        '{"kind": "x"}', "<p>913570042</p>", f"<p>{FEEDBACK}</p>", "<p>87</p>",
        '<a href="/x#bad-ref">',
    ):  # fmt: skip
        with pytest.raises(AssertionError):
            check(HttpResponse(body), body, is_answered=False)
    for body in (
        "<p>A trap of kind words</p>",
        "1791357418612345:x",
        "4d-913574186abc",
        "a913574186",
    ):
        check(HttpResponse(body), body, is_answered=False)


def test_traps_look_like_targets(world: World, campaign: Campaign, client: Client) -> None:
    client.force_login(world.annotators[0])
    shapes, costs = set(), set()
    for kind in (Item.Kind.TRAP, Item.Kind.TARGET):
        row = Assignment.objects.filter(
            annotator__user=world.annotators[0],
            item__kind=kind,
            item__campaign=campaign,
            position__gt=0,  # a first item has no link back
        ).first()
        with CaptureQueriesContext(connection) as queries:
            page = client.get(reverse("item", args=[row.public_id]))
        tags = " ".join(re.findall(r"<[^>]+>", page.text))
        shapes.add(re.sub(r'"[^"]*"', '""', tags))
        costs.add(len(queries))
    assert len(shapes) == 1
    assert len(costs) == 1


def test_addresses_tell_nothing(world: World, campaign: Campaign) -> None:
    rows = Assignment.objects.filter(item__campaign=campaign)
    versions = {row.public_id.version for row in rows}
    assert versions == {4}
    assert len({row.public_id for row in rows}) == rows.count()
