"""Stage 5: the raw judgments of a campaign; what they come to is a page of `dashboards.quality`."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from annotation.access import campaign_for_reader, researcher_required
from annotation.exports import judgments_response


@researcher_required
def judgments(request: HttpRequest, slug: str, fmt: str) -> HttpResponseBase:
    """Every judgment of a campaign with its history, as CSV or JSON."""
    campaign = campaign_for_reader(request, slug)
    return judgments_response(campaign, fmt)
