"""Imported scores over the API: dry run, import, withdrawal, refusals."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import TestSet
from metrics.models import MetricImport
from tests.world import World

ADDRESS = "/api/imports/metric-scores/"
TEXT = "Seg\tsystem\tCOMET\tTER\n1\tstrong\t0.5\t30\n"


@pytest.fixture
def as_owner(world: World, as_admin: Client) -> Client:
    TestSet.objects.filter(pk=world.test_set.pk).update(created_by=world.admin)
    return as_admin


def send(client: Client, text: str = TEXT, **data: Any) -> Any:
    files = [SimpleUploadedFile("scores.tsv", text.encode())]
    return client.post(ADDRESS, {"test_set": "harbour", "files": files, **data})


def test_dry_run_import_again_and_withdrawal(world: World, as_owner: Client) -> None:
    chosen = {
        "columns": json.dumps({"Seg": "segment"}),
        "names": json.dumps({"COMET": "COMET-22"}),
        "lower_is_better": ["TER"],
    }
    trial = send(as_owner, dry_run="true", **chosen)
    assert trial.status_code == 200
    found = {each["name"]: each for each in trial.json()["metrics"]}
    assert found["COMET-22"]["coverage"] == {"strong": 1, "weak": 0}
    assert (found["TER"]["lower_is_better"], found["TER"]["change"]) == (True, "new")
    assert not MetricImport.objects.exists()
    stored = send(as_owner, note="From a colleague.", **chosen)
    assert stored.status_code == 201
    names = [row["metric"] for row in stored.json()["stored"]]
    assert names == ["imported-comet-22", "imported-ter-lower"]
    again = send(as_owner, **chosen)
    assert (again.status_code, again.json()["stored"]) == (200, [])
    rows = as_owner.get(f"{ADDRESS}?test_set=harbour").json()["results"]
    assert all(row["provenance"].startswith("From a colleague.") for row in rows)
    address = f"{ADDRESS}{rows[0]['id']}/"
    assert as_owner.post(f"{address}withdraw/").json()["withdrawn_at"]
    assert as_owner.post(f"{address}withdraw/").status_code == 409
    assert as_owner.get(address).json()["signature"].startswith(rows[0]["metric"])


def test_errors_are_named(world: World, as_owner: Client) -> None:
    for data, word in [
        (
            {"text": "system\tCOMET\nother\t1\n"},
            "row 2, system: The test set has no system “other”",
        ),
        ({"columns": "[1]"}, "JSON object"),
        ({"columns": "{"}, "JSON"),
        ({"columns": '{"a": 1}'}, "JSON object"),
        ({"metrics": ["BLEU"]}, "BLEU"),
        ({"test_set": "nowhere"}, "nowhere"),
        ({"files": []}, "files"),
    ]:
        response = send(as_owner, **data)
        assert response.status_code == 400
        assert word in response.text
    assert not MetricImport.objects.exists()


def test_only_those_who_may_change_the_test_set(world: World, as_researcher: Client) -> None:
    assert send(as_researcher).status_code == 403
    assert send(as_researcher, dry_run="true").status_code == 403
    assert as_researcher.get(ADDRESS).status_code == 200


def test_imported_metrics_are_marked_in_the_list_of_metrics(world: World, as_owner: Client) -> None:
    send(as_owner)
    found = as_owner.get("/api/metrics/imported-comet/").json()
    assert (found["is_imported"], found["label"]) == (True, "COMET (imported)")
    response = as_owner.post(
        "/api/runs/",
        {"test_set": "harbour", "metrics": ["imported-comet"]},
        content_type="application/json",
    )
    assert response.status_code == 400
    assert "computed elsewhere" in response.text
