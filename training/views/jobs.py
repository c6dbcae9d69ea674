"""Pages of jobs: the list, one job, a sweep, start and cancel."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import (
    joined_project,
    of_readable_projects,
    readable,
    researcher_required,
    signed_in,
    visible_projects,
)
from annotation.models import TestSet, listed
from annotation.web.live import render_live
from annotation.web.parameters import Parameters, page_of, takes
from core.messages import messages_of, sentences
from metrics.forms.families import PREFIX
from metrics.models import fleet
from metrics.runs import starting as runs
from metrics.stock import hosts, inventory
from metrics.workers.idle import Reason
from training import sweeps
from training.contract import KINDS, TrainingKind
from training.forms import PAPER_SEEDS, JobForm
from training.jobs import presenting
from training.jobs import starting as jobs
from training.jobs import starting as sweeping
from training.models import WARNINGS, ParallelCorpus, TrainingJob, Translation, warnings_in
from training.pair_curve import page as pair_curve
from training.sweeps import SEED, compare_jobs
from training.translation import options
from training.translation.lengths import UNITS
from training.translation.requests import OF
from training.translation.systems import starting
from training.translation.systems.forms import TranslateForm

Row = TypeVar("Row", TrainingJob, Translation)
View = Callable[..., HttpResponseBase]
PER_PAGE = 50


@dataclass(frozen=True)
class WorkPages(Generic[Row]):
    """The pages of jobs or of translations.

    `rows` are those that a user may see, `tab` is the name of the list. `ended` is the notice for
    a row that cannot be cancelled any more.
    """

    rows: Callable[[Any], QuerySet[Row]]
    ended: Promise
    tab: str
    cancelling: Callable[[Row], bool]
    resuming: Callable[[Row], None]
    more: Callable[[Any], Mapping[str, object]] = lambda page: {}

    def list(self) -> View:
        """Return the view of all rows."""

        def work_list(request: HttpRequest) -> HttpResponse:
            """Show all rows, newest first; htmx requests only the table."""
            page = page_of(request, listed(self.rows(request.user)), PER_PAGE)
            context = {
                "section": "server",
                "tab": self.tab,
                "page": page,
                "is_live": any(row.is_active for row in page),
                **self.more(page),
            }
            return render_live(request, f"training/{self.tab}.html", context)

        taken = takes(Parameters(frozenset({"page"})))(work_list)
        guarded = researcher_required(require_GET(taken))
        guarded.takes = taken.takes  # type: ignore[attr-defined]
        return guarded

    def cancel(self) -> View:
        """Return the view that cancels."""
        return self._post(self._cancel, "Cancel; what was saved stays.")

    def resume(self) -> View:
        """Return the view that resumes what ended early."""
        return self._post(self._resume, "Resume with a worker, from what was saved.")

    def _post(self, do: Callable[[HttpRequest, Row], None], about: str) -> View:
        def change(request: HttpRequest, pk: int) -> HttpResponse:
            row = get_object_or_404(self.rows(request.user), pk=pk)
            do(request, row)
            return redirect(row)

        change.__doc__ = about
        return researcher_required(require_POST(change))

    def _cancel(self, request: HttpRequest, row: Row) -> None:
        if self.cancelling(row):
            messages.success(request, _("Cancelled %(name)s.") % {"name": row})
        else:
            messages.info(request, str(self.ended))

    def _resume(self, request: HttpRequest, row: Row) -> None:
        try:
            self.resuming(row)
            notice = _("%(name)s will continue as soon as a worker is free.")
            messages.success(request, notice % {"name": row})
        except ValidationError as error:
            messages.error(request, sentences(messages_of(error)))


SETS_SHOWN = 10


JOB_PAGES = WorkPages(
    rows=lambda user: of_readable_projects(
        TrainingJob.objects.prefetch_related("corpora").select_related("metric"), user
    ),
    ended=gettext_lazy("This job had already ended."),
    tab="jobs",
    cancelling=jobs.cancel,
    resuming=jobs.resume,
    more=lambda page: {"idle": presenting.idle(page)},
)
job_list, job_cancel, job_resume = JOB_PAGES.list(), JOB_PAGES.cancel(), JOB_PAGES.resume()


@researcher_required
@require_GET
def job_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one job; htmx requests only what changes."""
    rows = TrainingJob.objects.select_related("metric", "created_by", "project")
    rows = of_readable_projects(rows, request.user)
    job = get_object_or_404(rows.prefetch_related("corpora"), pk=pk)
    context = {
        "section": "server",
        "job": job,
        "settings": presenting.settings_of(job),
        "progress": presenting.show(_progress(job)),
        "result": presenting.show(presenting.findings(job)),
        # The card shows what every host lacks.
        "idle": [each for each in presenting.idle([job]) if each.reason != Reason.REFUSING],
        "test_sets": _sets_to_score(job, request.user) if job.metric else [],
        "curve": pair_curve.curve_of(job),
    }
    return render_live(request, "training/job.html", context)


