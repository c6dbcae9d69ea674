"""Save selections of a scatter plot under a name, share them by address, and delete them."""

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotation.access import campaign_for_reader, researcher_required, signed_in
from annotation.filters import FilterError
from annotation.filters.chosen import check
from annotation.models import Campaign
from annotation.web.errors import refuse
from annotation.web.parameters import NOTHING, takes
from core.messages import translated
from dashboards.models import Selection
from dashboards.scatter.document import ScatterChoice
from dashboards.scatter.page import SCATTER, verify
from metaeval.messages import Message, message

# The most selections of a campaign.
MOST = 200
REFUSED = message("selection.refused", "This selection cannot be saved")
NOT_YOURS = message("selection.not-yours", "Only the user who saved a selection can delete it.")


class SelectionForm(forms.Form):
    """A name, a note, and the query of the plot's address."""

    name = forms.CharField(max_length=80)
    note = forms.CharField(max_length=2000, required=False)
    query = forms.CharField(max_length=4000, required=False)


@researcher_required
@require_POST
def save(request: HttpRequest, slug: str) -> HttpResponse:
    """Save what the plot shows under a name."""
    campaign = campaign_for_reader(request, slug)
    form = SelectionForm(request.POST)
    if not form.is_valid():
        name, errors = next(iter(form.errors.items()))
        problem = message("selection.field", "{field}: {error}", field=name, error=errors[0])
        return _refused(request, problem)
    try:
        query = checked(campaign, QueryDict(form.cleaned_data["query"].removeprefix("?")))
    except FilterError as error:
        return _refused(request, error.message)
    name = form.cleaned_data["name"].strip()
    if campaign.selections.filter(name=name).exists():
        return _refused(
            request,
            message(
                "selection.name-taken", "There is already a selection named “{name}”.", name=name
            ),
        )
    if campaign.selections.count() >= MOST:
        return _refused(
            request,
            message(
                "selection.too-many",
                "There are {most} selections, which is the limit. Delete some first.",
                most=MOST,
            ),
        )
    found = Selection.objects.create(
        campaign=campaign,
        owner=signed_in(request),
        name=name,
        note=form.cleaned_data["note"].strip(),
        query=query,
    )
    notice = gettext("Saved “%(name)s”. You can share its address.") % {"name": name}
    messages.success(request, notice)
    return redirect(_plot(found))


def _refused(request: HttpRequest, problem: Message) -> HttpResponse:
    return refuse(request, 400, translated(REFUSED), problem)


def checked(campaign: Campaign, query: QueryDict) -> str:
    """Return the query without defaults, of a plot that the campaign has. Raises FilterError."""
    query = query.copy()
    for name in ("output", "selection"):
        query.pop(name, None)
    SCATTER.parameters().check(query)
    filters = ScatterChoice.from_query(query)
    check(campaign, filters)
    verify(campaign, filters)
    return filters.query()


def _plot(found: Selection) -> str:
    """Return the address of a selection's plot, which shows its name and note."""
    address = reverse("scatter", args=[found.campaign.slug])
    return f"{address}{found.query}{'&' if found.query else '?'}selection={found.pk}"


@researcher_required
@require_safe
@takes(NOTHING)
def show(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Redirect to the plot."""
    campaign = campaign_for_reader(request, slug)
    return redirect(_plot(get_object_or_404(Selection, campaign=campaign, pk=pk)))


@researcher_required
@require_POST
def delete(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Delete a selection of the user."""
    campaign = campaign_for_reader(request, slug)
    found = get_object_or_404(Selection, campaign=campaign, pk=pk)
    if found.owner_id != request.user.pk:
        raise PermissionDenied(NOT_YOURS)
    found.delete()
    messages.success(request, gettext("Deleted “%(name)s”.") % {"name": found.name})
    return redirect("scatter", slug=slug)
