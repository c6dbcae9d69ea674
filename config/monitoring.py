"""`/prometheus`: what web processes count, and what the database tells of workers and their work.

`/prometheus` is for Prometheus alone, which sends `PROMETHEUS_TOKEN` as bearer token; without that
setting nothing is counted and the address does not exist. Requests are named by their view, never
by address, so that no link is among the labels; so are their spans (`core.tracing`).
"""

from collections import Counter as Counted
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db.models import Count, Min
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from annotation.models import Judgment
from core import tracing
from core.caching import ttl_cache
from core.work.models import Now, Work, all_kinds
from metrics.models.fleet import live_workers

# In seconds: pages are to take 0.3, a worker of the web server is ended after 30.
BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
# Kept in memory, or in the folder of PROMETHEUS_MULTIPROC_DIR for all processes of a web server
# together, which `manage.py serve` makes.
own = CollectorRegistry()
REQUESTS = Counter(
    "touchstone_requests", "Answered requests", ["method", "view", "status"], registry=own
)
SECONDS = Histogram(
    "touchstone_request_seconds",
    "Time until an answer was ready",
    ["view"],
    registry=own,
    buckets=BUCKETS,
)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestMetricsMiddleware:
    """Count requests and their time; raises MiddlewareNotUsed where nobody reads that."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.PROMETHEUS_TOKEN:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = perf_counter()
        response = self.get_response(request)
        view = (request.resolver_match.view_name if request.resolver_match else "") or "none"
        method = request.method if request.method in METHODS else "other"
        REQUESTS.labels(method, view, response.status_code).inc()
        SECONDS.labels(view).observe(perf_counter() - began)
        return response


class TracingMiddleware:
    """Make a span of each request; raises MiddlewareNotUsed where there is no collector."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.IS_TRACED:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        method = str(request.method if request.method in METHODS else "other")
        with tracing.span(method, **{"http.request.method": method}) as span:
            response = self.get_response(request)
            if match := request.resolver_match:
                span.update_name(f"{method} {match.view_name}")
                span.set_attribute("http.route", match.route)
            span.set_attribute("http.response.status_code", response.status_code)
            if response.status_code >= 500:
                tracing.failed(str(response.status_code))
        return response


@never_cache
@require_safe
def prometheus(request: HttpRequest) -> HttpResponse:
    """Return all numbers in Prometheus' text format; 401 without the token, 404 without setting."""
    if not settings.PROMETHEUS_TOKEN:
        raise Http404
    given = request.headers.get("Authorization", "")
    if not constant_time_compare(given, f"Bearer {settings.PROMETHEUS_TOKEN}"):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    registry = CollectorRegistry()
    registry.register(_Database())
    web = own
    if settings.PROMETHEUS_FOLDER:
        web = CollectorRegistry()
        MultiProcessCollector(web, settings.PROMETHEUS_FOLDER)  # type: ignore[no-untyped-call]
    body = generate_latest(web) + generate_latest(registry)
    return HttpResponse(body, content_type=CONTENT_TYPE_LATEST)


class _Database(Collector):
    """What all hosts share; read at most once in a few seconds by each process."""

    def collect(self) -> Iterator[Any]:
        return iter(ttl_cache("prometheus", lambda: [*_work(), *_workers(), _judgments()]))


def _work() -> Iterator[Any]:
    items = GaugeMetricFamily(
        "touchstone_work_items",
        "Pieces of background work by kind, queue and status",
        labels=["kind", "queue", "status"],
    )
    oldest = GaugeMetricFamily(
        "touchstone_work_oldest_seconds",
        "How long the oldest piece of work that could start has waited",
        labels=["kind", "queue"],
    )
    for kind in all_kinds():
        name, rows = kind.name, kind.model._default_manager.order_by()
        for row in rows.values("queue", "status").annotate(n=Count("pk")):
            items.add_metric([name, row["queue"], row["status"]], row["n"])
        due = rows.filter(status=Work.Status.QUEUED, not_before__lte=Now())
        for row in due.values("queue").annotate(first=Min("not_before"), now=Now()):
            waited = (row["now"] - row["first"]).total_seconds()
            oldest.add_metric([name, row["queue"]], waited)
    yield items
    yield oldest


def _workers() -> Iterator[Any]:
    serving = GaugeMetricFamily(
        "touchstone_workers", "Live worker processes that take work from a queue", labels=["queue"]
    )
    memory = GaugeMetricFamily(
        "touchstone_worker_memory_bytes",
        "Memory of live worker processes",
        labels=["host", "worker"],
        unit="bytes",
    )
    devices = GaugeMetricFamily(
        "touchstone_gpu_memory_bytes",
        "Memory of the GPUs of hosts with live workers; state is total or free",
        labels=["host", "gpu", "state"],
        unit="bytes",
    )
    rows = list(live_workers())
    queues = Counted(queue for row in rows for queue in row.queues)
    for queue in sorted({*settings.WORK_QUEUES, *queues}):
        serving.add_metric([queue], queues[queue])
    seen = set()
    for row in rows:
        if row.memory is not None:
            memory.add_metric([row.host, f"{row.name} {row.pid}"], row.memory)
        for number, device in enumerate(row.devices):
            key = (row.host, f"{number} {device['name']}")
            if device["kind"] == "gpu" and key not in seen:
                seen.add(key)
                for state in ("total", "free"):
                    devices.add_metric([*key, state], device[state])
    yield serving
    yield memory
    yield devices


def _judgments() -> Any:
    return GaugeMetricFamily(
        "touchstone_judgments", "Stored judgments", value=Judgment.objects.count()
    )
