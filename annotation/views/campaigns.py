"""Stage 2 on the page: create, staff, open and close campaigns."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation import campaigns
from annotation.access import (
    admin_required,
    campaign_for_admin,
    campaign_for_reader,
    researcher_required,
)
from annotation.campaigns import describe
from annotation.campaigns.facts import has_scores
from annotation.entry.places import renew
from annotation.forms.campaigns import AnnotatorsForm, CampaignForm, ratio_label
from annotation.models import Annotator, Campaign, Item, TestSet, listed
from annotation.protocols import Layout
from annotation.quality.reach import design_doubt

LINKS = "new_links"
MOST_DECISIONS = 100


@admin_required
def campaign_new(request: HttpRequest) -> HttpResponse:
    """Choose a test set, then describe the campaign."""
    context: dict[str, object] = {"section": "campaigns"}
    slug = request.GET.get("testset", "")
    if not slug:
        context["test_sets"] = listed(TestSet.objects.filter(systems__isnull=False)).distinct()
        return render(request, "annotation/campaign_new.html", context)
    test_set = get_object_or_404(TestSet, slug=slug)
    form = CampaignForm(request.POST or None, test_set=test_set)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(form.create(request.user))
        except ValidationError as error:
            form.add_error(None, error)
    context |= {"form": form, "test_set": test_set}
    return render(
        request, "annotation/campaign_new.html", context, status=422 if form.errors else 200
    )


@researcher_required
def campaign_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Where a campaign is entered: its results, or its setup while nobody has judged anything."""
    campaign = campaign_for_reader(request, slug)
    if has_scores(campaign):
        return redirect("results", slug)
    return _detail(request, campaign, AnnotatorsForm(campaign=campaign))


@researcher_required
def campaign_setup(request: HttpRequest, slug: str) -> HttpResponse:
    """Settings, annotators with progress, and what can be done next."""
    campaign = campaign_for_reader(request, slug)
    return _detail(request, campaign, AnnotatorsForm(campaign=campaign))


def _detail(request: HttpRequest, campaign: Campaign, form: AnnotatorsForm) -> HttpResponse:
    links = request.session.pop(f"{LINKS}:{campaign.pk}", [])
    people = campaigns.progress(campaign)
    counts = campaign.items.aggregate(
        targets=Count("pk", filter=Q(kind=Item.Kind.TARGET)),
        controls=Count("pk", filter=~Q(kind__in=(Item.Kind.TARGET, Item.Kind.DOCUMENT))),
    )
    context = {
        "campaign": campaign,
        "section": "campaigns",
        "tab": "overview",
        "systems": campaign.systems.order_by("name"),
        "length": ratio_label(campaign.length_ratio),
        "people": people,
        "assigned": sum(int(str(row["assigned"])) for row in people),
        "completed": sum(int(str(row["completed"])) for row in people),
        "counts": counts,
        "design": describe(campaign),
        "doubt": design_doubt(campaign) if campaign.status != Campaign.Status.CLOSED else "",
        "is_together": campaign.judging.layout == Layout.TOGETHER,
        "takes_annotators": campaigns.takes_annotators(campaign),
        "audit": campaign.audit.select_related("actor", "annotator")[:MOST_DECISIONS],
        "form": form,
        "links": [(label, request.build_absolute_uri(path)) for label, path in links],
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/campaign.html", context, status=status)


@researcher_required
@require_POST
def campaign_open(request: HttpRequest, slug: str) -> HttpResponse:
    """Open a draft, or a closed campaign again."""
    campaign = campaign_for_admin(request, slug)
    is_draft = campaign.status == Campaign.Status.DRAFT
    verb = campaigns.open_campaign if is_draft else campaigns.reopen_campaign
    try:
        verb(campaign=campaign)
        messages.success(request, "The campaign is open: annotators can start.")
        if is_draft and (doubt := design_doubt(campaign)):
            messages.warning(request, doubt)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("campaign-setup", campaign.slug)


@researcher_required
@require_POST
def campaign_close(request: HttpRequest, slug: str) -> HttpResponse:
    """Stop taking judgments."""
    campaign = campaign_for_admin(request, slug)
    try:
        campaigns.close_campaign(campaign=campaign)
        messages.success(request, "The campaign is closed: no more judgments are taken.")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("campaign-setup", campaign.slug)


@researcher_required
@require_POST
def annotators_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Add accounts and personal links to a draft, or to an open pool."""
    campaign = campaign_for_admin(request, slug)
    form = AnnotatorsForm(request.POST, campaign=campaign)
    if not form.is_valid():
        return _detail(request, campaign, form)
    try:
        invitations = campaigns.add_annotators(
            campaign=campaign,
            users=form.cleaned_data["users"],
            links=form.cleaned_data["links"] or 0,
        )
    except ValidationError as error:
        form.add_error(None, error)
        return _detail(request, campaign, form)
    _show_once(request, campaign, invitations)
    return redirect("campaign-setup", campaign.slug)


@researcher_required
@require_POST
def annotator_link(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Replace an annotator's personal link."""
    campaign = campaign_for_admin(request, slug)
    annotator = get_object_or_404(
        Annotator.objects.select_related("campaign", "user"), campaign=campaign, pk=pk
    )
    try:
        invitation = renew(annotator=annotator)
        _show_once(request, annotator.campaign, [invitation])
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("campaign-setup", annotator.campaign.slug)


def _show_once(
    request: HttpRequest, campaign: Campaign, invitations: list[campaigns.Invitation]
) -> None:
    """Keep fresh links for the next page only; the database holds nothing but their hashes."""
    if invitations:
        request.session[f"{LINKS}:{campaign.pk}"] = [
            (invitation.annotator.label, reverse("personal-link", args=[invitation.token]))
            for invitation in invitations
        ]
