"""Pages to create, edit, open and close campaigns, and to download their raw judgments."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation import campaigns
from annotation.access import (
    campaign_for_admin,
    campaign_for_reader,
    researcher_required,
    reviewed_campaigns,
)
from annotation.campaigns import describe
from annotation.campaigns.facts import has_scores
from annotation.campaigns.readiness import title_warnings
from annotation.exports import judgments_response
from annotation.models import Campaign, Item
from annotation.models.assignment import wanted
from annotation.presets import ratio_label
from annotation.quality.reach import design_warnings
from annotation.web.parameters import JUDGMENTS, read_filters, takes
from core.caching import Cache
from core.messages import messages_of, sentences
from metaeval.messages import Message

MOST_DECISIONS = 100


@researcher_required
def campaign_detail(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show the results of a campaign, or its setup before anything was judged.

    Reviewers without another role are sent to the adjudication queue.
    """
    if reviewed_campaigns(request.user).filter(slug=slug).exists():
        return redirect("adjudication", slug)
    campaign = campaign_for_reader(request, slug)
    if has_scores(campaign):
        return redirect("results", slug)
    return campaign_setup(request, slug)


_kinds: Cache[dict[str, int]] = Cache(4096)


def _counts(campaign: Campaign) -> dict[str, int]:
    """Count targets, control items and practice; those of a closed campaign are counted once."""
    key = campaign.pk, campaign.created_at, campaign.closed_at
    kinds = _kinds.get(key) if campaign.status == Campaign.Status.CLOSED else None
    if kinds is None:
        # By kind, for which an index suffices.
        rows = campaign.items.order_by().values_list("kind").annotate(n=Count("pk"))
        kinds = dict(rows)
        _kinds.put(key, kinds, 1)
    not_controls = (Item.Kind.TARGET, Item.Kind.DOCUMENT, Item.Kind.TUTORIAL)
    return {
        "targets": kinds.get(Item.Kind.TARGET, 0),
        "controls": sum(n for kind, n in kinds.items() if kind not in not_controls),
        "practice": kinds.get(Item.Kind.TUTORIAL, 0),
    }


@researcher_required
def campaign_setup(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the task, the design and the decisions of a campaign."""
    campaign = campaign_for_reader(request, slug)
    completed, assigned, _is_complete = wanted(campaign)
    context = {
        "campaign": campaign,
        "section": "campaigns",
        "tab": "overview",
        "systems": campaign.systems.order_by("name"),
        "length": ratio_label(campaign.length_ratio),
        "assigned": assigned,
        "completed": completed,
        "counts": _counts(campaign),
        "design": describe(campaign),
        "design_warnings": _warnings(campaign) if campaign.status != Campaign.Status.CLOSED else (),
        "is_together": campaign.judging.layout.has_systems,
        "audit": campaign.audit.select_related("actor", "annotator")[:MOST_DECISIONS],
    }
    return render(request, "annotation/campaign.html", context)


def _warnings(campaign: Campaign) -> list[Message]:
    """Return what does not prevent opening, but should be changed before."""
    return [*design_warnings(campaign), *title_warnings(campaign)]


@researcher_required
@require_POST
def campaign_open(request: HttpRequest, slug: str) -> HttpResponse:
    """Open a draft, or a closed campaign again."""
    campaign = campaign_for_admin(request, slug)
    open_or_say(request, campaign)
    return redirect("access", campaign.slug)


def open_or_say(request: HttpRequest, campaign: Campaign) -> None:
    """Open a campaign, or explain on the next page why it cannot be opened."""
    is_draft = campaign.status == Campaign.Status.DRAFT
    verb = campaigns.open_campaign if is_draft else campaigns.reopen_campaign
    try:
        verb(campaign=campaign)
        messages.success(request, _("The campaign is open: annotators can start."))
        if is_draft and (warnings := _warnings(campaign)):
            messages.warning(request, sentences(warnings))
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)))


@researcher_required
@require_POST
def campaign_close(request: HttpRequest, slug: str) -> HttpResponse:
    """Stop taking judgments."""
    campaign = campaign_for_admin(request, slug)
    try:
        campaigns.close_campaign(campaign=campaign)
        messages.success(request, _("The campaign is closed: no more ratings are accepted."))
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)))
    return redirect("campaign-setup", campaign.slug)


@researcher_required
@takes(JUDGMENTS)
def judgments(request: HttpRequest, slug: str, fmt: str) -> HttpResponseBase:
    """Return the judgments of a campaign with their history, as CSV or JSON."""
    campaign = campaign_for_reader(request, slug)
    return judgments_response(campaign, fmt, read_filters(request, campaign))
