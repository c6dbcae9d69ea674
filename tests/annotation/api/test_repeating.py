"""Requests with an idempotency key change something once; refusals are problem details."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from annotation.api import repeating
from annotation.models import Campaign, RepeatableAnswer
from metrics.models import MetricRun
from tests.world import World, make_user, make_world

TABLE = b"annotator\tsegment\tsystem\tscore\nA\t1\tnew\t50\nB\t1\tnew\t60\n"
JUDGMENTS = {"name": "sent", "source_language": "zh", "target_language": "en"}


def post(client: Client, address: str, data: Any, key: str = "k-1", **more: Any) -> Any:
    return client.post(address, data, headers={"Idempotency-Key": key}, **more)


def test_json_again_gets_the_same_answer(world: World, as_researcher: Client) -> None:
    def start(metric: str, key: str = "k-1") -> Any:
        data = {"test_set": world.test_set.slug, "metrics": [metric]}
        return post(as_researcher, "/api/runs/", data, key, content_type="application/json")

    first, again = start("bleu"), start("bleu")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert ("Idempotent-Replayed" in first, "Idempotent-Replayed" in again) == (False, True)
    assert start("chrf").status_code == 422
    assert MetricRun.objects.count() == 1
    assert start("chrf", "k-2").status_code == 201
    other = Client()
    other.force_login(make_user("other", "researcher"))
    data = {"test_set": world.test_set.slug, "metrics": ["ter"]}
    answer = post(other, "/api/runs/", data, content_type="application/json")
    assert answer.status_code == 201, "keys belong to an account"


def test_files_again_get_the_same_answer_in_another_frame(world: World, as_admin: Client) -> None:
    def send(content: bytes) -> Any:
        file = SimpleUploadedFile("sent.tsv", content)
        return post(as_admin, "/api/imports/judgments/", {**JUDGMENTS, "tables": file})

    first, again = send(TABLE), send(TABLE)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    changed = send(TABLE.replace(b"60", b"61"))
    assert (changed.status_code, changed.json()["code"]) == (422, "idempotency.other-request")
    assert Campaign.objects.filter(origin=Campaign.Origin.IMPORTED).count() == 1


def test_a_refused_request_keeps_no_answer(world: World, as_researcher: Client) -> None:
    data = {"test_set": world.test_set.slug, "metrics": ["no-such"]}
    for _ in range(2):
        answer = post(as_researcher, "/api/runs/", data, content_type="application/json")
        assert answer.status_code == 400
    assert not RepeatableAnswer.objects.exists()


def test_a_request_that_fails_changes_nothing_and_may_be_repeated(
    world: World, as_researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer cannot be stored: neither is what the request did."""
    data = {"test_set": world.test_set.slug, "metrics": ["bleu"]}
    with monkeypatch.context() as patched:
        patched.setattr(repeating.Repeatable, "store", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            post(as_researcher, "/api/runs/", data, content_type="application/json")
    assert not MetricRun.objects.exists()
    answer = post(as_researcher, "/api/runs/", data, content_type="application/json")
    assert answer.status_code == 201


@pytest.mark.parametrize("key", ["", "é", "x" * 256])
def test_a_key_that_cannot_be_one_is_refused(world: World, as_researcher: Client, key: str) -> None:
    answer = post(as_researcher, "/api/runs/", {}, key, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["code"] == "idempotency.key"


def test_answers_are_forgotten_after_a_day_and_never_readable(
    world: World, as_researcher: Client
) -> None:
    data = {"test_set": world.test_set.slug, "metrics": ["bleu"]}
    post(as_researcher, "/api/runs/", data, content_type="application/json")
    (row,) = RepeatableAnswer.objects.all()
    assert b"bleu" not in bytes(row.answer or b"")
    assert repeating.forget_old() == 0
    RepeatableAnswer.objects.update(created_at=row.created_at - repeating.STORED_FOR * 2)
    assert repeating.forget_old() == 1


def test_refusals_are_problem_details(world: World, as_admin: Client) -> None:
    """Of the framework, of a form, of a file and of no view at all."""
    refused = {
        "/api/runs/": ("metrics", "required"),
        "/api/imports/judgments/": ("tables", "form.required"),
    }
    for address, (field, code) in refused.items():
        answer = as_admin.post(address, {})
        body = answer.json()
        assert answer["Content-Type"] == "application/problem+json"
        assert (body["status"], body["title"], body["type"]) == (400, "Bad Request", "about:blank")
        assert (field, code) in {(each["field"], each["code"]) for each in body["errors"]}
        assert body["detail"]
    file = SimpleUploadedFile("sent.tsv", TABLE.replace(b"60", b"sixty"))
    body = as_admin.post("/api/imports/judgments/", {**JUDGMENTS, "tables": file}).json()
    (error,) = body["errors"]
    assert (error["file"], error["row"], error["field"]) == ("sent.tsv", 3, "score")
    assert error["code"] == next(p["code"] for p in body["problems"] if p["severity"] == "error")
    for address, status in (("/api/none/", 404), ("/api/campaigns/none/", 404)):
        answer = as_admin.get(address)
        assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert Client().get("/api/campaigns/").json()["code"] == "not_authenticated"


def test_two_at_once_do_it_once(transactional_db: None) -> None:
    world: World = make_world()
    together = Barrier(2)

    def start(_: int) -> Any:
        client = Client()
        client.force_login(world.researcher)
        together.wait()
        try:
            data = {"test_set": world.test_set.slug, "metrics": ["bleu"]}
            return client.post(
                "/api/runs/", data, "application/json", headers={"Idempotency-Key": "twice"}
            )
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(start, range(2))
    assert first.status_code == second.status_code == 201, (first.content, second.content)
    assert first.json()["runs"][0]["id"] == second.json()["runs"][0]["id"]
    assert MetricRun.objects.count() == 1
