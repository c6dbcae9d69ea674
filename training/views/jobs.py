"""Pages of jobs: the list, one job, a sweep, start and cancel."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import researcher_required, signed_in
from annotation.models import TestSet
from annotation.web.live import render_live
from metrics.forms.families import PREFIX
from metrics.models import fleet
from metrics.runs import starting as runs
from metrics.stock import hosts, inventory
from metrics.workers.idle import Reason
from training.contract import KINDS, TrainingKind
from training.forms import PAPER_SEEDS, JobForm
from training.jobs import presenting
from training.jobs import starting as jobs
from training.models import ParallelCorpus, TrainingJob
from training.sweeps import differences
from training.sweeps import starting as sweeping
from training.sweeps.overview import compare
from training.sweeps.table import SEED
from training.views.work import WorkPages

SETS_SHOWN = 10


PAGES = WorkPages(
    rows=lambda user: TrainingJob.objects.prefetch_related("corpora").select_related("metric"),
    ended=gettext_lazy("This job had already ended."),
    tab="jobs",
    cancelling=jobs.cancel,
    resuming=jobs.resume,
    more=lambda page: {"idle": presenting.idle(page)},
)
job_list, job_cancel, job_resume = PAGES.list(), PAGES.cancel(), PAGES.resume()


@researcher_required
@require_GET
def job_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one job; htmx requests only what changes."""
    rows = TrainingJob.objects.select_related("metric", "created_by")
    job = get_object_or_404(rows.prefetch_related("corpora"), pk=pk)
    context = {
        "section": "server",
        "job": job,
        "settings": presenting.settings_of(job),
        "progress": presenting.show(_progress(job)),
        "result": presenting.show(presenting.findings(job)),
        # The card shows what every host lacks.
        "idle": [each for each in presenting.idle([job]) if each.reason != Reason.REFUSING],
        "test_sets": _sets_to_score(job) if job.metric else [],
    }
    return render_live(request, "training/job.html", context)


def _sets_to_score(job: TrainingJob) -> QuerySet[TestSet]:
    """Return test sets of the languages of the corpora; all for a head, which reads no corpus."""
    pairs = [(corpus.source_language, corpus.target_language) for corpus in job.corpora.all()]
    is_reversed = bool(job.options.get("reverse"))
    return runs.sets_to_score({pair[::-1] if is_reversed else pair for pair in pairs})[:SETS_SHOWN]


def _progress(job: TrainingJob) -> dict[str, Any]:
    """Return reported progress that the bar does not show; empty once there is a result."""
    if job.result:
        return {}
    shown = ("step", "total", "stage", "level")
    return {
        key: value
        for key, value in job.progress.items()
        if key not in shown and value not in ([], {})
    }


@researcher_required
@require_GET
def sweep_detail(request: HttpRequest, sweep: str) -> HttpResponse:
    """Compare the jobs that were started together."""
    rows = list(TrainingJob.objects.filter(sweep=sweep).select_related("metric").order_by("pk"))
    if not rows:
        raise Http404
    context = {
        "section": "server",
        "sweep": sweep,
        "kind": rows[0].label,
        "jobs": rows,
        "n_ended": sum(not job.is_active for job in rows),
        "compared": compare(rows),
        "tested": differences.over_seeds(rows) if rows[0].kind == "refreeeval" else None,
    }
    return render(request, "training/sweep.html", context)


@researcher_required
@require_GET
def kind_list(request: HttpRequest) -> HttpResponse:
    """Show the kinds of jobs to choose from."""
    context = {"section": "server", "kinds": [k for k in KINDS.values() if k.has_form]}
    return render(request, "training/kinds.html", context)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def job_start(request: HttpRequest, kind: str) -> HttpResponse:
    """Show and check the options of a job or a sweep, and start it."""
    if kind not in KINDS or not KINDS[kind].has_form:
        raise Http404
    form = _form(request, KINDS[kind])
    if form.is_valid():
        started = sweeping.start(
            kind=kind,
            name=form.cleaned_data["name"],
            grid=form.grid,
            corpora=list(form.cleaned_data.get("corpora", ())),
            user=signed_in(request),
        )
        notice = ngettext(
            "Started %(name)s.", "Started %(n)s jobs, the first is %(name)s.", len(started)
        )
        messages.success(request, notice % {"name": started[0].name, "n": len(started)})
        return redirect("sweep", started[0].sweep) if len(started) > 1 else redirect(started[0])
    context = {
        "section": "server",
        "kind": KINDS[kind],
        "form": form,
        "has_corpora": ParallelCorpus.objects.exists(),
        "has_seed": any(option.name == SEED for option in KINDS[kind].options),
        "paper_seeds": PAPER_SEEDS,
    }
    return render(request, "training/start.html", context, status=422 if form.errors else 200)


def _form(request: HttpRequest, kind: TrainingKind) -> JobForm:
    sent = request.POST if request.method == "POST" else None
    known = {stock.name for stock in hosts.survey(fleet.live_workers()) if stock.places}
    initial: dict[str, Any] = request.GET.dict() | {"corpora": request.GET.getlist("corpora")}
    seeds = request.GET.get(PREFIX + SEED)
    if seeds == "ten":
        initial[PREFIX + SEED] = PAPER_SEEDS
    return JobForm(kind, sent, initial=initial, known=sorted(known | set(inventory.names_here())))
