"""Metrics, checkpoints and workers for programs."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from metrics.models import ConfiguredMetric
from metrics.registry import METRICS
from metrics.runs import starting
from tests.metrics.fleet import (
    empty_models,
    encoder,
    found,
    make_child,
    make_worker,
    put_to_work,
)
from tests.refusals import has
from tests.world import World

WANTED: dict[str, Any] = {
    "family": "bertscore",
    "name": "bs-x",
    "label": "BERTScore X",
    "options": {"checkpoint": "acme/x", "layer": 3},
}


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = empty_models(tmp_path, monkeypatch)
    encoder(folder / "acme" / "x")
    return folder


def post(client: Client, address: str, data: Any = None) -> Any:
    return client.post(address, data, content_type="application/json")


@pytest.mark.needs("extensions.neural")
def test_metrics_are_listed(as_researcher: Client) -> None:
    listed = as_researcher.get("/api/metrics/").json()["results"]
    assert [each["name"] for each in listed] == list(METRICS)
    one = as_researcher.get("/api/metrics/bertscore-roberta/").json()
    assert one["shown"] == ["bertscore-roberta-13-f"]
    assert (len(one["measures"]), one["queue"], one["needs_source"]) == (75, "gpu", False)
    assert as_researcher.get("/api/metrics/nothing/").status_code == 404


@pytest.mark.needs("extensions.neural")
def test_adding_and_retiring_one(as_admin: Client, world: World) -> None:
    trial = post(as_admin, "/api/metrics/", WANTED | {"dry_run": True})
    assert trial.status_code == 200
    assert not ConfiguredMetric.objects.exists()
    made = post(as_admin, "/api/metrics/", WANTED)
    assert made.status_code == 201
    assert made.json() == trial.json()
    options = made.json()["options"]
    assert options.items() >= {"checkpoint": "acme/x", "layer": 3, "measure": "f"}.items()
    assert options.items() >= {"references": "best", "idf": False, "baseline": ""}.items()
    assert ConfiguredMetric.objects.get().created_by == world.admin
    assert post(as_admin, "/api/metrics/bs-x/retire/").json()["is_retired"]
    assert post(as_admin, "/api/metrics/bs-x/retire/").status_code == 409
    names = [each["name"] for each in as_admin.get("/api/metrics/").json()["results"]]
    assert "bs-x" not in names
    everything = as_admin.get("/api/metrics/?retired=yes").json()["results"]
    assert [each["name"] for each in everything if each["is_retired"]] == ["bs-x"]


@pytest.mark.needs("extensions.neural")
@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"family": "nothing"}, "options", "metric.unknown-family"),
        ({"name": "chrf"}, "name", "metric.name-taken"),
        ({"name": "No!"}, "name", "metric.name-invalid"),
        ({"label": ""}, "label", "may not be blank"),
        ({"options": {"checkpoint": "acme/x"}}, "options", "layer: Enter a value."),
        ({"options": {"colour": 1}}, "options", "option.unknown"),
        ({"options": [1]}, "options", "Expected a dictionary"),
        ({"options": {"checkpoint": "acme/none", "layer": 1}}, "options", "hf download acme/none"),
    ],
)
@pytest.mark.parametrize("is_trial", [True, False])
def test_refusals_name_their_field(
    as_admin: Client, change: dict[str, Any], field: str, sentence: str, is_trial: bool
) -> None:
    response = post(as_admin, "/api/metrics/", WANTED | change | {"dry_run": is_trial})
    assert response.status_code == 400
    assert has(" ".join(response.json()[field]), sentence)


def test_only_site_admins_configure(as_researcher: Client) -> None:
    assert post(as_researcher, "/api/metrics/", WANTED).status_code == 403
    assert post(as_researcher, "/api/metrics/chrf/retire/").status_code == 403


def test_workers_are_listed(as_researcher: Client, world: World) -> None:
    worker = make_worker(checkpoints={"acme/x": found()}, lacks={"ter": ["It lacks TER."]})
    make_child(worker, resident=["acme/x"], device="NVIDIA A100 1", memory=10)
    [run] = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs
    put_to_work(run, "gpu0@one", 7.5)
    make_worker("gone@two", silent=60)
    first, second = as_researcher.get("/api/workers/").json()["results"]
    assert (first["name"], first["host"], first["state"]) == ("gpu0@one", "one", "working")
    assert (first["queues"], first["lacks"]) == (["cpu", "gpu"], {"ter": ["It lacks TER."]})
    assert first["children"] == [
        {
            "pid": 8,
            "device": "NVIDIA A100 1",
            "memory": 10,
            "resident": ["acme/x"],
            "run": {"id": run.pk, "metric": "chrf", "test_set": "harbour"},
            "rate": 7.5,
        }
    ]
    assert second["state"] == "silent"
    assert second["seconds"] >= 60


@pytest.mark.needs("extensions.neural")
def test_where_a_metric_can_run(as_researcher: Client) -> None:
    make_worker("gpu0@one", lacks={"bleurt-20": ["It is missing: get it."]})
    one = as_researcher.get("/api/metrics/bleurt-20/").json()
    assert (one["hosts"]["able"], one["hosts"]["is_stuck"]) == ([], True)
    assert [each["text"] for each in one["hosts"]["lacking"]["one"]] == ["It is missing: get it."]
    assert as_researcher.get("/api/metrics/chrf/").json()["hosts"]["able"] == ["one"]


@pytest.mark.needs("extensions.neural")
def test_checkpoints_are_listed(as_researcher: Client) -> None:
    make_worker("gpu0@one", checkpoints={"roberta-large-mnli": found(path="/m")})
    make_worker("gpu0@two")
    listed = as_researcher.get("/api/checkpoints/").json()["results"]
    by_name = {each["name"]: each for each in listed}
    roberta = by_name["roberta-large-mnli"]
    assert (roberta["state"], roberta["lacking"]) == ("partial", ["two"])
    assert roberta["metrics"] == ["bertscore-roberta"]
    assert roberta["places"]["one"]["path"] == "/m"
    assert by_name["Unbabel/XCOMET-XL"]["command"].endswith("--fetch Unbabel/XCOMET-XL")
