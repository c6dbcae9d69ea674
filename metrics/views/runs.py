"""Pages of metric runs: the list, one run, starting and cancelling."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import (
    readable,
    researcher_required,
    test_set_for_reader,
    visible_campaigns,
    visible_test_sets,
)
from annotation.filters import FilterError
from annotation.models import Campaign, TestSet, listed
from annotation.web.live import render_live
from annotation.web.parameters import Parameters, page_of, takes
from core.messages import messages_of, translated
from metaeval.messages import message
from metrics.contents import failed_texts, warnings_of
from metrics.forms.runs import FilterForm, StartForm
from metrics.models import MetricRun
from metrics.runs import scoring, starting, waiting
from metrics.runs.state import RunLockedError
from metrics.scores import truncation_of
from metrics.support import support_of

ENDED = message("run.had-ended", "This run had already ended.")
PER_PAGE = FAILED_SHOWN = 50


@researcher_required
@require_GET
@takes(Parameters(frozenset({*FilterForm.base_fields, "page"})))
def run_list(request: HttpRequest) -> HttpResponse:
    """List all runs, newest first; htmx requests only the table."""
    form = FilterForm(request.GET)
    form.fields["testset"].queryset = visible_test_sets(request.user)  # type: ignore[attr-defined]
    page = page_of(request, readable(_filtered(form), request.user), PER_PAGE)
    starting.describe(page)
    waiting.attach(page)
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "section": "runs",
        "form": form,
        "page": page,
        "query": query.urlencode(),
        "is_live": any(run.is_active for run in page),
        "idle": waiting.idle(page),
        "test_sets": visible_test_sets(request.user).filter(systems__isnull=False).distinct(),
        "campaigns": _campaigns(request, form.cleaned_data["testset"]),
    }
    return render_live(request, "metrics/runs.html", context)


def _campaigns(request: HttpRequest, test_set: TestSet | None) -> QuerySet[Campaign]:
    """The campaigns over a test set, for links back to them."""
    return visible_campaigns(request.user).filter(test_set=test_set).order_by("name")


def _filtered(form: FilterForm) -> QuerySet[MetricRun]:
    """Return the runs that match a form; raise FilterError for unknown values."""
    rows = (
        listed(MetricRun.objects.all())
        .select_related("test_set")
        .annotate(n_systems=Count("systems"))
    )
    if form.errors:
        name, errors = next(iter(form.errors.as_data().items()))
        raise FilterError(
            message(
                "runs.wrong-filter",
                "{name}: {problem}",
                name=name,
                problem=messages_of(errors[0])[0],
            )
        )
    if form.cleaned_data["testset"]:
        rows = rows.filter(test_set=form.cleaned_data["testset"])
    if form.cleaned_data["status"]:
        rows = rows.filter(status=form.cleaned_data["status"])
    return rows.order_by("-created_at", "-pk")


@researcher_required
@require_GET
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one run; htmx requests only the part that changes."""
    rows = MetricRun.objects.select_related("test_set", "signature", "created_by")
    run = get_object_or_404(readable(rows.prefetch_related("systems"), request.user), pk=pk)
    waiting.attach([run])
    # Counting takes seconds over a million outputs, and the page of an active run reloads often.
    truncated = None if run.is_active else truncation_of(run)
    about_texts = truncated.warnings(run.label) if truncated else ()
    context = {
        "section": "runs",
        "run": run,
        "truncated": truncated,
        "failed_texts": failed_texts(run)[:FAILED_SHOWN],
        # The card shows what each host lacks.
        "idle": [] if run.turn and run.turn.hosts.is_stuck else waiting.idle([run]),  # type: ignore[attr-defined]
        "silence": starting.silence(run),
        "campaigns": _campaigns(request, run.test_set),
        "warnings": (*warnings_of(run), *about_texts, *scoring.of_run(run)),
        "has_budget": support_of(run.info).has_budget,
    }
    return render_live(request, "metrics/run.html", context)


@researcher_required
@require_POST
def run_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a run; its scores stay."""
    run = get_object_or_404(readable(MetricRun.objects.all(), request.user), pk=pk)
    try:
        if starting.cancel(run):
            cancelled = _("Cancelled %(metric)s. The scores computed so far are kept.")
            messages.success(request, cancelled % {"metric": run.label})
        else:
            messages.info(request, translated(ENDED))
    except RunLockedError as error:
        messages.error(request, translated(error.message))
    return redirect(run)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def run_start(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose metrics and systems of a test set, and start a run for each metric."""
    test_set = test_set_for_reader(request, slug)
    sent = request.POST if request.method == "POST" else None
    form = StartForm(
        test_set,
        sent,
        ticked=request.GET.getlist("metric"),
        asked_set=request.GET.get("set", ""),
        query=request.GET.get("q", ""),
    )
    if form.is_valid():
        try:
            started = starting.start(test_set=test_set, user=request.user, **form.chosen)
        except ValidationError as error:
            form.add_error("systems", error)
        else:
            if started.runs:
                names = [run.label for run in started.runs]
                about = message("run.started", "Started {metrics}.", metrics=names)
                messages.success(request, translated(about))
            for run in started.active:
                about = message(
                    "run.active",
                    "{metric} is already running over these systems.",
                    metric=run.label,
                )
                messages.info(request, translated(about))
            for refusal in started.refused:
                messages.warning(request, translated(refusal))
            if len(started.runs) == 1:
                return redirect(started.runs[0])
            return redirect(f"{reverse('runs')}?testset={test_set.slug}")
    context = {
        "section": "runs",
        "form": form,
        "test_set": test_set,
        "without_reference": starting.segments_without_reference(test_set),
    }
    status = 422 if form.errors else 200
    return render(request, "metrics/run_start.html", context, status=status)
