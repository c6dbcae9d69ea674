"""Addresses for load balancers and monitoring: is the process alive, can the site work?

`/healthz` needs nothing but the process. `/readyz` asks the database, the broker, the storage and
the workers, and answers 503 with what is missing. Neither tells anything that strangers may not
know: no names, addresses or versions of servers, and no text that a person wrote.
"""

import logging
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core import shared_files
from core.caching import ttl_cache_or_last
from core.work.brokers import RETRIES, app
from core.work.models import Now, Work
from dashboards.documents.computing import QUICK, SLOW
from dashboards.models import Analysis
from metrics.models.fleet import live_workers

logger = logging.getLogger(__name__)
# A document that waits for longer than this means that its workers do not keep up.
OLD_SECONDS = 600
BROKER_SECONDS = 2
# Checks whose answers are older mean that the newest ones hang.
HANGING_SECONDS = 15
# What cannot be asked without a database.
IN_DATABASE = ("workers", "documents")


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Return 200 while this process answers."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Return 200 if everything that the site needs is there, else 503; per check ok or not.

    One reader waits for the checks; others get the last answers meanwhile, and 503 without checks
    where there are none, or no new ones for `HANGING_SECONDS`.
    """
    known = ttl_cache_or_last("readyz", _check_all)
    if known is None or monotonic() - known.at > HANGING_SECONDS:
        return JsonResponse({"status": "unavailable", "checks": {}}, status=503)
    is_ready = all(each["ok"] for each in known.checks.values())
    body = {"status": "ok" if is_ready else "unavailable", "checks": known.checks}
    return JsonResponse(body, status=200 if is_ready else 503)


class Answers(NamedTuple):
    """The answers of all checks, and when they were known."""

    checks: dict[str, dict[str, Any]]
    at: float


def _check_all() -> Answers:
    checks: dict[str, Callable[[], dict[str, Any]]] = {
        "database": _database,
        "broker": broker,
        "storage": storage,
        "workers": _workers,
        "documents": _documents,
    }
    found: dict[str, dict[str, Any]] = {}
    for name, check in checks.items():
        if name in IN_DATABASE and not found["database"]["ok"]:
            continue
        began = monotonic()
        try:
            told = check()
        except Exception as error:
            logger.warning("The check %s failed: %s: %s", name, type(error).__name__, error)
            told = {"ok": False}
        found[name] = told | {"ms": round(1000 * (monotonic() - began))}
    return Answers(found, monotonic())


def _database() -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return {"ok": True}


def broker() -> dict[str, Any]:
    """Return the message that the broker answers; raises what it raises."""
    if app.conf.task_always_eager:
        return {"ok": True}
    with app.connection_for_write() as opened:
        opened.ensure_connection(**RETRIES, timeout=BROKER_SECONDS)
    return {"ok": True}


def storage() -> dict[str, Any]:
    """Return the message that files can be written; raises OSError."""
    for folder in {Path(settings.VAR_DIR), Path(settings.MEDIA_ROOT)}:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"ready")
    if shared_files.is_shared():
        with tempfile.NamedTemporaryFile() as file:
            name = f"ready/{secrets.token_hex(8)}"
            shared_files.publish(Path(file.name), name)
            shared_files.remove(name)
    return {"ok": True}


def _workers() -> dict[str, Any]:
    """Queues that compute pages need a worker each; others are a choice of the site."""
    missing = sorted({QUICK, SLOW} - served_queues())
    return {"ok": not missing or settings.ANALYSES_IN_PLACE, "missing": missing}


def served_queues() -> set[str]:
    """Return the queues from which live workers take jobs."""
    return {name for queues in live_workers().values_list("queues", flat=True) for name in queues}


def _documents() -> dict[str, Any]:
    waiting = Analysis.objects.filter(status=Work.Status.QUEUED, not_before__lte=Now())
    oldest = waiting.annotate(now=Now()).order_by("not_before").first()
    seconds = (oldest.now - oldest.not_before).total_seconds() if oldest else 0.0
    return {"ok": seconds < OLD_SECONDS, "oldest_seconds": round(seconds)}
