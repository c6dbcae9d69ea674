"""Addresses for load balancers and monitoring: is the process alive, can the site work?

`/healthz` needs nothing but the process. `/readyz` asks the database, the broker, the storage and
the workers, and answers 503 with what is missing. Neither tells anything that strangers may not
know: no names, addresses or versions of servers.
"""

import logging
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.caching import ttl_cache
from core.work.brokers import app
from core.work.models import Now, Work
from dashboards.documents.computing import QUICK, SLOW
from dashboards.models import Analysis
from metrics.models.fleet import live_workers

logger = logging.getLogger(__name__)
# A document that waits for longer than this means that its workers do not keep up.
OLD_SECONDS = 600
BROKER_SECONDS = 2


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Return 200 while this process answers."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Return 200 if everything that the site needs is there, else 503; per check ok or not."""
    found = ttl_cache("readyz", _check_all)
    is_ready = all(each["ok"] for each in found.values())
    body = {"status": "ok" if is_ready else "unavailable", "checks": found}
    return JsonResponse(body, status=200 if is_ready else 503)


def _check_all() -> dict[str, dict[str, Any]]:
    checks: dict[str, Callable[[], dict[str, Any]]] = {
        "database": _database,
        "broker": _broker,
        "storage": _storage,
        "workers": _workers,
        "documents": _documents,
    }
    found = {}
    for name, check in checks.items():
        began = monotonic()
        try:
            told = check()
        except Exception as error:
            logger.warning("The check %s failed: %s: %s", name, type(error).__name__, error)
            told = {"ok": False}
        found[name] = told | {"ms": round(1000 * (monotonic() - began))}
    return found


def _database() -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return {"ok": True}


def _broker() -> dict[str, Any]:
    if app.conf.task_always_eager:
        return {"ok": True}
    with app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
    return {"ok": True}


def _storage() -> dict[str, Any]:
    for folder in {Path(settings.VAR_DIR), Path(settings.MEDIA_ROOT)}:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"ready")
    return {"ok": True}


def _workers() -> dict[str, Any]:
    """Queues that compute pages need a worker each; others are a choice of the site."""
    served = {name for queues in live_workers().values_list("queues", flat=True) for name in queues}
    missing = sorted({QUICK, SLOW} - served)
    is_ok = not missing or settings.ANALYSES_IN_PLACE
    return {"ok": is_ok, "queues": sorted(served), "missing": missing}


def _documents() -> dict[str, Any]:
    waiting = Analysis.objects.filter(status=Work.Status.QUEUED, not_before__lte=Now())
    rows = waiting.order_by("not_before").annotate(now=Now())
    first = rows.values_list("not_before", "now").first()
    seconds = (first[1] - first[0]).total_seconds() if first else 0.0
    return {"ok": seconds < OLD_SECONDS, "oldest_seconds": round(seconds)}
