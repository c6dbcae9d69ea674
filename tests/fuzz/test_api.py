"""Whatever is sent to the API: no failure, and no answer that its schema does not describe."""

import json
import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from celery.app.task import Task
from django.test import Client
from jsonschema import Draft202012Validator

from tests.fuzz.cases import (
    Operation,
    Schema,
    cases,
    operations,
    resolve,
    right_case,
    wrong_methods,
)
from tests.fuzz.places import Places, make_places
from tests.fuzz.requests import Case, Record, send

# What a method that is not in the schema, or no operation at all, may be answered.
OTHERWISE = {200, 301, 400, 401, 403, 404, 405, 406, 415}


@pytest.fixture
def places(transactional_db: None, unlogged: None, monkeypatch: pytest.MonkeyPatch) -> Places:
    """Work that requests start is for workers; here is none."""
    monkeypatch.setattr(Task, "apply_async", lambda *_, **__: None)
    return make_places()


@pytest.fixture
def document() -> Schema:
    answer = Client().get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})
    found: Schema = json.loads(answer.content)
    return found


# Things of every kind have one address and no list; none is archived, so nothing is restored.
OF_THINGS = {"kind": "campaign", "which": "harbour-80", "verb": "restore"}


def right_value(client: Client, path: str, name: str) -> str:
    """Ask the list before a parameter for something that is there."""
    if name in OF_THINGS:
        return OF_THINGS[name]
    before = path.partition(f"{{{name}}}")[0]
    if "{" in before:  # rows of a campaign, which comes first
        outer = before.partition("{")[2].partition("}")[0]
        before = before.replace(f"{{{outer}}}", right_value(client, path, outer))
    rows = client.get(before).json()
    first = (rows if isinstance(rows, list) else rows["results"])[0]
    return first if isinstance(first, str) else str(first[name])


def hints(places: Places) -> dict[str, Any]:
    return {
        "test_set": places.world.test_set.slug,
        "metrics": ["bleu"],
        "systems": ["strong"],
        "length_ratio": "0.80",
        "kind": "remap",
        "corpora": ["fit"],
        "family": "lexical",
        "name": "fit-2",
        "label": "Fit 2",
        "options": {"checkpoint": "acme/x"},
        "dry_run": True,
        "campaign": places.campaign.slug,
        "source_language": "zh",
        "target_language": "en",
    }


RIGHTLY = (200, 201, 202, 204, 409)
# What some operations want where others want something else by the same name.
OWN_HINTS: dict[str, Schema] = {
    "/api/judge-templates/": {"kind": "stars", "user": "{output}?", "classes": [], "examples": []},
    "/api/metrics/": {"options": {"metric": "chrf"}},
    "/api/imports/judgments/": {
        "tables": b"annotator\tsegment\tsystem\tscore\nfit\t1\tfit\t50\n", "test_set": None,
    },
    "/api/imports/human-scores/": {
        "tables": b"segment\tsystem\tscore\n1\tfit\t0.5\n", "test_set": None,
    },
    "/api/imports/metric-scores/": {"files": b"system\tfit\nstrong\t0.5\n", "metrics": None},
    "/api/imports/metric-spans/": {
        "tables": b"system\tsegment\tstart\tend\tseverity\nstrong\t1\t0\t8\tminor\n",
        "name": "Spans", "ends": "excluded",
    },
    "/api/imports/mt-metrics-eval/": {"metrics": None, "language_pair": None},
    "/api/translations/": {"model": "acme/x", "method": "exact", "ratios": "0.7"},
    "/api/imports/data-sets/": {"dataset": "wmt17"},
    "/api/test-sets/{slug}/human-systems/": {"name": "strong"},
    "/api/test-sets/": {
        "name": "Fit 3", "tables": b"segment\tsource\tsystem:fit\n1\t\xe4\xb8\x80\tOne.\n",
        "columns": "{}", "decode": False,
    },
    "/api/campaigns/": {"name": "Fit 4", "protocol": "segment-da", "annotators_per_item": 1},
    "/api/campaigns/{slug}/members/": {"username": "researcher", "role": "researcher"},
    "/api/campaigns/{slug}/people/": {"count": 1},
    "/api/projects/{slug}/members/": {"username": "researcher", "role": "researcher"},
}  # fmt: skip


