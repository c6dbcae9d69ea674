"""Pages of models and workers."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from annotation.access import (
    is_site_admin,
    readable,
    researcher_required,
    site_admin_required,
)
from annotation.web.live import render_live
from core.messages import translated
from metaeval.messages import Message, message, truncated
from metrics.checkpoints import places
from metrics.models import MetricRun, fleet
from metrics.runs import starting, waiting
from metrics.stock import hosts, inventory
from metrics.workers.idle import Idle, Reason, explain, waiting_jobs
from metrics.workers.signatures import CODE_HASH


@researcher_required
@require_GET
def model_list(request: HttpRequest) -> HttpResponse:
    """List every checkpoint: the metrics that need it, its hosts, how to get it."""
    workers = list(fleet.live_workers())
    found = hosts.survey(workers, inventory.everything_here())
    context = {
        "section": "server",
        "tab": "models",
        "stocks": [stock for stock in found if stock.is_needed],
        "others": [stock for stock in found if not stock.is_needed],
        "n_hosts": len({row.host for row in workers}),
        "folder": places.models_folder(),
        "is_live": bool(hosts.checks_under_way()),
        "may_configure": is_site_admin(request.user),
    }
    return render_live(request, "metrics/models.html", context)


@site_admin_required
@require_POST
def model_check(request: HttpRequest) -> HttpResponse:
    """Let a worker of every host compare the files of a checkpoint with their hashes."""
    name = request.POST.get("name", "")
    if not name:
        raise Http404
    checking = hosts.ask_for_check(name, fleet.live_workers())
    if checking:
        about = message(
            "checkpoint.check-started",
            "Started checking {checkpoint} on {hosts}.",
            checkpoint=name,
            hosts=checking,
        )
        messages.success(request, translated(about))
    else:
        about = message(
            "checkpoint.no-host",
            "There is no worker on a host that has {checkpoint}.",
            checkpoint=name,
        )
        messages.warning(request, translated(about))
    return redirect("models")


@researcher_required
@require_GET
def worker_list(request: HttpRequest) -> HttpResponse:
    """List workers; htmx requests only the part that changes."""
    seats = fleet.fleet()
    queues = fleet.queue_states(seats, settings.WORK_QUEUES)
    queued = list(MetricRun.objects.filter(status=MetricRun.Status.QUEUED))
    starting.describe(queued)
    waiting.attach(queued)
    explained = [*waiting.idle(queued), *explain(waiting_jobs())]
    context = {
        "section": "server",
        "tab": "workers",
        "seats": seats,
        "read": set(_read(request.user, seats)),
        "queues": queues,
        # Missing workers are shown at once; why present ones are idle, after a moment.
        "idle": [
            *(Idle(queue.name, Reason.ABSENT) for queue in queues if queue.is_starved),
            *(each for each in explained if each.reason != Reason.ABSENT),
        ],
        "attention": _attention(seats),
        "n_live": sum(seat.state not in ("silent", "stopping") for seat in seats),
        "code": CODE_HASH,
        "version": settings.VERSION,
    }
    return render_live(request, "metrics/workers.html", context)


def _read(user: Any, seats: Sequence[fleet.Seat]) -> QuerySet[Any]:
    """Return the primary keys of the runs being scored that a user may see."""
    runs = [part.run.pk for seat in seats for _child, part in seat.children if part]
    return readable(MetricRun.objects.filter(pk__in=runs), user).values_list("pk", flat=True)


def _attention(seats: Sequence[fleet.Seat]) -> list[Message]:
    """Return what an administrator should do about workers."""
    silent = [seat.worker.name for seat in seats if seat.state == "silent"]
    other = [
        seat.worker.name
        for seat in seats
        if seat.state != "silent" and seat.worker.versions.get("touchstone", CODE_HASH) != CODE_HASH
    ]
    found = []
    if silent:
        found.append(
            message(
                "workers.silent",
                "Not responding: {workers}. Restart them if they should run.",
                workers=truncated(silent),
            )
        )
    if other:
        found.append(
            message(
                "workers.other-code",
                "Another version than the web server’s: {workers}. Upgrade and restart them.",
                workers=truncated(other),
            )
        )
    return found
