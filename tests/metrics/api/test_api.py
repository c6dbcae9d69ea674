"""Runs over the API: started once, refused in sentences, cancelled once."""

from django.test import Client

from metrics.models import MetricRun
from metrics.runs import scoring, starting
from tests.world import World, make_test_set


def start(client: Client, **data: object) -> object:
    return client.post("/api/runs/", data, content_type="application/json")


def test_start_watch_and_cancel(world: World, as_researcher: Client) -> None:
    response = start(as_researcher, test_set="harbour", metrics=["chrf"], systems=["weak"])
    assert response.status_code == 201
    (run,) = response.json()["runs"]
    assert run["status"] == "queued"
    again = start(as_researcher, test_set="harbour", metrics=["chrf"], systems=["weak"])
    assert again.status_code == 200
    assert [row["id"] for row in again.json()["active"]] == [run["id"]]
    address = f"/api/runs/{run['id']}/"
    assert as_researcher.post(f"{address}cancel/").json()["status"] == "cancelled"
    assert as_researcher.post(f"{address}cancel/").status_code == 409
    assert as_researcher.get(address).json()["status"] == "cancelled"


def test_wrong_requests_store_nothing(world: World, as_researcher: Client) -> None:
    for data, word in [
        ({"test_set": "nowhere", "metrics": ["chrf"]}, "nowhere"),
        ({"test_set": "harbour", "metrics": ["magic"]}, "magic"),
        ({"test_set": "harbour", "metrics": []}, "empty"),
        ({"test_set": "harbour", "metrics": ["chrf"], "systems": ["x"]}, "no system x"),
    ]:
        response = start(as_researcher, **data)
        assert response.status_code == 400
        assert word in response.text
    assert not MetricRun.objects.exists()


def test_a_refusal_leaves_the_others(world: World, as_researcher: Client) -> None:
    make_test_set("bare", references=False)
    response = start(as_researcher, test_set="bare", metrics=["chrf"])
    assert response.status_code == 200
    assert response.json()["refused"][0]["code"] == "run.no-references"


def test_annotators_may_not(world: World, client: Client) -> None:
    client.force_login(world.annotators[0])
    assert start(client, test_set="harbour", metrics=["chrf"]).status_code == 403


def test_a_run_tells_what_its_workers_did(world: World, as_researcher: Client) -> None:
    run = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs[0]
    scoring.drain(run.pk, worker="w1@host")
    row = as_researcher.get(f"/api/runs/{run.pk}/").json()
    assert (row["status"], row["rate"], row["seconds_left"]) == ("done", None, None)
    (worker,) = row["workers"]
    assert (worker["name"], worker["device"], worker["segments"]) == ("w1@host", "cpu", 8)
    assert worker["peak_bytes"] > 0
    assert worker["rate"] > 0
    assert worker["state"]["code"] == "run.worker-state-finished"


def test_the_list_costs_the_same_for_many_runs(
    world: World, as_researcher: Client, django_assert_max_num_queries: object
) -> None:
    for metric in ("chrf", "ter", "rouge"):
        run = starting.start(test_set=world.test_set, metrics=[metric], enqueue=False).runs[0]
        scoring.drain(run.pk, worker="w1@host")
    with django_assert_max_num_queries(7):  # type: ignore[operator]
        assert len(as_researcher.get("/api/runs/").json()["results"]) == 3
