"""Answer programs: a document as JSON, its rows as CSV, or that there is none yet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.http import HttpResponse, JsonResponse, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.campaigns.facts import has_scores
from annotation.exports import table_response
from annotation.filters import FilterError
from annotation.models import Campaign
from annotation.web.parameters import Parameters
from core.messages import as_json
from dashboards.charts import files
from dashboards.comparisons.selection import EVERY
from dashboards.documents import kinds, results
from dashboards.documents.computing import encoded
from metaeval.messages import Message, message
from metrics.scores import measure_keys

# Columns after those of a table.
UNITS = ("unit", "n_units")


def no_document(result: results.Result[Any]) -> HttpResponseBase:
    """Answer while there are no numbers: 202 with Retry-After, or the error."""
    if result.message:
        error = result.message
        if result.failing:
            error = message(
                "part.failed",
                "This part could not be computed: {part}. {error}",
                part=result.failing,
                error=error,
            )
        return JsonResponse({"error": as_json(error)}, status=500)
    return JsonResponse({"status": "computing"}, status=202, headers={"Retry-After": "2"})


def is_unfinished(result: results.Result[Any], *, of_one_state: bool = False) -> bool:
    """Return whether a file of a result would lack a part: the verdict, intervals, a campaign.

    With `of_one_state`, all parts must also use the same state of the data of each campaign.
    """
    is_mixed = of_one_state and not result.is_of_one_state
    return result.document is None or not result.is_whole or is_mixed


def public(document: Any, **more: Any) -> dict[str, Any]:
    """Return the fields of a document, and others, as programs get them."""
    return {**vars(document), **more}


def data_response(
    fmt: str, name: str, columns: Sequence[str], rows: Sequence[Any], document: Any
) -> HttpResponseBase:
    """Answer with `rows` as CSV or with a document as JSON; 404 for another format."""
    if fmt == "json":
        return HttpResponse(encoded(document), content_type="application/json")
    units = _units(document) if isinstance(document, dict) else {}
    table = [row | units for row in cells(rows, columns)]
    return table_response(fmt, name, [*columns, *units], table, None)


def cells(rows: Sequence[Any], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the columns of every row."""
    return [{name: _cell(getattr(row, name)) for name in columns} for row in rows]


def _cell(value: Any) -> Any:
    """Return a value for a file: messages in English, several joined by semicolons."""
    if isinstance(value, Message):
        return value.text
    is_list = isinstance(value, list | tuple) and any(isinstance(each, Message) for each in value)
    return "; ".join(map(str, value)) if is_list else "" if value == [] else value


def _units(document: Any) -> dict[str, Any]:
    """The unit of intervals, for every row of a table of one campaign."""
    return {name: document[name] for name in UNITS} if document.get("unit") else {}


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
