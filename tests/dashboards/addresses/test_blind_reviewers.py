"""Who decides without knowing systems finds their names at no address."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.test import Client

from annotation.access import CAMPAIGN_ADMIN, RESEARCHER
from annotation.models import Campaign, Membership, Output, System, TestSet
from metrics.models import MetricRun
from tests.addresses import fill, routes
from tests.dashboards.conftest import make_rated
from tests.shared import SharedRows
from tests.world import make_campaign, make_user
from training.models import Translation
from training.translation.requests import Request

NEEDS = {"extensions.studies", "extensions.comparison"}

NAMES = ("zebraSYSTEM", "quaggaSYSTEM", "okapiSYSTEM")


def make_reviewed() -> Campaign:
    """A campaign to be reviewed, and a public one over the same systems with all its results."""
    known = make_rated("known", segments=9, traps_per_annotator=3, study="port")
    for system, name in zip(known.test_set.systems.order_by("pk"), NAMES, strict=True):
        System.objects.filter(pk=system.pk).update(name=name)
    Translation.objects.create(
        test_set=known.test_set, name=NAMES[0], model="m", status="done",
        system=known.test_set.systems.first(), request=Request("exact", Decimal("0.8")).as_json(),
    )  # fmt: skip
    return make_campaign(known.test_set, "reviewed", protocol="esa", study="port")


@pytest.fixture(scope="module")
def reviewed_rows(shared_rows: SharedRows[Campaign]) -> Iterator[int]:
    with shared_rows(make_reviewed) as made:
        yield made.pk


@pytest.fixture
def reviewed(reviewed_rows: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=reviewed_rows)


def addresses(campaign: Campaign) -> Iterator[str]:
    """Every address, of the campaign, of the other one, of their test set, study, runs and jobs."""
    slugs = {"testsets": [campaign.test_set.slug], "studies": ["port"], "metrics": ["chrf"]}
    slugs |= {"test-sets": slugs["testsets"], "things": ["x"]}
    keys = {
        str(model.objects.order_by("pk").first().pk)
        for model in (Campaign, Output, MetricRun, Translation, System)
    }
    for _, route in routes():
        first = route.removeprefix("/api").split("/")[1]
        values = {
            "slug": slugs.get(first, ["reviewed", "known"]),
            "pk": sorted(keys),
            "fmt": ["json"],
            "kind": ["system", "testset", "campaign"],
            "name": ["chrf"],
            "which": [campaign.test_set.slug, *sorted(keys)],
        }
        if not route.startswith(("/login", "/logout", "/language", "/api/schema")):
            yield from fill(route, values)
    yield from (f"/search/?q={name[:5]}" for name in NAMES)
    yield "/compare/?campaign=known&campaign=reviewed"


def names_in(client: Client, address: str) -> bool:
    """Whether an answer holds the name of a system."""
    answer = client.get(address)
    body = b"".join(answer) if answer.streaming else answer.content
    assert answer.status_code < 500, address
    return any(name.encode() in body for name in NAMES)


@pytest.mark.usefixtures("unlogged")
def test_reviewers_find_no_name_of_a_system(reviewed: Campaign) -> None:
    user = make_user("reviewer", RESEARCHER)
    client = Client()
    client.force_login(user)
    assert names_in(client, "/testsets/known-set/")
    Membership.objects.create(campaign=reviewed, user=user, role=Membership.Role.REVIEWER)
    assert {address for address in addresses(reviewed) if names_in(client, address)} == set()


def test_who_uploaded_a_test_set_knows_its_systems(reviewed: Campaign) -> None:
    user = make_user("owner", CAMPAIGN_ADMIN)
    client = Client()
    client.force_login(user)
    Membership.objects.create(campaign=reviewed, user=user, role=Membership.Role.REVIEWER)
    assert client.get("/testsets/known-set/").status_code == 403
    TestSet.objects.filter(pk=reviewed.test_set_id).update(created_by=user)
    assert names_in(client, "/testsets/known-set/")
