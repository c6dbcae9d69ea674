"""The queue of items on which annotators differ, and gold items from the decisions."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
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
from core.messages import messages_of, sentences

PER_PAGE = 50


@researcher_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@takes(Parameters(frozenset({"page"})))
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the queue; by POST, search for items that exceed the submitted limits."""
    campaign = campaign_for_reader_or_reviewer(request, slug)
    if request.method != "POST":
        return _page(request, campaign)
    campaign = campaign_for_reviewer(request, slug)
    form = LimitsForm(request.POST, campaign=campaign)
    if not form.is_valid():
        return _page(request, campaign, limits_form=form)
    limits = {"gap": None, "overlap": None} | form.cleaned_data
    found = find(campaign=campaign, **limits)
    new = ngettext("Added %(n)s item to the queue.", "Added %(n)s items to the queue.", found.n_new)
    gone = ngettext("Removed %(n)s item.", "Removed %(n)s items.", found.n_gone)
    for text, n in ((new, found.n_new), (gone, found.n_gone)):
        messages.success(request, text % {"n": f"{n:,}"})
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
    """Add practice or gold items made from the decisions to another campaign."""
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
        text = ngettext(
            "Added %(n)s item to %(campaign)s.", "Added %(n)s items to %(campaign)s.", number
        )
        messages.success(request, text % {"n": f"{number:,}", "campaign": target.name})
        if n_twice := met_twice(target):
            text = ngettext(
                "%(n)s gold or practice item is also rated in that campaign, so its annotators "
                "see the same text twice.",
                "%(n)s gold or practice items are also rated in that campaign, so its annotators "
                "see the same texts twice.",
                n_twice,
            )
            messages.warning(request, text % {"n": f"{n_twice:,}"})
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)))
    return redirect("adjudication", slug=slug)


@researcher_required
@takes(NOTHING)
def gold_file(request: HttpRequest, slug: str, fmt: str) -> StreamingHttpResponse:
    """Return the decisions as CSV, JSON, or an archive in the layout of mt-metrics-eval."""
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
