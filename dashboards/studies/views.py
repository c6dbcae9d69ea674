"""The list of studies; pages with a document of their own are in `pages`."""

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.access import researcher_required, visible_campaigns
from annotation.web.parameters import NOTHING, takes


@researcher_required
@takes(NOTHING)
def studies(request: HttpRequest) -> HttpResponse:
    """All studies with their campaigns."""
    campaigns = visible_campaigns(request.user).exclude(study="")
    rows = campaigns.values("study").annotate(n=Count("pk")).order_by("study")
    return render(request, "dashboards/studies.html", {"studies": rows, "section": "studies"})
