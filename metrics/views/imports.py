"""Pages to import and withdraw metric scores that were computed elsewhere."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import (
    admin_required,
    is_admin,
    may_change_test_set,
    researcher_required,
    signed_in,
    test_set_for_reader,
    test_set_refusal,
    visible_campaigns,
)
from annotation.forms.columns import ColumnsForm, SkipForm, is_changed
from annotation.forms.preview import Heading, Preview
from annotation.models import FileImport, TestSet
from annotation.uploads import OutdatedError, waiting
from annotation.uploads.tables.pairs import Pair
from annotation.uploads.waiting import Sent
from annotation.views.confirming import Confirmation
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web.errors import refuse
from core.messages import translated
from metaeval.messages import message
from metrics import catalogue
from metrics.imported.checking import LABELS as HEADINGS
from metrics.imported.checking import Checked, Look, bring_in, check
from metrics.imported.files import FIELDS, Choices
from metrics.imported.form import (
    BY_SOURCE,
    COMPARED,
    METRIC,
    MetricsForm,
    OriginForm,
    ScoreFilesForm,
)
from metrics.imported.storing import shown_imports, summary, withdraw
from metrics.models import MetricImport
from metrics.spans import doors

NOT_YOUR_ROLE = message(
    "scores.admins-only", "Only campaign admins and site admins can import scores."
)
NO_SUCH_SCORES = message(
    "scores.none-to-withdraw",
    "This test set has no such scores, or they have already been withdrawn.",
)
EXPIRED = message(
    "scores.import-expired",
    "This import has expired or has already been stored. Send the files again.",
)
OUTDATED = message(
    "scores.outdated",
    "Nothing was stored, because the result has changed. Check it again, then import it.",
)


@admin_required
@require_GET
def score_sets(request: HttpRequest) -> HttpResponse:
    """Choose the test set for an import of scores."""
    context = {"section": "metrics", "test_sets": doors.own_sets(request.user)}
    return render(request, "metrics/score_sets.html", context)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def metric_scores(request: HttpRequest, slug: str) -> HttpResponse:
    """List the imported scores of a test set; send more; with `?check=token`, confirm them."""
    test_set = test_set_for_reader(request, slug)
    may_change = may_change_test_set(request.user, test_set)
    token = request.GET.get("check", "")
    if not may_change and (token or request.method == "POST"):
        raise PermissionDenied(test_set_refusal(test_set))
    if is_too_large(request):
        return refuse(request, 413, _("This import is too large"), too_large_sentence())
    if token:
        return MetricScores(request, token, test_set).respond()
    is_sent = request.method == "POST"
    form = ScoreFilesForm(request.POST, request.FILES) if is_sent else ScoreFilesForm()
    if form.is_valid():
        sent = doors.sent_files(doors.METRIC_SCORES, form.sent())
        key = waiting.keep(sent, signed_in(request).pk)
        return redirect(f"{reverse('metric-scores', args=[slug])}?check={key}")
    context = {
        "form": form,
        "may_change": may_change,
        "refusal": test_set_refusal(test_set) if is_admin(request.user) else NOT_YOUR_ROLE,
        **_imports(test_set),
        **_head(test_set),
        **kept_for(request),
        "campaigns": visible_campaigns(request.user).filter(test_set=test_set),
    }
    status = 422 if form.errors else 200
    return render(request, "metrics/scores.html", context, status=status)


def _head(test_set: TestSet) -> dict[str, Any]:
    return {"test_set": test_set, "section": "testsets"}


def _imports(test_set: TestSet) -> dict[str, Any]:
    """Return the imports that are shown, and earlier ones, newest first."""
    infos = catalogue.infos(retired=True)
    current = {row.pk for row in shown_imports(test_set).values()}
    rows = MetricImport.objects.filter(test_set=test_set).order_by("-pk")
    every = [
        (row, infos[row.metric])
        for row in rows.select_related("signature", "created_by", "withdrawn_by")
    ]
    return {
        "current": sorted(
            (each for each in every if each[0].pk in current), key=lambda each: each[1].label
        ),
        "former": [each for each in every if each[0].pk not in current],
    }


class MetricScores(Confirmation):
    """The preview of scores of metrics."""

    doors, expired, outdated = (doors.METRIC_SCORES,), EXPIRED, OUTDATED

    def __init__(self, request: HttpRequest, token: str, test_set: TestSet) -> None:
        super().__init__(request, token)
        self.test_set = test_set

    @property
    def home(self) -> str:
        """The page of the test set."""
        return reverse("metric-scores", args=[self.test_set.slug])

    @property
    def back(self) -> str:
        """The preview."""
        return self.request.get_full_path()

    def values(self, sent: Sent) -> dict[str, Any]:
        """Return the test set and the choices."""
        return doors.to_values(self.test_set, doors.choices_of(sent.words))

    def read(self, sent: Sent) -> Checked:
        """Check the files."""
        files, choices = list(sent.files.values()), doors.choices_of(sent.words)
        return check(self.test_set, files, choices, self.user)

    def look(self, checked: Checked) -> Look:
        """Show all of it."""
        return checked

    def forms(self, sent: Sent, look: Look) -> Sequence[BaseForm]:
        """Return choices for columns, metrics, lines and rows."""
        read, choices, data = look.reading, look.choices, self.data
        of_metrics = {each.key for each in look.metrics}
        uses = {column: METRIC for column, title in read.columns.items() if title in of_metrics}
        self.columns = ColumnsForm(
            list(read.columns),
            FIELDS,
            read.fields,
            data,
            unused=uses
            | dict.fromkeys(read.by_source, BY_SOURCE)
            | dict.fromkeys(read.compared, COMPARED),
            samples=read.samples,
            titles=read.columns,
            files=look.report.files.values(),
        )
        self.metrics = MetricsForm(look.metrics, data)
        self.origin = OriginForm(read, choices, data)
        self.skip = SkipForm(look.report.counts, choices.skip, data)
        return self.columns, self.metrics, self.origin, self.skip

    def chosen(self, sent: Sent) -> Sent:
        """Add the choices to the words; where columns are others, the metrics are not known yet."""
        earlier = doors.choices_of(sent.words)
        columns = self.columns.stated(earlier.columns)
        if is_changed(self.columns):
            chosen = Choices(columns=columns)
        else:
            chosen = self.metrics.applied(replace(earlier, columns=columns))
        chosen = replace(chosen, **self.origin.cleaned_data, skip=frozenset(self.skip.chosen))
        return replace(sent, words=doors.to_words(chosen))

    def confirmed(self, row: FileImport, look: Look) -> dict[str, Any]:
        """Add what is to be stored."""
        return {**row.choices, "expected": look.fingerprint}

    def store(self, checked: Checked) -> HttpResponse:
        """Store the scores."""
        if self.request.POST.get("seen") != checked.fingerprint:
            raise OutdatedError
        outcomes = bring_in(checked, user=self.user, expected=checked.fingerprint)
        messages.success(self.request, translated(summary(outcomes)))
        pairs = checked.reading.pairs
        return after_import(self.request, "metric-scores", self.test_set, pairs, self.token)

    def page(self, sent: Sent, look: Look) -> HttpResponse:
        """Show the metrics, what becomes of them, and the first scores."""
        context = {
            **_head(self.test_set),
            "checked": look,
            "columns": self.columns,
            "origin": self.origin,
            "shown": Preview(
                look.report,
                self.skip,
                [] if self.columns.is_empty else [("", self.columns)],
                [Heading(label) for label in HEADINGS],
                [] if look.report.errors else look.first,
            ),
            "address": f"?{urlencode({'check': self.token})}&",
            "kept": self.token,
            "other_sets": doors.other_sets(self.test_set, look.reading.pairs, self.user),
            "n_taken": sum(found.is_taken for found in look.metrics),
            "is_changed": self.is_changed,
        }
        return render(self.request, "metrics/scores_preview.html", context)


def after_import(
    request: HttpRequest, page: str, test_set: TestSet, pairs: Iterable[Pair], token: str
) -> HttpResponse:
    """Return to the page of a test set, with the files if other test sets may take rows of them."""
    user = signed_in(request)
    address = reverse(page, args=[test_set.slug])
    if rest := doors.other_sets(test_set, pairs, user):
        query = {"kept": token, "for": [each.slug for each in rest]}
        return redirect(f"{address}?{urlencode(query, doseq=True)}")
    waiting.forget(token, user.pk)
    return redirect(address)


def kept_for(request: HttpRequest) -> dict[str, Any]:
    """Return the files that are kept, and the test sets that may take rows of them."""
    kept = request.GET.get("kept", "")
    slugs = request.GET.getlist("for") if kept else []
    return {"kept": kept, "other_sets": doors.test_sets_named(slugs, request.user) if slugs else []}


@researcher_required
@require_POST
def metric_scores_withdraw(request: HttpRequest, slug: str) -> HttpResponse:
    """Withdraw a metric's imported scores on a test set; they remain stored."""
    test_set = test_set_for_reader(request, slug)
    if not may_change_test_set(request.user, test_set):
        raise PermissionDenied(test_set_refusal(test_set))
    info = catalogue.find(request.POST.get("metric", ""))
    if info and withdraw(test_set, info.name, user=request.user):
        messages.success(
            request,
            _("Withdrew the scores of %(metric)s. To show them again, import them again.")
            % {"metric": info.label},
        )
    else:
        messages.error(request, translated(NO_SUCH_SCORES))
    return redirect("metric-scores", slug)
