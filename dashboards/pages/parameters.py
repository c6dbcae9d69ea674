"""Parameters in the addresses of a page, of its data and of its figures."""

from collections.abc import Callable, Sequence
from dataclasses import fields

from django.http import QueryDict

from annotation.filters import FilterError
from annotation.models import Campaign
from annotation.web.parameters import Parameters
from dashboards.charts import files
from dashboards.comparisons.selection import EVERY
from dashboards.documents import kinds
from metaeval.messages import message
from metrics.scores import measure_keys


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
