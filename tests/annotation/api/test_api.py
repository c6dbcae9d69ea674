"""The API: researchers read, annotators get nothing, the schema describes all of it."""

import pytest
from django.test import Client

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Assignment, Judgment
from tests.world import World

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
    for name in ("test-sets", "campaigns", "judgments"):
        assert as_admin.post(f"/api/{name}/", {}).status_code == 405


@pytest.mark.parametrize("name", LISTS)
def test_lists_cost_the_same_at_any_length(
    world: World, as_researcher: Client, name: str, django_assert_max_num_queries: object
) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        as_researcher.get(f"/api/{name}/")


def test_the_schema_names_every_resource(client: Client, db: None) -> None:
    schema = client.get("/api/schema/", headers={"accept": "application/json"}).json()
    paths = " ".join(schema["paths"])
    for name in (*LISTS, "results"):
        assert f"/api/{name}/" in paths
