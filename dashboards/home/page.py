"""The page of all campaigns, the home page of researchers."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.access import is_admin, researcher_required, signed_in
from annotation.models import Annotator, Campaign
from annotation.web.parameters import Parameters, page_of, takes
from dashboards.home import attention, listing
from dashboards.home.leaders import Leader, read_leaders
from dashboards.home.progress import Progress, read_progress

PER_PAGE = 50


@dataclass(frozen=True)
class Line:
    """One campaign of the list."""

    campaign: Campaign
    progress: Progress
    leader: Leader | None


@researcher_required
@takes(Parameters(listing.NAMES))
def campaign_list(request: HttpRequest) -> HttpResponse:
    """Show open tasks, and campaigns with progress, leading metric and last activity."""
    user = signed_in(request)
    choice = listing.read_choice(request.GET, user)
    page = page_of(request, listing.campaigns_of(user, choice), PER_PAGE)
    shown, mine = list(page), [] if choice.is_narrowed else attention.under_way(user)
    progress = read_progress(list({c.pk: c for c in (*shown, *mine)}.values()))
    leaders = read_leaders([c for c in shown if c.status != Campaign.Status.DRAFT])
    found, more = ([], 0) if choice.is_narrowed else attention.needs(user, mine, progress)
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "section": "campaigns",
        "choice": choice,
        "page": page,
        "lines": [Line(c, progress[c.pk], leaders.get(c.pk)) for c in shown],
        "needs": found,
        "more": more,
        "query": query.urlencode(),
        "states": listing.STATES.items(),
        "orders": listing.ORDERS.items(),
        "studies": listing.studies_of(user),
        "creates": is_admin(user),
        "rates": _rates(request),
    }
    return render(request, "dashboards/home.html", context)


def _rates(request: HttpRequest) -> bool:
    """Return whether the user also has something to rate."""
    parts = Annotator.objects.filter(user=signed_in(request), excluded_at=None)
    return parts.filter(campaign__status=Campaign.Status.OPEN).exists()
