"""Annotators never receive a system name, an item's kind, row ids or another's score."""

import re
import uuid
from collections.abc import Iterator
from itertools import product

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation.campaigns import add_annotators, close_campaign, open_campaign
from annotation.models import Assignment, Campaign, Item, Judgment
from tests.world import World, add_system, make_campaign, make_test_set

SECRETS = ["zebraSYSTEMone", "quaggaSYSTEMtwo"]
OTHERS_SCORE = 87
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
        names = ("annotate", "annotate-done", "annotate-history", "campaign", "quality")
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


def every_address(campaign: Campaign, own: Assignment) -> Iterator[str]:
    """Every address of the project, filled with what belongs to the campaign."""
    values = {
        "slug": [campaign.slug, campaign.test_set.slug],
        "public_id": [str(own.public_id)],
        "fmt": ["csv", "json"],
        "format": ["json"],
        "pk": ["1"],
        "token": ["guess"],
    }

    def walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[str]:
        for entry in patterns:
            # The API's router writes regular expressions; the others are plain routes.
            plain = re.sub(r"\(\?P(<\w+>)[^)]*\)", r"\1", str(entry.pattern))
            route = before + plain.strip("^$").removesuffix("/?").replace("\\.", ".")
            if isinstance(entry, URLResolver):
                yield from walk(entry.url_patterns, route)
            elif not route.startswith("/admin/"):
                yield route

    for route in walk(get_resolver().url_patterns, "/"):
        parts = [(p, p.rpartition(":")[2]) for p in re.findall(r"<([^>]+)>", route)]
        for choice in product(*(values.get(name, ["1"]) for _, name in parts)):
            filled = route
            for (part, _), value in zip(parts, choice, strict=True):
                filled = filled.replace(f"<{part}>", value)
            yield filled


def test_no_address_tells(world: World, campaign: Campaign, client: Client) -> None:
    """Pages that do not exist yet are covered the day they get an address."""
    client.force_login(world.annotators[0])
    own = Assignment.objects.filter(annotator__user=world.annotators[0]).first()
    addresses = [a for a in every_address(campaign, own) if a != reverse("logout")]
    assert reverse("item", args=[own.public_id]) in addresses
    assert reverse("campaign", args=[campaign.slug]) in addresses
    assert "/api/judgments/" in addresses
    statuses = set()
    for address in addresses:
        for headers in ({}, {"accept": "application/json"}):
            response = client.get(address, headers=headers)
            content = b"".join(response) if response.streaming else response.content
            body = content.decode() + str(dict(response.headers))
            assert not any(secret in body for secret in SECRETS), address
            assert world.annotators[1].username not in body, address
            statuses.add(response.status_code)
    assert {200, 403, 404} <= statuses <= {200, 302, 400, 403, 404, 405}


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
