"""Pages of preference analyses: results of a test set, start, and all language pairs."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.access import researcher_required, signed_in, test_set_for_reader
from annotation.filters import FilterError
from annotation.filters.choice import quoted
from annotation.models import TestSet
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web.errors import refuse
from annotation.web.parameters import Parameters, takes
from dashboards.charts import files as figures
from dashboards.pages.answers import data_response
from dashboards.papers import latex
from metaeval.messages import message
from training.jobs import presenting
from training.models import PreferenceResult, TrainingJob
from training.preferences import documents, starting, tables
from training.preferences.altering import CONDITIONS, LABELS
from training.preferences.form import StartForm
from training.preferences.tables import FIGURES

MAIN = "word-by-word"


@researcher_required
@require_safe
@takes(lambda figure="", **at: Parameters(frozenset(figures.MARKS if figure else ())))
@vary_on_headers("HX-Request")
def preferences(
    request: HttpRequest, slug: str, fmt: str = "", figure: str = ""
) -> HttpResponseBase:
    """Show preferences on a test set; with `fmt` as json, csv or tex."""
    test_set = test_set_for_reader(request, slug)
    if request.headers.get("HX-Request"):
        return _running(request, test_set)
    document = documents.of_test_set(test_set)
    files = reverse("preferences", args=[slug]).removesuffix("/")
    drawn = figures.figures(FIGURES, document, f"{files}/", "")
    if figure:
        if figure not in drawn:
            raise Http404
        return figures.response(request, drawn[figure], fmt, f"{slug}-preferences")
    if fmt:
        return _file(fmt, test_set, document)
    context = {
        "section": "testsets",
        "test_set": test_set,
        "document": document,
        "files": files,
        "summary": tables.summary(document),
        "parts": tables.parts(document, drawn),
        **_jobs(test_set),
    }
    return render(request, "training/preferences.html", context)


def _jobs(test_set: TestSet) -> dict[str, Any]:
    jobs = starting.under_way(test_set)
    last = starting.ended(test_set)
    warnings = last.warnings if last else []
    idle = presenting.idle(jobs)
    return {"jobs": jobs, "idle": idle, "last": last, "last_warnings": warnings}


def _running(request: HttpRequest, test_set: TestSet) -> HttpResponse:
    """Return the part that changes while workers run; reload the page once they are done."""
    context = {"test_set": test_set, **_jobs(test_set)}
    response = render(request, "training/_preference_jobs.html", context)
    if not context["jobs"]:
        response["HX-Refresh"] = "true"
    return response


def _file(fmt: str, test_set: TestSet, document: documents.OfTestSet) -> HttpResponseBase:
    name = f"{test_set.slug}-preferences"
    if fmt == "tex":
        return latex.response(tables.as_latex(document), name)
    if fmt == "json":
        document = documents.in_full(test_set, document)
    return data_response(fmt, name, documents.COLUMNS, document.rows, document)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def preferences_start(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose metrics and conditions, upload files, and start."""
    if is_too_large(request):
        return refuse(request, 413, _("This upload is too large"), too_large_sentence())
    test_set = test_set_for_reader(request, slug)
    form = StartForm(test_set, request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            started = starting.start(test_set=test_set, user=signed_in(request), **form.given())
        except ValidationError as error:
            form.refuse(error.error_dict)
        else:
            _notify(request, *started)
            return redirect("preferences", slug)
    context = {"section": "testsets", "form": form, "test_set": test_set}
    status = 422 if form.errors else 200
    return render(request, "training/preferences_start.html", context, status=status)


def _notify(request: HttpRequest, job: TrainingJob, is_new: bool) -> None:
    n = len(starting.metrics_of(job))
    if is_new:
        notice = ngettext(
            "Started an analysis of %(n)s metric.", "Started an analysis of %(n)s metrics.", n
        )
        messages.success(request, notice % {"n": n})
    else:
        messages.info(request, _("The same analysis is already running."))


@researcher_required
@require_safe
@takes(Parameters(frozenset({"condition"})))
def preference_table(request: HttpRequest, fmt: str = "") -> HttpResponseBase:
    """Show every metric by language pair, over all test sets; with `fmt` as json, csv or tex."""
    known = set(PreferenceResult.objects.values_list("condition", flat=True).distinct())
    offered = [name for name in CONDITIONS if name in known]
    first = MAIN if MAIN in offered or not offered else offered[0]
    condition = request.GET.get("condition", first)
    if condition not in CONDITIONS:
        raise FilterError(
            message(
                "preferences.no-condition",
                "Unknown condition: {condition}. Expected one of: {known}.",
                condition=quoted(condition),
                known=list(CONDITIONS),
            )
        )
    document = documents.across(condition)
    if fmt == "tex":
        return latex.response([tables.across_as_latex(document)], "preferences")
    if fmt:
        columns = documents.ACROSS_COLUMNS
        return data_response(fmt, "preferences", columns, document.rows, document)
    context = {
        "section": "testsets",
        "document": document,
        "lines": tables.by_direction(document),
        "offered": [(name, LABELS[name]) for name in offered],
        "query": f"?condition={condition}",
    }
    return render(request, "training/preference_table.html", context)
