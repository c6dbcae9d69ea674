"""Pages to import mt-metrics-eval folders and the published sets on the server."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.access import admin_required, signed_in
from annotation.forms.preview import Preview, download
from annotation.imports import background
from annotation.uploads.waiting import ExpiredError
from annotation.views.imports import imports_for
from annotation.views.interchange import EXPIRED
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web.errors import refuse
from core.messages import messages_of, sentences, translated
from metrics import datasets
from metrics.datasets.door import FOLDER, PUBLISHED, begin
from metrics.forms.datasets import MtmeForm

RECENT = 20


@admin_required
@require_http_methods(["GET", "POST"])
def mtme_import(request: HttpRequest) -> HttpResponse:
    """Send a folder in the layout of mt-metrics-eval; with `?check=token`, confirm it."""
    if is_too_large(request):
        return refuse(request, 413, _("This import is too large"), too_large_sentence())
    if token := request.GET.get("check", ""):
        return _confirm(request, token)
    form = MtmeForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        archive = form.sent(request.POST.getlist("path"))
        return redirect(begin(signed_in(request), FOLDER, form.choice(), archive))
    context = {"form": form, "section": "campaigns"}
    return render(request, "metrics/mtme_import.html", context, status=422 if form.errors else 200)


@admin_required
@require_http_methods(["GET", "POST"])
def dataset_list(request: HttpRequest) -> HttpResponse:
    """List the published sets; POST lets a worker check one, and `?check=token` confirms it."""
    if token := request.GET.get("check", ""):
        return _confirm(request, token)
    if request.method == "POST":
        name = request.POST.get("dataset", "")[:80]
        try:
            datasets.find(name)
        except ValidationError as error:
            messages.error(request, sentences(messages_of(error)))
            return redirect("dataset-list")
        return redirect(begin(signed_in(request), PUBLISHED, {"dataset": name}))
    context = {
        "rows": [_about(name) for name in datasets.DATASETS],
        "imports": imports_for(request.user).filter(door__in=(FOLDER, PUBLISHED))[:RECENT],
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


def _confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Show what was found in a data set; POST stores it."""
    page = redirect(request.path)
    try:
        row = background.find(signed_in(request), token)
        if row is not None and row.state != row.State.CHECKED:
            return redirect(row)
        found = background.shown(row) if row is not None else None
    except ExpiredError:
        row = found = None
    if row is None or found is None:
        messages.error(request, translated(EXPIRED))
        return page
    if request.method == "POST":
        return redirect(background.confirm(row))
    report = background.report_of(row)
    if "problems" in request.GET:
        return download(report)
    context = {
        "row": row,
        "sets": found.sets,
        "shown": Preview(report),
        "address": f"?{urlencode({'check': token})}&",
        "section": "campaigns",
    }
    return render(request, "metrics/dataset_preview.html", context)
