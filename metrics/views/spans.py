"""Pages to import error spans that were found elsewhere, and to download all spans."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
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
from annotation.exports.tables import csv_lines, csv_response
from annotation.forms.columns import ColumnsForm, SkipForm
from annotation.forms.preview import Heading, Preview
from annotation.models import Output, TestSet
from annotation.uploads import waiting
from annotation.uploads.tables.skipping import SKIP, kinds_of
from annotation.uploads.waiting import Sent
from annotation.views.confirming import Confirmation
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web.errors import refuse
from core.messages import translated
from metrics.error_spans import TARGET
from metrics.forms.spans import SpanFilesForm
from metrics.scores import latest_signatures
from metrics.spans import doors
from metrics.spans.importing import LABELS, Checked, Look, store
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
        return MetricSpans(request, token, test_set).respond()
    is_sent = request.method == "POST"
    form = SpanFilesForm(request.POST, request.FILES) if is_sent else SpanFilesForm()
    if is_sent and form.is_valid():
        words = {name: form.cleaned_data[name] for name in ("name", "ends")}
        sent = doors.sent_files(doors.SPANS, form.sent(), words)
        return redirect(f"{request.path}?check={waiting.keep(sent, signed_in(request).pk)}")
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


class MetricSpans(Confirmation):
    """The preview of error spans of a metric."""

    doors, expired = (doors.SPANS,), EXPIRED

    def __init__(self, request: HttpRequest, token: str, test_set: TestSet) -> None:
        super().__init__(request, token)
        self.test_set = test_set

    @property
    def home(self) -> str:
        """The page of the test set."""
        return reverse("metric-spans", args=[self.test_set.slug])

    def values(self, sent: Sent) -> dict[str, Any]:
        """Return the test set and the choices."""
        return doors.spans_values(self.test_set, sent.words)

    def read(self, sent: Sent) -> Checked:
        """Check the files."""
        return doors.check_spans(self.test_set, sent, self.values(sent), self.user)

    def look(self, checked: Checked) -> Look:
        """Show all of it."""
        return checked

    def forms(self, sent: Sent, look: Look) -> Sequence[BaseForm]:
        """Return choices for the name, ends, columns and rows."""
        data, skips = self.data, kinds_of(sent.words.get(SKIP, ""))
        self.form = SpanFilesForm(data, has_files=True, initial=sent.words)
        self.columns = ColumnsForm(
            list(look.columns),
            FIELDS,
            look.fields,
            data,
            samples=look.samples,
            titles=look.columns,
            files=look.report.files.values(),
        )
        self.skip = SkipForm(look.report.counts, skips, data)
        return self.form, self.columns, self.skip

    def chosen(self, sent: Sent) -> Sent:
        """Add the choices to the words."""
        columns = self.columns.stated(sent.words.get("columns", {}))
        words = {**self.form.cleaned_data, "columns": columns, SKIP: ",".join(self.skip.chosen)}
        return replace(sent, words=words)

    def store(self, checked: Checked) -> HttpResponse:
        """Store the spans."""
        sentence = doors.stored_sentence(checked, store(checked, self.user))
        messages.success(self.request, translated(sentence))
        return after_import(self.request, "metric-spans", self.test_set, checked.pairs, self.token)

    def page(self, sent: Sent, look: Look) -> HttpResponse:
        """Show counts and the first spans."""
        tables = [] if self.columns.is_empty else [("", self.columns)]
        context = _head(self.test_set) | {
            "form": self.form, "token": self.token, "checked": look,
            "shown": shown_of(look, self.skip, tables),
            "address": f"?{urlencode({'check': self.token})}&",
            "other_sets": doors.other_sets(self.test_set, look.pairs, self.user),
            "kept": self.token,
        }  # fmt: skip
        return render(self.request, "metrics/spans_import.html", context)


def shown_of(checked: Look, skip: SkipForm | None = None, tables: Tables = ()) -> Preview:
    """Return the preview of error spans."""
    first = () if checked.report.errors else checked.first
    return Preview(checked.report, skip, tables, [Heading(label) for label in LABELS], first)


@researcher_required
@require_safe
def metric_spans_file(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Download all spans of a test set's metrics, one per row; no-error for outputs without."""
    test_set = test_set_for_reader(request, slug)
    return csv_response(f"{slug}-metric-spans", csv_lines(COLUMNS, _rows(test_set)))


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
