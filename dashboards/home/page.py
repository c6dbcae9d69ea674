"""The page of all campaigns, the home page of researchers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.access import is_admin, researcher_required, signed_in
from annotation.models import Annotator, Campaign
from annotation.web.parameters import Parameters, page_of, takes
from dashboards.home import attention, listing
from dashboards.home.leaders import Leader, read_leaders
from dashboards.home.progress import Progress, read_progress

PER_PAGE = 100
# Closed campaigns without a study are folded if there are more.
MOST_CLOSED = 3


@dataclass(frozen=True)
class Line:
    """One campaign of the list."""

    campaign: Campaign
    progress: Progress
    leader: Leader | None


@dataclass(frozen=True)
class Group:
    """Lines that are shown together: a study, a single campaign, or closed ones without a study.

    `is_folded` says whether only the group's own line is shown at first.
    """

    study: str
    lines: Sequence[Line]
    is_folded: bool

    @property
    def n_open(self) -> int:
        """The number of open campaigns."""
        return sum(line.campaign.status == Campaign.Status.OPEN for line in self.lines)

    @property
    def rated(self) -> int:
        """The number of existing ratings."""
        return sum(line.progress.rated for line in self.lines)

    @property
    def total(self) -> int:
        """The number of planned ratings."""
        return sum(line.progress.total for line in self.lines)

    @property
    def last(self) -> datetime | None:
        """The time of the last rating."""
        return max(filter(None, (line.progress.last for line in self.lines)), default=None)


def grouped(lines: Sequence[Line], choice: listing.Choice) -> list[Group]:
    """Return lines in groups, each where its first line is.

    What a reader looked for, or put in an order of single campaigns, is not folded.
    """
    if choice.is_narrowed or choice.sort not in ("open", "rated", "study"):
        return [Group("", lines, is_folded=False)]
    is_closed = [
        not line.campaign.study and line.campaign.status == Campaign.Status.CLOSED for line in lines
    ]
    folds_closed = sum(is_closed) > MOST_CLOSED
    found: dict[object, list[Line]] = {}
    for line, closed in zip(lines, is_closed, strict=True):
        alone = "" if closed and folds_closed else line.campaign.pk
        found.setdefault(line.campaign.study or alone, []).append(line)
    return [
        Group(group[0].campaign.study, group, is_folded=len(group) > 1) for group in found.values()
    ]


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
        "groups": grouped([Line(c, progress[c.pk], leaders.get(c.pk)) for c in shown], choice),
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
