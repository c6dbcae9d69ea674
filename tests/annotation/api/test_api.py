"""The API: researchers read, annotators get nothing, the schema describes all of it."""

import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Assignment, Judgment
from tests.world import World, make_campaign

LISTS = ["test-sets", "campaigns", "judgments", "runs"]


@pytest.mark.parametrize("name", LISTS)
def test_roles(world: World, client: Client, name: str) -> None:
    address = f"/api/{name}/"
    assert client.get(address).status_code == 401
    client.force_login(world.annotators[0])
    assert client.get(address).status_code == 403
    client.force_login(world.researcher)
    assert client.get(address).status_code == 200


def test_segments_with_their_outputs(world: World, as_researcher: Client) -> None:
    data = as_researcher.get(f"/api/test-sets/{world.test_set.slug}/segments/?limit=2").json()
    assert data["count"] == 4
    first = data["results"][0]
    assert first["references"] == {"A": "Sentence 0: the harbour was quiet all morning."}
    assert [output["system"] for output in first["outputs"]] == ["strong", "weak"]


def test_judgments_with_history(world: World, as_researcher: Client) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    assignment = Assignment.objects.filter(item__kind="target").first()
    keys = ("00000000-0000-4000-8000-00000000000" + digit for digit in "12")
    for revision, (key, score) in enumerate(zip(keys, (30, 60), strict=True), start=1):
        Judgment.objects.filter(assignment=assignment).update(is_current=False)
        Judgment.objects.create(
            assignment=assignment, revision=revision, score=score, submit_key=key
        )
    rows = as_researcher.get(f"/api/judgments/?campaign={world.campaign.slug}").json()["results"]
    assert [(row["score"], row["revision"], row["is_current"]) for row in rows] == [
        (30, 1, False),
        (60, 2, True),
    ]
    assert as_researcher.get("/api/judgments/?campaign=other").status_code == 400


def test_writing_is_refused(world: World, as_admin: Client) -> None:
    assert as_admin.post("/api/judgments/", {}).status_code == 405


@pytest.mark.parametrize("name", LISTS)
def test_lists_cost_the_same_at_any_length(
    world: World, as_researcher: Client, name: str, django_assert_max_num_queries: object
) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        as_researcher.get(f"/api/{name}/")


def test_the_schema_names_every_resource(client: Client, db: None) -> None:
    schema = client.get("/api/schema/", headers={"accept": "application/json"}).json()
    paths = " ".join(schema["paths"])
    for name in (*LISTS, "results"):
        assert f"/api/{name}/" in paths


def test_judgments_are_read_page_after_page_at_one_price(
    world: World, as_researcher: Client
) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    keys = iter(range(10_000))
    Judgment.objects.bulk_create(
        Judgment(assignment=each, score=50, submit_key=uuid.UUID(int=next(keys)))
        for each in Assignment.objects.all()
    )
    n = Judgment.objects.count()
    whole = as_researcher.get("/api/judgments/?limit=1000").json()
    assert (whole["count"], len(whole["results"]), whole["next"]) == (n, n, None)
    address, rows, sizes = "/api/judgments/?limit=5", [], []
    while address:
        with CaptureQueriesContext(connection) as queries:
            page = as_researcher.get(address).json()
        address = page["next"]
        rows += page["results"]
        sizes.append(len(queries))
        assert not any("OFFSET" in each["sql"] for each in queries)
        assert page["count"] == (n if len(sizes) == 1 else None)
        assert len(sizes) == 1 or not any("COUNT(" in each["sql"] for each in queries)
    assert rows == whole["results"]
    assert len(set(sizes[1:])) == 1
    middle = as_researcher.get("/api/judgments/?limit=5&offset=5").json()
    assert middle["results"] == whole["results"][5:10]
    assert as_researcher.get(middle["next"]).json()["results"] == whole["results"][10:15]
    for wrong in ("cursor=x", "cursor=-1", f"cursor={2**63}", "cursor=1&offset=1"):
        assert as_researcher.get(f"/api/judgments/?{wrong}").status_code == 400, wrong


def test_a_list_of_campaigns_reads_what_it_shows_at_once(
    world: World, as_researcher: Client
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            as_researcher.get("/api/campaigns/")
        return len(found)

    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    queries()  # The numbers of assignments are kept from now on.
    few = queries()
    for number in range(20):
        make_campaign(world.test_set, f"more-{number}")
    assert queries() == few
    rows = as_researcher.get("/api/campaigns/").json()["results"]
    mine = Assignment.objects.filter(annotator__campaign=world.campaign)
    assert {row["slug"]: row["n_assigned"] for row in rows if row["n_assigned"]} == {
        "harbour-80": mine.count()
    }
