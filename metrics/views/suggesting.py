"""Page of the errors that annotators see as suggestions: from a metric or from files."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.access import campaign_for_admin, researcher_required, signed_in
from annotation.forms.columns import CHANGED, is_changed
from annotation.forms.preview import download
from annotation.models import Campaign, Prefill
from annotation.prefill import suggestions, trial
from annotation.prefill.suggestions import Condition
from annotation.uploads import InputFile, waiting
from annotation.uploads.waiting import ExpiredError
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web.errors import refuse
from core.messages import as_json, messages_of, sentences, translated
from metaeval.messages import SHOWN, Message, from_json, message, plural
from metrics.forms.spans import GOLD, SharesForm, SuggestForm
from metrics.models import MetricSignature
from metrics.scores import latest_signatures
from metrics.spans import doors
from metrics.spans.importing import Checked, check
from metrics.spans.stored import find_with_spans
from metrics.spans.suggesting import Fitted, fit, suggestions_of
from metrics.views.imports import EXPIRED
from metrics.views.spans import shown_of

BUILT_IN = message("suggestions.trial", "Added a trial to the campaign.")
NO_TRIAL = message(
    "suggestions.no-trial", "There is no trial: annotators see all suggestions in every document."
)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_suggestions(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the suggestions; with `?check=token`, check files with spans and confirm them."""
    campaign = campaign_for_admin(request, slug)
    if is_too_large(request):
        return refuse(request, 413, _("This import is too large"), too_large_sentence())
    try:
        if request.method == "POST":
            suggestions.require_draft(campaign)
        if request.method == "POST" and request.POST.get("do") == "drop":
            suggestions.drop(campaign)
            messages.success(request, _("Removed all suggestions."))
            return redirect("campaign-suggestions", slug)
        if request.method == "POST" and request.POST.get("do") == "shares":
            form = SharesForm(request.POST)
            if form.is_valid():
                given = dict(form.cleaned_data)
                seed = given.pop("seed")
                shares = {Condition(name): share for name, share in given.items()}
                prefill = trial.set_shares(campaign, shares, seed=seed)
                messages.success(request, translated(BUILT_IN if prefill.is_trial else NO_TRIAL))
                return redirect("campaign-suggestions", campaign.slug)
            own = SuggestForm(metrics=list(_marking(campaign)))
            return _page(request, campaign, own, shares=form)
        if token := request.GET.get("check", ""):
            return _confirm(request, campaign, token)
        return _choose(request, campaign)
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)[:5]))
        return redirect("campaign-suggestions", slug)