def all_operations(places: Places, document: Schema) -> list[Operation]:
    client = places.clients()["site admin"]
    found = operations(document, lambda path, name: right_value(client, path, name), hints(places))
    return [replace(each, hints=each.hints | OWN_HINTS.get(each.path, {})) for each in found]


def fault(operation: Operation, answer: Any) -> str:
    """Say how an answer differs from what the schema describes, or nothing."""
    responses = operation.described["responses"]
    status = str(answer.status_code)
    if status not in responses:
        return f"the schema has no {status} here: {answer.content[:200]!r}"
    content = resolve(operation.schema, responses[status]).get("content", {})
    if not content and not answer.content:
        return ""
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    if kind not in content:
        return f"{kind or 'no content'} is not among {list(content)}: {answer.content[:100]!r}"
    schema = content[kind]["schema"] | {"components": operation.schema["components"]}
    errors = Draft202012Validator(schema).iter_errors(json.loads(answer.content))
    return next((f"{error.json_path}: {error.message[:200]}" for error in errors), "")


def test_right_requests_succeed(places: Places, document: Schema) -> None:
    """Otherwise all the others would be refused for one and the same reason."""
    client = places.clients()["site admin"]
    found = {}
    for operation in all_operations(places, document):
        answer = send(client, right_case(operation))
        found[f"{operation.method} {operation.path}"] = answer.status_code
    # Work that is done can be neither cancelled nor resumed, and no packaged metric retired. Only
    # drafts are changed.
    ended = {path for path, status in found.items() if status == 409}
    ended -= {"PATCH /api/campaigns/{slug}/"}
    assert all(
        path.endswith(("cancel/", "resume/", "retire/", "reassign/", "people/")) for path in ended
    )
    wrong = {path: status for path, status in found.items() if status not in RIGHTLY}
    # Nothing is deleted without what was looked at, which no schema of DELETE describes.
    assert wrong == {"DELETE /api/things/{kind}/{which}/": 400}


def test_every_operation_with_hostile_requests(
    places: Places, document: Schema, record_property: Any
) -> None:
    record = Record()
    clients = places.clients()
    for operation in all_operations(places, document):
        for case in cases(operation):
            for role in _roles(case, clients):
                _judge(record, operation, case, clients[role], role)
    for role in ("researcher", "campaign admin", "site admin"):
        assert clients[role].get("/api/test-sets/").status_code == 200, "still signed in"
    record_property("table", record.table)
    print(record.table)
    assert not record.faults, record.summary


def _roles(case: Case, roles: Iterable[str]) -> list[str]:
    """Site admins send everything; of the others one in fifteen does, the same in every run."""
    chosen = zlib.crc32(str(case).encode())
    return [
        role
        for number, role in enumerate(roles)
        if role == "site admin" or case.what == "right" or chosen % 15 == number
    ]


def _judge(record: Record, operation: Operation, case: Case, client: Client, role: str) -> None:
    answer = send(client, case)
    wrong = "" if _is_elsewhere(operation, case) else fault(operation, answer)
    record.add(f"{operation.method} {operation.path}", case, answer, wrong, role)


def _is_elsewhere(operation: Operation, case: Case) -> bool:
    """An empty parameter makes another address, of another operation or of none."""
    return "//" in case.address.partition("?")[0]


def test_methods_that_the_schema_does_not_name(places: Places, document: Schema) -> None:
    record = Record()
    clients = places.clients()
    by_path: dict[str, list[Operation]] = {}
    for operation in all_operations(places, document):
        by_path.setdefault(operation.path, []).append(operation)
    for path, found in by_path.items():
        for case in wrong_methods(path, found[0].address, [each.method for each in found]):
            for role in _roles(case, clients):
                answer = send(clients[role], case)
                wrong = "" if answer.status_code in OTHERWISE else "no such answer"
                record.add(f"{case.method} {path}", case, answer, wrong, role)
    assert not record.faults, record.summary
