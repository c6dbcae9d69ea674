"""Spans of requests and background jobs for OpenTelemetry, where a site has a collector.

`OTEL_EXPORTER_OTLP_ENDPOINT` switches them on; OpenTelemetry's other variables apply, too. A span
names a view or a kind of job. It never has an address, a text or the message of an error, so that
no credential is in it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.conf import settings


@cache
def _tracer() -> Any:
    """Return what makes spans and sends them; made on first use, after a server has forked."""
    from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME") or "touchstone"
    about = Resource.create({"service.name": name, "service.version": settings.VERSION})
    provider = TracerProvider(resource=about)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider.get_tracer("touchstone")


@contextmanager
def span(name: str, **attributes: str | int) -> Iterator[Any]:
    """Time what follows as a span; yield it, or None where nothing is traced."""
    if not settings.IS_TRACED:
        yield None
        return
    # An error's message may have an address with a token.
    with _tracer().start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as made:
        yield made


def failed(kind: str) -> None:
    """Mark the current span as failed with an error of a kind."""
    if settings.IS_TRACED:
        from opentelemetry import trace
        from opentelemetry.trace import StatusCode

        current = trace.get_current_span()
        current.set_status(StatusCode.ERROR)
        current.set_attribute("error.type", kind)
