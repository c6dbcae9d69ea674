"""The queue of items on which annotators differ, and what comes of the decisions."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import (
    campaign_for_admin,
    campaign_for_reader,
    campaign_for_reader_or_reviewer,
    campaign_for_reviewer,
    researcher_required,
    reviews_campaign,
    runs_campaign,
    signed_in,
)
from annotation.adjudication.decisions import decisions, give, gold_targets, met_twice
from annotation.adjudication.disagreements import disagreements, find
from annotation.exports import csv_lines
from annotation.exports.adjudicated import COLUMNS, bundle, json_list, rows
from annotation.exports.tables import zip_bytes
from annotation.forms.adjudicating import GiveForm, LimitsForm
from annotation.models import Campaign
from annotation.web.parameters import NOTHING, Parameters, page_of, takes
from core.text import pluralize

PER_PAGE = 50


@researcher_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@takes(Parameters(frozenset({"page"})))
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how far it is; by POST, look for what differs by more than the limits sent."""
    campaign = campaign_for_reader_or_reviewer(request, slug)
    if request.method != "POST":
        return _page(request, campaign)
    campaign = campaign_for_reviewer(request, slug)
    form = LimitsForm(request.POST, campaign=campaign)
    if not form.is_valid():
        return _page(request, campaign, limits_form=form)
    limits = {"gap": None, "overlap": None} | form.cleaned_data
    found = find(campaign=campaign, **limits)
    new, gone = pluralize(found.n_new, "item"), pluralize(found.n_gone, "item")
    messages.success(request, f"{new} came into the queue, {gone} left it.")
    return redirect("adjudication", slug=slug)


def _page(request: HttpRequest, campaign: Campaign, **changed: Any) -> HttpResponse:
    found = disagreements(campaign)
    page = page_of(request, found.select_related("item__segment"), PER_PAGE)
    n_decided = found.filter(is_decided=True).count()
    limits = {"gap": campaign.review_gap, "overlap": campaign.review_overlap}
    drafts = gold_targets(campaign, request.user)
    context = {
        "campaign": campaign,
        "section": "campaigns",
        "tab": "adjudication",
        "page": page,
        "n_decided": n_decided,
        "n_gold": decisions(campaign).count(),
        "next": found.filter(is_decided=False).values_list("pk", flat=True).first(),
        "may_review": reviews_campaign(request.user, campaign),
        "limits_form": LimitsForm(initial=limits, campaign=campaign),
        "give_form": GiveForm(drafts=drafts) if drafts else None,
        "has_score": campaign.judging.has_score,
        "runs_it": runs_campaign(request.user, campaign),
    } | changed
    forms = [value for name, value in changed.items() if name.endswith("_form")]
    status = 422 if any(form.errors for form in forms) else 200
    return render(request, "annotation/adjudication.html", context, status=status)


@researcher_required
@require_POST
def gold_give(request: HttpRequest, slug: str) -> HttpResponse:
    """Make practice or gold items of another campaign from the decisions."""
    campaign = campaign_for_admin(request, slug)
    drafts = gold_targets(campaign, request.user)
    form = GiveForm(request.POST, drafts=drafts)
    if not form.is_valid():
        return _page(request, campaign, give_form=form)
    target = next(each for each in drafts if each.slug == form.cleaned_data["target"])
    kind, tolerance = form.cleaned_data["kind"], form.cleaned_data["tolerance"]
    try:
        actor = signed_in(request)
        number = give(campaign=campaign, target=target, kind=kind, tolerance=tolerance, actor=actor)
        messages.success(request, f"{pluralize(number, 'item')} added to {target.name}.")
        if n_twice := met_twice(target):
            items = pluralize(n_twice, "item is", "items are")
            messages.warning(
                request,
                f"{items} known and rated there as well: its annotators meet these texts twice.",
            )
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("adjudication", slug=slug)


@researcher_required
@takes(NOTHING)
def gold_file(request: HttpRequest, slug: str, fmt: str) -> StreamingHttpResponse:
    """The decisions as CSV, JSON, or an archive in the layout of mt-metrics-eval."""
    campaign = campaign_for_reader(request, slug)
    pieces: Any
    if fmt == "csv":
        pieces, kind, suffix = csv_lines(COLUMNS, rows(campaign)), "text/csv", "csv"
    elif fmt == "json":
        pieces, kind, suffix = json_list(campaign), "application/json", "json"
    elif fmt == "mtme":
        pieces, kind, suffix = zip_bytes(bundle(campaign)), "application/zip", "mtme.zip"
    else:
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{slug}-adjudicated.{suffix}"'}
    return StreamingHttpResponse(pieces, content_type=f"{kind}; charset=utf-8", headers=headers)