def _sets_to_score(job: TrainingJob, user: Any) -> QuerySet[TestSet]:
    """Return test sets of the languages of the corpora; all for a head, which reads no corpus."""
    pairs = [(corpus.source_language, corpus.target_language) for corpus in job.corpora.all()]
    is_reversed = bool(job.options.get("reverse"))
    directions = {pair[::-1] if is_reversed else pair for pair in pairs}
    return runs.sets_to_score(user, directions)[:SETS_SHOWN]


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
    seen = of_readable_projects(TrainingJob.objects.filter(sweep=sweep), request.user)
    rows = list(seen.select_related("metric").order_by("pk"))
    if not rows:
        raise Http404
    context = {
        "section": "server",
        "sweep": sweep,
        "kind": rows[0].label,
        "jobs": rows,
        "n_ended": sum(not job.is_active for job in rows),
        "compared": compare_jobs(rows),
        "tested": sweeps.over_seeds(rows) if rows[0].kind == "refreeeval" else None,
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
    if form.is_valid() and (started := _start(request, kind, form)):
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


def _start(request: HttpRequest, kind: str, form: JobForm) -> list[TrainingJob]:
    """Start what a form describes; without a job, the form has the errors."""
    data, user = form.cleaned_data, signed_in(request)
    try:
        return sweeping.start_sweep(
            kind=kind,
            name=data["name"],
            grid=form.grid,
            corpora=list(data.get("corpora", ())),
            project=joined_project(user, data["project"]),
            user=user,
        )
    except ValidationError as error:
        for text in messages_of(error):
            form.add_error(None, ValidationError([text]))
        return []


def _form(request: HttpRequest, kind: TrainingKind) -> JobForm:
    sent = request.POST if request.method == "POST" else None
    known = {stock.name for stock in hosts.survey(fleet.live_workers()) if stock.places}
    initial: dict[str, Any] = request.GET.dict() | {"corpora": request.GET.getlist("corpora")}
    seeds = request.GET.get(PREFIX + SEED)
    if seeds == "ten":
        initial[PREFIX + SEED] = PAPER_SEEDS
    known |= set(inventory.names_here())
    form = JobForm(kind, sent, initial=initial, known=sorted(known))
    form.fields["project"].offer(visible_projects(request.user))  # type: ignore[attr-defined]
    return form


TEXTS_SHOWN = 50
START, CHECK = "start", "check"


TRANSLATION_PAGES = WorkPages(
    rows=lambda user: readable(Translation.objects.select_related("test_set"), user),
    ended=gettext_lazy("This translation had already ended."),
    tab="translations",
    cancelling=starting.cancel,
    resuming=starting.resume,
)
translation_list = TRANSLATION_PAGES.list()
translation_cancel, translation_resume = TRANSLATION_PAGES.cancel(), TRANSLATION_PAGES.resume()


@researcher_required
@require_GET
def translation_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one translation; htmx requests only what changes."""
    rows = Translation.objects.select_related("test_set", "job", "created_by", "system")
    row = get_object_or_404(readable(rows, request.user), pk=pk)
    texts = row.texts.select_related("segment").order_by("segment__position")
    context = {
        "section": "server",
        "translation": row,
        "warnings": warnings_in(row.result),
        "result": presenting.show(
            {k: v for k, v in row.result.items() if k not in {*row.request, WARNINGS}}
        ),
        "length_of": OF[row.request["of"]],
        "unit": UNITS[row.request["unit"]],
        "texts": texts[:TEXTS_SHOWN],
        "n_texts": texts.count(),
        "may_go_on": row.status in (row.Status.FAILED, row.Status.CANCELLED),
    }
    return render_live(request, "training/translation.html", context)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def translation_start(request: HttpRequest) -> HttpResponse:
    """Show the form, preview what would be translated, and start it."""
    user = signed_in(request)
    sent = request.POST if request.method == "POST" else None
    form = TranslateForm(user, sent, initial=request.GET.dict())
    if form.is_valid() and form.plan and sent and START in sent:
        rows = starting.start(form.plan, user=user, queue=form.cleaned_data["queue"])
        names = ", ".join(row.label for row in rows)
        messages.success(request, _("Started: %(names)s.") % {"names": names})
        return redirect(rows[0]) if len(rows) == 1 else redirect("translations")
    context = {
        "section": "server",
        "form": form,
        "plan": form.plan,
        "models": _models(user),
    }
    status = 422 if form.errors else 200
    return render(request, "training/translate.html", context, status=status)


def _models(user: Any) -> list[dict[str, Any]]:
    """Return the trainings that have a model, newest first."""
    rows = TrainingJob.objects.filter(kind=options.KIND, status=TrainingJob.Status.DONE)
    rows = of_readable_projects(rows, user)
    return [{"pk": row.pk, "name": row.name} for row in rows]
