"""Pages to import error spans that were found elsewhere, and to download all spans."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
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
from annotation.forms.columns import CHANGED, ColumnsForm, SkipForm, is_changed
from annotation.forms.preview import Heading, Preview, download
from annotation.imports import background
from annotation.imports.judgments.options import read_columns
from annotation.models import Output, TestSet
from annotation.uploads import waiting
from annotation.uploads.problems import Report
from annotation.uploads.tables.skipping import SKIP, kinds_of
from annotation.uploads.waiting import ExpiredError, Sent
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web.errors import refuse
from core.messages import messages_of, sentences, translated
from metrics.error_spans import TARGET
from metrics.forms.spans import SpanFilesForm
from metrics.imported.files import Choices
from metrics.imported.form import titled_form
from metrics.scores import latest_signatures
from metrics.spans import doors
from metrics.spans.importing import LABELS, Checked, Look, check, store
from metrics.spans.stored import find_with_spans, read_rows
from metrics.spans.tables import FIELDS
from metrics.views.imports import EXPIRED, after_import, kept_for

COLUMNS = ("metric", "system", "segment", "side", "start", "end", "severity", "category",
           "confidence", "text", "signature")  # fmt: skip
Tables = Sequence[tuple[str, ColumnsForm]]


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
        key = waiting.keep(doors.sent_files(doors.SPANS, form.sent()), signed_in(request).pk)
        chosen = {name: form.cleaned_data[name] for name in ("name", "ends")}
        return redirect(f"{request.path}?{urlencode({'check': key, **chosen})}")
    context = _head(test_set) | {"form": form, "marking": _marking(test_set)}
    if rest := kept_for(request)["other_sets"]:
        context |= {"other_sets": rest, "kept": request.GET["kept"]}
    return render(request, "metrics/spans_import.html", context, status=422 if form.errors else 200)


def _head(test_set: TestSet) -> dict[str, Any]:
    return {"test_set": test_set, "section": "testsets"}


def _marking(test_set: TestSet) -> list[str]:
    """The metrics that have spans here."""
    signatures = latest_signatures(test_set)
    marking = find_with_spans(list(signatures.values()))
    return [name for name, signature in signatures.items() if signature.pk in marking]


def _confirm(request: HttpRequest, test_set: TestSet, token: str) -> HttpResponse:
    try:
        sent = waiting.recall(token, signed_in(request).pk, doors.SPANS)
        return _checked(request, test_set, token, sent)
    except ExpiredError:
        messages.error(request, EXPIRED)
        return redirect("metric-spans", test_set.slug)


def _checked(request: HttpRequest, test_set: TestSet, token: str, sent: Sent) -> HttpResponse:
    """Show what was found in files, and store it or check it anew. Raises ExpiredError."""
    user, files = signed_in(request), list(sent.files.values())
    is_sent = request.method == "POST"
    form = SpanFilesForm(request.GET, has_files=True)
    if not form.is_valid():
        return render(
            request,
            "metrics/spans_import.html",
            _head(test_set) | {"form": form, "token": token},
            status=422,
        )
    asked = Choices(columns=_columns(request.GET), skip=kinds_of(request.GET.get(SKIP, "")))
    name, ends = form.cleaned_data["name"], form.ends_included
    query = {key: value for key, value in request.GET.items() if key != "check"}
    values = {
        "test_set": test_set.slug, "name": name, "ends_included": ends,
        "columns": asked.columns, SKIP: request.GET.get(SKIP, ""), "query": query,
    }  # fmt: skip
    row = background.of_files(user, token, sent, values)
    if row is not None and row.state == row.State.CHECKED and row.choices != values:
        row = background.check_again(row, values)
    if row is not None and row.state != row.State.CHECKED:
        return redirect(row)
    checked: Look = (
        background.shown(row) if row else check(test_set, files, name, ends, user, choices=asked)
    )
    data = request.POST if is_sent else None
    form = SpanFilesForm(data, has_files=True, initial=request.GET.dict())
    columns = titled_form(checked.columns, checked.fields, checked.samples, FIELDS, data)
    skip = SkipForm(checked.report.counts, asked.skip, data)
    forms = (form, columns, skip)
    if is_sent and all(each.is_valid() for each in forms):
        if any(map(is_changed, forms)):
            if "import" in request.POST:
                messages.warning(request, CHANGED)
            return redirect(f"{request.path}?{urlencode(_query(token, form, columns, skip))}")
        if row is not None and "import" in request.POST and not checked.report.errors:
            return redirect(background.confirm(row))
        if "import" in request.POST and isinstance(checked, Checked) and not checked.report.errors:
            try:
                outcome = store(checked, user)
            except ValidationError as error:
                messages.error(request, sentences(messages_of(error)[:5]))
            else:
                messages.success(request, translated(doors.stored_sentence(checked, outcome)))
                return after_import(request, "metric-spans", test_set, checked.pairs, token)
    if "problems" in request.GET:
        return download(checked.report)
    tables = [("", columns)] if columns.columns else []
    context = _head(test_set) | {
        "form": form, "token": token, "checked": checked,
        "shown": shown_of(checked, skip, tables), "address": f"?{request.GET.urlencode()}&",
        "other_sets": doors.other_sets(test_set, checked.pairs, user), "kept": token,
    }  # fmt: skip
    status = 422 if checked.report.errors and is_sent else 200
    return render(request, "metrics/spans_import.html", context, status=status)


def shown_of(checked: Look, skip: SkipForm | None = None, tables: Tables = ()) -> Preview:
    """Return the preview of error spans."""
    first = () if checked.report.errors else checked.first
    return Preview(checked.report, skip, tables, [Heading(label) for label in LABELS], first)


def _columns(given: QueryDict) -> dict[str, str]:
    """Return the fields of columns in an address; anything else there is none."""
    found = read_columns(given.get("columns", ""), Report())
    known = {field.name for field in FIELDS} | {""}
    return {column: field for column, field in found.items() if field in known}


def _query(token: str, form: Form, columns: ColumnsForm, skip: SkipForm) -> dict[str, str]:
    """Return the address of a preview with its choices."""
    own = (
        columns.chosen
        if columns.is_renamed
        else {
            column: field
            for n, (column, field) in enumerate(columns.chosen.items())
            if columns.add_prefix(str(n)) in columns.data
            and field != columns.fields[str(n)].initial
        }
    )
    earlier = {} if columns.is_renamed else json.loads(form.initial.get("columns") or "{}")
    both = json.dumps(earlier | own) if earlier or own else ""
    query = {"check": token, **form.cleaned_data, "columns": both, SKIP: ",".join(skip.chosen)}
    return {name: value for name, value in query.items() if value}


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
