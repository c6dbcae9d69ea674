"""Pages to import mt-metrics-eval folders and the published sets on the server."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.access import admin_required, is_site_admin, signed_in
from annotation.forms.preview import download
from annotation.imports.background import report_of
from annotation.models import Campaign, TestSet
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web.errors import refuse
from annotation.web.live import render_live
from core.messages import messages_of, sentences
from metrics import datasets
from metrics.datasets import waiting
from metrics.forms.datasets import MtmeForm
from metrics.models import DatasetImport

SHOWN = 200
RECENT = 20


@admin_required
@require_http_methods(["GET", "POST"])
def mtme_import(request: HttpRequest) -> HttpResponse:
    """Send a folder in the layout of mt-metrics-eval; a worker checks it first."""
    if is_too_large(request):
        return refuse(request, 413, _("This import is too large"), too_large_sentence())
    form = MtmeForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        name, content = form.sent(request.POST.getlist("path"))
        row = waiting.begin(
            user=signed_in(request), name=name, content=content, choice=form.choice()
        )
        return redirect(row)
    context = {"form": form, "section": "campaigns"}
    return render(request, "metrics/mtme_import.html", context, status=422 if form.errors else 200)


@admin_required
@require_http_methods(["GET", "POST"])
def dataset_list(request: HttpRequest) -> HttpResponse:
    """List the published sets and the user's imports; POST starts an import."""
    if request.method == "POST":
        name = request.POST.get("dataset", "")[:80]
        try:
            datasets.find(name)
        except ValidationError as error:
            messages.error(request, sentences(messages_of(error)))
            return redirect("dataset-list")
        return redirect(waiting.begin(user=signed_in(request), name=name, dataset=name))
    context = {
        "rows": [_about(name) for name in datasets.DATASETS],
        "imports": _own(request)[:RECENT],
        "section": "campaigns",
    }
    return render(request, "metrics/datasets.html", context)


def _about(name: str) -> dict[str, Any]:
    """Return the description of a set and its pairs on the server."""
    try:
        found = [pair.name for pair in datasets.pairs(name, Path(settings.DATA_DIR))]
    except ValidationError:
        found = []
    return {"name": name, "about": datasets.DATASETS[name].about, "pairs": found}


@admin_required
@require_http_methods(["GET", "POST"])
def dataset_import(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an import: its content, its problems, and what was stored; POST confirms it."""
    row = get_object_or_404(_own(request), pk=pk)
    if request.method == "POST":
        if not waiting.confirm(row):
            messages.error(request, _("This import has expired or has already been stored."))
        return redirect(row)
    report = report_of(row)
    if "problems" in request.GET:
        if not report.problems:
            raise Http404
        return download(report)
    context = {
        "row": row,
        "report": report,
        "errors": report.errors[:SHOWN],
        "warnings": report.warnings[:SHOWN],
        "n_more": row.found.get("n_problems", 0) - len(report.problems),
        "section": "campaigns",
        **_stored(row),
    }
    return render_live(request, "metrics/dataset_import.html", context)


def _own(request: HttpRequest) -> QuerySet[DatasetImport]:
    """Return the user's imports without what was sent; all imports for site admins."""
    rows = DatasetImport.objects.defer("content")
    return rows if is_site_admin(request.user) else rows.filter(created_by=signed_in(request))


def _stored(row: DatasetImport) -> dict[str, Any]:
    """Return the rows that an import stored, as far as they are still there."""
    sets = row.stored.get("sets", [])
    slugs = [each["slug"] for one in sets for each in one["campaigns"]]
    return {
        "test_sets": TestSet.objects.filter(slug__in=[one["test_set"] for one in sets]),
        "campaigns": Campaign.objects.filter(slug__in=slugs).order_by("name"),
        "outcomes": sets,
    }
