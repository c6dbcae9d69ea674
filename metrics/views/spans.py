"""Pages to import error spans that were found elsewhere, and to download all spans."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import (
    admin_required,
    may_change_test_set,
    researcher_required,
    signed_in,
    test_set_for_reader,
    test_set_refusal,
)
from annotation.exports.tables import csv_response
from annotation.forms.columns import CHANGED, is_changed
from annotation.models import Output, TestSet
from annotation.uploads.waiting import ExpiredError
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web.errors import refuse
from core.messages import messages_of, sentences, translated
from metaeval.messages import Message, message, plural
from metrics.error_spans import TARGET
from metrics.forms.spans import SpanFilesForm
from metrics.imported import pending
from metrics.imported.storing import Outcome
from metrics.scores import latest_signatures
from metrics.spans.importing import Checked, check, store
from metrics.spans.stored import find_with_spans, read_rows
from metrics.views.imports import EXPIRED

COLUMNS = ("metric", "system", "segment", "side", "start", "end", "severity", "category",
           "confidence", "text", "signature")  # fmt: skip
SHOWN = 50


@admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def metric_spans(request: HttpRequest, slug: str) -> HttpResponse:
    """Send files with spans; with `?check=token`, state the meaning of ends and confirm."""
    test_set = test_set_for_reader(request, slug)
    if not may_change_test_set(request.user, test_set):
        raise PermissionDenied(test_set_refusal(test_set))
    if is_too_large(request):
        return refuse(request, 413, _("This import is too large"), too_large_sentence())
    if token := request.GET.get("check", ""):
        return _confirm(request, test_set, token)
    is_sent = request.method == "POST"
    form = SpanFilesForm(request.POST, request.FILES) if is_sent else SpanFilesForm()
    if is_sent and form.is_valid():
        key = pending.keep(slug, form.sent(), signed_in(request).pk)
        chosen = {name: form.cleaned_data[name] for name in ("name", "ends")}
        return redirect(f"{request.path}?{urlencode({'check': key, **chosen})}")
    context = _head(test_set) | {"form": form, "marking": _marking(test_set)}
    return render(request, "metrics/spans_import.html", context, status=422 if form.errors else 200)


def _head(test_set: TestSet) -> dict[str, Any]:
    return {"test_set": test_set, "section": "testsets"}


def _marking(test_set: TestSet) -> list[str]:
    """The metrics that have spans here."""
    signatures = latest_signatures(test_set)
    marking = find_with_spans(list(signatures.values()))
    return [name for name, signature in signatures.items() if signature.pk in marking]


def _confirm(request: HttpRequest, test_set: TestSet, token: str) -> HttpResponse:
    user = signed_in(request)
    try:
        files = pending.recall(token, test_set.slug, user.pk)
    except ExpiredError:
        messages.error(request, EXPIRED)
        return redirect("metric-spans", test_set.slug)
    is_sent = request.method == "POST"
    given = request.POST if is_sent else request.GET
    form = SpanFilesForm(given, has_files=True, initial=request.GET.dict())
    if not form.is_valid():
        context = _head(test_set) | {"form": form, "token": token}
        return render(request, "metrics/spans_import.html", context, status=422)
    if is_sent and is_changed(form):
        if "import" in request.POST:
            messages.warning(request, CHANGED)
        return redirect(f"{request.path}?{urlencode({'check': token, **form.cleaned_data})}")
    checked = check(test_set, files, form.cleaned_data["name"], form.ends_included, user)
    if "import" in request.POST and not checked.report.errors:
        try:
            outcome = store(checked, user)
        except ValidationError as error:
            messages.error(request, sentences(messages_of(error)[:5]))
        else:
            pending.forget(token, test_set.slug, user.pk)
            messages.success(request, translated(_stored(checked, outcome)))
            return redirect("metric-spans", test_set.slug)
    context = _head(test_set) | {
        "form": form, "token": token, "checked": checked, "shown": checked.report.errors[:SHOWN],
    }  # fmt: skip
    status = 422 if checked.report.errors and is_sent else 200
    return render(request, "metrics/spans_import.html", context, status=status)


def _stored(checked: Checked, outcome: Outcome) -> Message:
    if outcome.row is None:
        return message("spans.nothing-changed", "Nothing changed: these spans are already stored.")
    return plural(
        "spans.imported",
        "Imported {n} span. Checked outputs: {outputs}.",
        "Imported {n} spans. Checked outputs: {outputs}.",
        n=checked.n_spans,
        outputs=len(checked.spans),
    )


@researcher_required
@require_safe
def metric_spans_file(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Download all spans of a test set's metrics, one per row; no-error for outputs without."""
    test_set = test_set_for_reader(request, slug)
    return csv_response(f"{slug}-metric-spans", COLUMNS, _rows(test_set))


def _rows(test_set: TestSet) -> Iterator[Sequence[Any]]:
    signatures = latest_signatures(test_set)
    marking = find_with_spans(list(signatures.values()))
    systems = list(test_set.systems.all())
    outputs = {
        pk: rest
        for pk, *rest in Output.objects.filter(system__in=systems)
        .order_by("system__name", "segment__position")
        .values_list("pk", "system__name", "segment__key", "text", "segment__source")
    }
    for name, signature in signatures.items():
        found = read_rows(signature, systems) if signature.pk in marking else {}
        for pk in (pk for pk in outputs if pk in found):
            system, segment, text, source = outputs[pk]
            for side, start, end, *about in found[pk]:
                marked = (text if side == TARGET else source)[start:end]
                yield [name, system, segment, side, start, end, *about, marked, signature]
            if not found[pk]:
                yield [name, system, segment, "", "", "", "no-error", "", "", "", signature]
