"""Parameters in a page's addresses, and what a page shows when its numbers are missing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.campaigns.facts import has_scores
from annotation.filters import FilterError
from annotation.models import Campaign
from annotation.web.parameters import Parameters
from dashboards.charts import files
from dashboards.comparisons.selection import EVERY
from dashboards.documents import kinds
from metaeval.messages import message
from metrics.scores import measure_keys

# Explain a page without numbers: what is missing, why, and what to do next.


@dataclass(frozen=True)
class Empty:
    """A campaign, or all of several, without a human score."""

    why: Promise
    label: Promise
    address: str


def empty(campaigns: Sequence[Campaign]) -> Empty | None:
    """Return why there are no human scores yet; None where somebody has judged."""
    if not campaigns or any(map(has_scores, campaigns)):
        return None
    drafts = [each for each in campaigns if each.status == Campaign.Status.DRAFT]
    if len(drafts) == len(campaigns):
        address = reverse("campaign-setup", args=[drafts[0].slug])
        return Empty(
            _("The campaign is a draft and accepts no ratings yet."), _("Open campaign"), address
        )
    if all(each.status != Campaign.Status.OPEN for each in campaigns):
        address = reverse("campaign-setup", args=[campaigns[0].slug])
        return Empty(
            _("The campaign was closed before anybody rated."), _("Reopen campaign"), address
        )
    address = reverse("monitor", args=[campaigns[0].slug])
    return Empty(_("The campaign is open and has no ratings yet."), _("View progress"), address)


def parameters(
    kind: str,
    takes: Sequence[str] = (),
    repeated: Sequence[str] = (),
    on_page: Sequence[str] = (),
    without: Sequence[str] = (),
) -> Callable[..., Parameters]:
    """Return a function that gives the parameters of each address of a page; see `Page`."""

    def at(fmt: str = "", figure: str = "", **_: str) -> Parameters:
        known = [field.name for field in fields(kinds.filters_of(kind))]
        own = [name for name in known if name not in without]
        others = files.MARKS if figure else () if fmt else on_page
        return Parameters().and_others(*own, *takes, *others, repeated=repeated)

    return at


def data_query(query: QueryDict, on_page: Sequence[str] = ()) -> str:
    """Return the query of a page's data and figures, without parameters of the page alone."""
    others = query.copy()
    for name in on_page:
        others.pop(name, None)
    return f"?{others.urlencode()}" if others else ""


def require_measures(query: QueryDict, campaigns: Sequence[Campaign]) -> None:
    """Raise FilterError for a measure in an address that no metric has for these campaigns."""
    wanted = {key for key in query.getlist("metric") if key} - {EVERY}
    if not wanted:
        return
    known = {key for each in campaigns for key in measure_keys(each.test_set)}
    if strangers := wanted - known:
        raise FilterError(
            message(
                "filter.no-scores", "metric: “{metric}” has no scores here.", metric=min(strangers)
            )
        )
