"""Saved selections of a scatter plot: kept by name, shared by address, deleted by owners."""

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.access import campaign_for_reader, researcher_required
from annotation.filters import FilterError
from annotation.filters.chosen import check
from annotation.models import Campaign
from annotation.web.errors import refuse
from annotation.web.parameters import NOTHING, takes
from dashboards.models import Selection
from dashboards.scatter.document import ScatterChoice
from dashboards.scatter.page import SCATTER, verify

# So many a campaign: a list that somebody still reads.
MOST = 200
REFUSED = "This selection cannot be saved"


class SelectionForm(forms.Form):
    """A name, what is said of it, and the query of the plot's address."""

    name = forms.CharField(max_length=80)
    note = forms.CharField(max_length=2000, required=False)
    query = forms.CharField(max_length=4000, required=False)


@researcher_required
@require_POST
def save(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep what the plot shows under a name."""
    campaign = campaign_for_reader(request, slug)
    form = SelectionForm(request.POST)
    if not form.is_valid():
        problems = "; ".join(f"{name}: {each[0]}" for name, each in form.errors.items())
        return refuse(request, 400, REFUSED, problems)
    try:
        query = checked(campaign, QueryDict(form.cleaned_data["query"].removeprefix("?")))
    except FilterError as error:
        return refuse(request, 400, REFUSED, error.message)
    name = form.cleaned_data["name"].strip()
    if campaign.selections.filter(name=name).exists():
        return refuse(request, 400, REFUSED, f"There is a selection “{name}” already.")
    if campaign.selections.count() >= MOST:
        return refuse(request, 400, REFUSED, f"There are {MOST} selections; delete some first.")
    found = Selection.objects.create(
        campaign=campaign,
        owner_id=request.user.pk,
        name=name,
        note=form.cleaned_data["note"].strip(),
        query=query,
    )
    messages.success(request, f"“{name}” is saved. Its address can be shared.")
    return redirect(_plot(found))


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
    """The plot that a selection chose, which tells its name and note."""
    address = reverse("scatter", args=[found.campaign.slug])
    return f"{address}{found.query}{'&' if found.query else '?'}selection={found.pk}"


@researcher_required
@require_safe
@takes(NOTHING)
def show(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Lead to the plot."""
    campaign = campaign_for_reader(request, slug)
    return redirect(_plot(get_object_or_404(Selection, campaign=campaign, pk=pk)))


@researcher_required
@require_POST
def delete(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Delete a selection of one's own."""
    campaign = campaign_for_reader(request, slug)
    found = get_object_or_404(Selection, campaign=campaign, pk=pk)
    if found.owner_id != request.user.pk:
        raise PermissionDenied("Only who saved a selection deletes it.")
    found.delete()
    messages.success(request, f"“{found.name}” is deleted.")
    return redirect("scatter", slug=slug)
