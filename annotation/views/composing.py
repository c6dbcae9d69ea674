"""Pages on which an admin sets up a campaign: its task, and its custom answers.

A draft is stored with the first change. Scripts send each further change as JSON requests to the
same addresses, with the version of the draft that the page knows.
"""

from collections.abc import Callable
from functools import partial
from itertools import chain

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.access import (
    admin_required,
    campaign_for_admin,
    researcher_required,
    signed_in,
    test_set_for_reader,
    visible_test_sets,
)
from annotation.campaigns.readiness import lacks_people
from annotation.campaigns.shares import has_imported_items
from annotation.forms.campaign.editing import (
    CHANGED,
    IMPORTED,
    ChangedError,
    DraftForm,
    create_once,
    draft_of,
    with_preset,
)
from annotation.forms.campaign.form import CampaignForm
from annotation.models import Campaign, listed
from annotation.presets import USUAL, Fit, fitting, offered
from annotation.views.preview import draw, errors_of
from annotation.web.errors import wants_json
from core.messages import translated
from metaeval.messages import Message, message

N_FIRST = 4
PAGES = {"task": "campaign-edit", "answers": "campaign-answers"}
OPENED = message(
    "campaign.opened",
    "This campaign has been opened and can no longer be edited. Make a copy instead.",
)


@admin_required
def campaign_new(request: HttpRequest) -> HttpResponseBase:
    """Choose a test set, then describe the campaign."""
    slug = request.GET.get("testset", "")
    if not slug:
        rows = visible_test_sets(request.user).filter(systems__isnull=False)
        test_sets = listed(rows).distinct()
        if not test_sets:
            return redirect("testset-upload")
        context = {"section": "campaigns", "test_sets": test_sets}
        return render(request, "annotation/campaign_new.html", context)
    test_set = test_set_for_reader(request, slug)
    if request.method != "POST":
        preset = fitting(test_set, request.GET.get("preset", ""))
        return _page(request, CampaignForm(test_set=test_set, preset=preset))
    user, key = signed_in(request), request.POST.get("key", "")
    if created := draft_of(user, key):
        return campaign_edit(request, created.slug)
    data = with_preset(request.POST, test_set) if "preset" in request.POST else request.POST
    form = CampaignForm(data, test_set=test_set)
    return _save(request, form, partial(create_once, form, user, key))


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_edit(request: HttpRequest, slug: str, part: str = "task") -> HttpResponse:
    """Change a draft; refuse campaigns that were opened or whose items were imported."""
    campaign = campaign_for_admin(request, slug)
    is_draft = campaign.status == Campaign.Status.DRAFT
    if not is_draft or has_imported_items(campaign):
        return _refuse(request, campaign, IMPORTED if is_draft else OPENED)
    if request.method != "POST":
        return _page(request, DraftForm(campaign=campaign), campaign, part)
    has_preset = "preset" in request.POST
    data = with_preset(request.POST, campaign.test_set) if has_preset else request.POST
    form = DraftForm(data, campaign=campaign)
    store = partial(form.change, is_left=not wants_json(request))
    return _save(request, form, store, part)


def _refuse(request: HttpRequest, campaign: Campaign, why: Message) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"errors": {"__all__": [translated(why)]}}, status=422)
    messages.error(request, translated(why))
    return redirect("campaign-setup", campaign.slug)


def _save(
    request: HttpRequest,
    form: CampaignForm,
    store: Callable[[], Campaign],
    part: str = "task",
) -> HttpResponse:
    """Store a form, and answer with the next page, with what to correct, or with JSON."""
    campaign, status = None, 422
    if form.is_valid():
        try:
            campaign, status = store(), 200
        except ValidationError as error:
            form.add_error(None, error)
        except ChangedError:
            form.add_error(None, ValidationError([CHANGED]))
            status = 409
    if wants_json(request):
        return _json(request, form, campaign, part, status)
    if campaign is None:
        before = form.before if isinstance(form, DraftForm) else None
        return _page(request, form, before, part, status)
    if request.POST.get("then") == "answers":
        return redirect("campaign-answers", campaign.slug)
    if "preset" in request.POST or part == "answers":
        return redirect("campaign-edit", campaign.slug)
    return redirect("access" if lacks_people(campaign) else "campaign-setup", campaign.slug)


def _json(
    request: HttpRequest, form: CampaignForm, campaign: Campaign | None, part: str, status: int
) -> JsonResponse:
    answer = {"html": draw(request, form), "errors": errors_of(form), "groups": form.summaries}
    if campaign:
        answer["address"] = reverse(PAGES[part], args=[campaign.slug])
        form = form if isinstance(form, DraftForm) else DraftForm(campaign=campaign)
    if isinstance(form, DraftForm):
        answer["version"] = form.version
    return JsonResponse(answer, status=status)


def _page(
    request: HttpRequest,
    form: CampaignForm,
    campaign: Campaign | None = None,
    part: str = "task",
    status: int = 200,
) -> HttpResponse:
    """Render the task, or its custom answers."""
    first, more = _presets(form)
    context = {
        "section": "campaigns",
        "form": form,
        "test_set": form.test_set,
        "campaign": campaign,
        "part": part,
        "presets": first,
        "more": more,
        "lacks_people": campaign is None or lacks_people(campaign),
    }
    return render(request, f"annotation/campaign_{part}.html", context, status=status)


def _presets(form: CampaignForm) -> tuple[list[Fit], list[Fit]]:
    """Return the presets to show first, the chosen one included, and the others."""
    every = offered(form.test_set)
    able = sorted(
        (fit for fit in every if not fit.lacks), key=lambda fit: fit.preset.name not in USUAL
    )
    chosen = [fit for fit in able[N_FIRST:] if fit.preset == form.preset]
    first = list(chain(able[: N_FIRST - len(chosen)], chosen))
    return first, [fit for fit in every if fit not in first]
