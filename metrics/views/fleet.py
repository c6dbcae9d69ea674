"""Pages of what metrics need: the models, and the workers."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import get_text_list
from django.views.decorators.http import require_GET, require_POST

from annotation.access import is_site_admin, researcher_required, site_admin_required
from annotation.web.live import render_live
from metrics.checkpoints import places
from metrics.models import MetricRun, fleet
from metrics.runs import starting, waiting
from metrics.stock import checks, inventory
from metrics.stock import hosts as stocks
from metrics.workers.idle import Idle, Reason
from metrics.workers.versions import CODE

QUEUES = ("cpu", "gpu", "judges")


@researcher_required
@require_GET
def model_list(request: HttpRequest) -> HttpResponse:
    """Every checkpoint: who needs it, on which hosts it lies, how to get it."""
    living = list(fleet.living())
    found = stocks.survey(living, inventory.everything_here())
    context = {
        "section": "metrics",
        "tab": "models",
        "stocks": [stock for stock in found if stock.is_needed],
        "others": [stock for stock in found if not stock.is_needed],
        "n_hosts": len({row.host for row in living}),
        "folder": places.models_folder(),
        "is_live": bool(checks.under_way()),
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
    hosts = checks.ask_for_check(name, fleet.living())
    if hosts:
        messages.success(request, f"{name} is being checked on {get_text_list(hosts, 'and')}.")
    else:
        messages.warning(request, f"No worker is at work on a host that has {name}.")
    return redirect("models")


@researcher_required
@require_GET
def worker_list(request: HttpRequest) -> HttpResponse:
    """The fleet; htmx asks for what changes alone."""
    seats = fleet.fleet()
    queues = fleet.queue_states(seats, QUEUES)
    queued = list(MetricRun.objects.filter(status=MetricRun.Status.QUEUED))
    starting.describe(queued)
    waiting.attach(queued)
    context = {
        "section": "metrics",
        "tab": "workers",
        "seats": seats,
        "queues": queues,
        # That nobody is there is said at once; why others take nothing, after a moment.
        "idle": [
            *(Idle(queue.name, Reason.ABSENT) for queue in queues if queue.is_starved),
            *(each for each in waiting.idle(queued) if each.reason != Reason.ABSENT),
        ],
        "code": CODE,
    }
    return render_live(request, "metrics/workers.html", context)