def _choose(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    marking = _marking(campaign)
    is_sent = request.method == "POST"
    sent = (request.POST, request.FILES) if is_sent else ()
    form = SuggestForm(*sent, metrics=list(marking))
    if not is_sent or not form.is_valid():
        return _page(request, campaign, form)
    given = form.cleaned_data
    if given["metric"]:
        signature = marking[given["metric"]]
        fitted = suggestions_of(campaign, signature)
        details = {"signature": str(signature)}
        _keep(request, campaign, given["what"], Prefill.Source.METRIC, given["metric"], fitted,
              details)  # fmt: skip
        return redirect("campaign-suggestions", campaign.slug)
    sent_files = doors.sent_files(doors.SPANS, form.sent())
    key = waiting.keep(sent_files, signed_in(request).pk)
    query = {"check": key, "what": given["what"], "ends": given["ends"]}
    return redirect(f"{request.path}?{urlencode(query)}")


def _marking(campaign: Campaign) -> Mapping[str, MetricSignature]:
    """The metrics that have spans for this test set, by name."""
    signatures = latest_signatures(campaign.test_set)
    marking = find_with_spans(list(signatures.values()))
    return {name: each for name, each in signatures.items() if each.pk in marking}


def _confirm(request: HttpRequest, campaign: Campaign, token: str) -> HttpResponse:
    user = signed_in(request)
    try:
        files = list(waiting.recall(token, user.pk, doors.SPANS).files.values())
    except ExpiredError:
        messages.error(request, translated(EXPIRED))
        return redirect("campaign-suggestions", campaign.slug)
    is_sent = request.method == "POST"
    given = request.POST if is_sent else request.GET
    form = SuggestForm(given, metrics=(), has_files=True, initial=request.GET.dict())
    if not form.is_valid():
        return _page(request, campaign, form, token=token)
    if is_sent and is_changed(form):
        if "keep" in request.POST:
            messages.warning(request, CHANGED)
        return redirect(f"{request.path}?{urlencode({'check': token, **form.cleaned_data})}")
    checked = check(
        campaign.test_set, files, "suggestions", doors.ENDS_INCLUDED.get(form.cleaned_data["ends"])
    )
    if "problems" in request.GET:
        return download(checked.report)
    if "keep" in request.POST and not checked.report.errors:
        _keep(request, campaign, form.cleaned_data["what"], Prefill.Source.FILE, _names(files),
              fit(campaign, checked.spans), _details(checked))  # fmt: skip
        waiting.forget(token, user.pk)
        return redirect("campaign-suggestions", campaign.slug)
    return _page(request, campaign, form, token=token, checked=checked)


def _names(files: list[InputFile]) -> str:
    """Return the first names, and the number of the others as in no language."""
    names = ", ".join(file.name for file in files[:SHOWN])
    return names if len(files) <= SHOWN else f"{names}, … (+{len(files) - SHOWN})"


def _details(checked: Checked) -> dict[str, Any]:
    return {"files": list(checked.files), "ends_included": bool(checked.ends_included)}


def _keep(
    request: HttpRequest,
    campaign: Campaign,
    what: str,
    source: str,
    label: str,
    fitted: Fitted,
    details: Mapping[str, Any],
) -> None:
    if what == GOLD:
        suggestions.keep_gold(campaign, fitted.spans, label=label)
    else:
        suggestions.keep_suggestions(
            campaign, fitted.spans, source=source, label=label, user=signed_in(request),
            details={**details, "skipped": [as_json(each) for each in fitted.skipped]},
        )  # fmt: skip
    messages.success(request, translated(_stored(fitted)))
    for skipped in fitted.skipped:
        messages.warning(request, translated(skipped))


def _stored(fitted: Fitted) -> Message:
    outputs = plural("suggestions.outputs", "{n} output", "{n} outputs", n=len(fitted.spans))
    return plural(
        "suggestions.stored",
        "Stored {n} error in {outputs}. Outputs without errors: {clean}.",
        "Stored {n} errors in {outputs}. Outputs without errors: {clean}.",
        n=fitted.n_spans,
        outputs=outputs,
        clean=fitted.n_clean,
    )


def _page(
    request: HttpRequest,
    campaign: Campaign,
    form: SuggestForm,
    *,
    token: str = "",
    checked: Checked | None = None,
    shares: SharesForm | None = None,
) -> HttpResponse:
    prefill = Prefill.objects.filter(campaign=campaign).first()
    if prefill is not None and shares is None:
        stored = {str(name): share for name, share in trial.shares_of(prefill).items()}
        shares = SharesForm(initial={**stored, "seed": prefill.seed})
    context = {
        "campaign": campaign,
        "section": "campaigns",
        "tab": "suggestions",
        "form": form,
        "token": token,
        "checked": checked,
        "shown": shown_of(checked) if checked else None,
        "address": f"?{request.GET.urlencode()}&",
        "prefill": prefill,
        "skipped": [from_json(each) for each in prefill.details.get("skipped", [])]
        if prefill
        else [],
        "shares": shares,
        "is_draft": campaign.status == Campaign.Status.DRAFT,
        **_counts(prefill),
    }
    is_wrong = (
        form.errors
        or (shares and shares.errors)
        or (checked and checked.report.errors and request.method == "POST")
    )
    response = render(request, "metrics/suggestions.html", context, status=422 if is_wrong else 200)
    response.is_preview = True  # type: ignore[attr-defined]  # its links have the token
    return response


def _counts(prefill: Prefill | None) -> dict[str, int]:
    if prefill is None:
        return {}
    rows = list(prefill.outputs.values_list("spans", "gold"))
    spans = [own for own, _ in rows if own is not None]
    gold = [own for _, own in rows if own is not None]
    return {
        "n_outputs": len(spans),
        "n_spans": sum(map(len, spans)),
        "n_gold_outputs": len(gold),
        "n_gold": sum(map(len, gold)),
    }
