"""Stage 5: the raw judgments of a campaign; what they come to: `dashboards.quality.page`."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from annotation.access import campaign_for_reader, researcher_required
from annotation.exports import judgments_response
from annotation.web.parameters import JUDGMENTS, read_filters, takes


@researcher_required
@takes(JUDGMENTS)
def judgments(request: HttpRequest, slug: str, fmt: str) -> HttpResponseBase:
    """The judgments of a campaign with their history, as CSV or JSON."""
    campaign = campaign_for_reader(request, slug)
    return judgments_response(campaign, fmt, read_filters(request, campaign))
