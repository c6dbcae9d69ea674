"""Spans of requests and jobs: what they name, and what they must not hold."""

from typing import Any

import pytest
from django.test import Client
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from annotation.notifications.work import letters
from core import tracing
from core.work import working
from metrics.runs import starting
from metrics.runs.work import kind as slices
from tests.world import World

TOKEN = "narwhal-0123456789abcdef"


@pytest.fixture
def spans(settings: Any, monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    settings.IS_TRACED = True
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", lambda: provider.get_tracer("test"))
    return exporter


def one(spans: InMemorySpanExporter) -> ReadableSpan:
    (found,) = spans.get_finished_spans()
    return found


def test_a_request_is_a_span_without_its_address(
    world: World, client: Client, spans: InMemorySpanExporter
) -> None:
    client.get(f"/a/{TOKEN}/?key={TOKEN}", headers={"Authorization": f"Bearer {TOKEN}"})
    found = one(spans)
    attributes = dict(found.attributes or {})
    assert attributes.pop("http.response.status_code") in (403, 404)
    assert attributes == {"http.request.method": "GET", "http.route": "a/<str:token>/"}
    assert found.name.startswith("GET ")
    assert TOKEN not in found.to_json()


def test_a_failed_request_is_marked_and_its_message_is_left_out(
    world: World, client: Client, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(f"https://mt.example.org/a/{TOKEN}/")

    monkeypatch.setattr("annotation.interface.LanguageMiddleware.__call__", fail)
    client.raise_request_exception = False
    assert client.get(f"/a/{TOKEN}/").status_code == 500
    found = one(spans)
    assert (found.status.status_code.name, found.events) == ("ERROR", ())
    assert TOKEN not in found.to_json()


def test_a_job_is_a_span(world: World, spans: InMemorySpanExporter) -> None:
    starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False)
    row = working.do_one(slices)
    assert row is not None
    found = one(spans)
    assert found.name == f"job {slices.name}"
    assert dict(found.attributes or {})["job.id"] == row.pk
    assert working.do_one(letters) is None
    assert len(spans.get_finished_spans()) == 1


def test_a_job_that_fails_is_marked(
    world: World, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(TOKEN)

    monkeypatch.setattr(type(slices), "do", fail)
    starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False)
    working.do_one(slices)
    found = one(spans)
    assert dict(found.attributes or {})["error.type"] == "RuntimeError"
    assert TOKEN not in found.to_json()


def test_nothing_is_traced_without_a_collector(
    world: World, client: Client, spans: InMemorySpanExporter, settings: Any
) -> None:
    settings.IS_TRACED = False
    client.get("/login/")
    working.do_one(slices)
    assert spans.get_finished_spans() == ()
