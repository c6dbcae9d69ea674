"""Pages to import and withdraw metric scores that were computed elsewhere."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
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
from annotation.forms.columns import SkipForm
from annotation.forms.preview import Heading, Preview, download
from annotation.imports import background
from annotation.models import FileImport, TestSet
from annotation.uploads import waiting
from annotation.uploads.tables.lines import LABELS
from annotation.uploads.tables.pairs import Pair
from annotation.uploads.waiting import ExpiredError, Sent
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web.errors import refuse
from core.messages import messages_of, sentences, translated
from metaeval.messages import message
from metrics import catalogue
from metrics.imported.checking import LABELS as HEADINGS
from metrics.imported.checking import Checked, Look, bring_in, check
from metrics.imported.files import Choices
from metrics.imported.form import (
    ScoreFilesForm,
    choices_of,
    chosen_columns,
    columns_form,
    is_as_shown,
    seen_of,
    shown,
)
from metrics.imported.storing import OutdatedError, shown_imports, summary, withdraw
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
CHANGED = _("Nothing was stored, because the result has changed. Check it again, then import it.")


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
        return _confirm(request, test_set, token)
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


def _confirm(request: HttpRequest, test_set: TestSet, token: str) -> HttpResponse:
    try:
        sent = waiting.recall(token, signed_in(request).pk, doors.METRIC_SCORES)
        return _checked(request, test_set, token, sent)
    except ExpiredError:
        messages.error(request, translated(EXPIRED))
        return redirect("metric-scores", test_set.slug)


def _checked(request: HttpRequest, test_set: TestSet, token: str, sent: Sent) -> HttpResponse:
    """Show what was found in files, and store it or check it anew. Raises ExpiredError."""
    user, choices, columns = signed_in(request), Choices(), None
    files = list(sent.files.values())
    if request.method == "POST":
        columns = chosen_columns(request.POST)
        choices = choices_of(request.POST, columns)
    values = doors.to_values(test_set, choices)
    row = background.of_files(user, token, sent, values)
    is_other = row is not None and row.choices["test_set"] != test_set.slug
    is_chosen = is_other or (columns is not None and columns.is_valid())
    if row is not None and row.state == row.State.CHECKED and is_chosen:
        row = _decided(request, row, choices, values)
    if row is not None and row.state != row.State.CHECKED:
        return redirect(row)
    checked: Look = background.shown(row) if row else check(test_set, files, choices, user)
    if row is not None:
        choices = checked.choices
    is_fit = columns is not None and columns.is_valid() and not checked.report.errors
    if is_fit and "import" in request.POST:
        if isinstance(checked, Checked) and request.POST.get("seen") == seen_of(checked):
            try:
                outcomes = bring_in(checked, user=request.user, expected=checked.fingerprint)
            except ValidationError as error:
                messages.error(request, sentences(messages_of(error)[:5]))
            except OutdatedError:
                messages.error(request, CHANGED)
                return redirect(request.get_full_path())
            else:
                messages.success(request, translated(summary(outcomes)))
                return after_import(
                    request, "metric-scores", checked.test_set, checked.reading.pairs, token
                )
            return redirect("metric-scores", checked.test_set.slug)
        messages.warning(request, CHANGED)
    if "problems" in request.GET:
        return download(checked.report)
    bound = columns if columns is not None and not columns.is_valid() else columns_form(checked)
    return _preview(request, test_set, checked, choices, bound, token)


def _decided(
    request: HttpRequest, row: FileImport, choices: Choices, values: dict[str, Any]
) -> FileImport:
    """Store what a page showed, if it was confirmed as it was; or else check the choices."""
    checked = background.shown(row)
    is_confirmed = "import" in request.POST and request.POST.get("seen") == seen_of(checked)
    if is_confirmed and not checked.report.errors and is_as_shown(checked, choices, request.POST):
        return background.confirm(row, values | {"expected": checked.fingerprint})
    if "import" in request.POST:
        messages.warning(request, CHANGED)
    return background.check_again(row, values)


def _preview(
    request: HttpRequest,
    test_set: TestSet,
    checked: Look,
    choices: Choices,
    columns: Any,
    token: str,
) -> HttpResponse:
    report = checked.report
    context = {
        **_head(test_set),
        "checked": checked,
        "columns": columns,
        "shown": Preview(
            report,
            SkipForm(report.counts, choices.skip),
            [("", columns)] if columns.columns else [],
            [Heading(label) for label in HEADINGS],
            [] if report.errors else checked.first,
        ),
        "address": f"?{urlencode({'check': token})}&",
        "kept": token,
        "other_sets": doors.other_sets(test_set, checked.reading.pairs, request.user),
        "shown_columns": shown({column: field.initial for column, field in _initial(columns)}),
        "seen": seen_of(checked),
        "lines": choices.lines,
        "line_choices": [(each, translated(LABELS[each])) for each in checked.reading.lines],
        "system": choices.system,
        "n_taken": sum(found.is_taken for found in checked.metrics),
    }
    status = 422 if report.errors else 200
    return render(request, "metrics/scores_preview.html", context, status=status)


def _initial(columns: Any) -> list[tuple[str, Any]]:
    return [(column, columns.fields[str(n)]) for n, column in enumerate(columns.columns)]


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
