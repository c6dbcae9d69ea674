"""Show the WMT tasks of a study: the ranking of metrics, and our estimates beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.filters.form import filter_choices
from annotation.models import Campaign
from annotation.web.parameters import takes
from dashboards.documents import results
from dashboards.pages.answers import (
    data_query,
    data_response,
    empty,
    is_unfinished,
    no_document,
    parameters,
    public,
)
from dashboards.pages.page import study_campaigns, with_units
from dashboards.papers import latex
from dashboards.papers.wmt import RESCALED, wmt_table
from dashboards.papers.wmt import Place as Ranked
from dashboards.papers.wmt import Task as Column
from dashboards.trust.marks import forbidden
from dashboards.trust.shown import comments, judged, worst_of
from extensions.studies.wmt import AVERAGE, Task, WmtChoice, WmtTasks, without_ranks
from metaeval.messages import Message, message
from metaeval.wmt import YEARS

COLUMNS = (
    "task", "campaign", "statistic", "weight", "metric", "label", "value", "rank", "mean_rank",
    "own_value", "low", "high", "own_rank", "unit", "n_units", "n_systems", "n_segments",
)  # fmt: skip
SHORT = {
    "accuracy": "accuracy",
    "sys-pearson": "sys r",
    "seg-pearson": "seg r",
    "acc-eq": "acc-eq",
    "spa": "SPA",
}
TAKES = parameters("wmt", without=("others",))


@dataclass(frozen=True)
class Line:
    """A metric in a task, or its average, as a row of a file."""

    task: str
    campaign: str
    statistic: str
    weight: float | None
    metric: str
    label: str
    value: float | None
    rank: int | None
    mean_rank: float | None
    own_value: float | None
    low: float | None
    high: float | None
    own_rank: int | None
    unit: str
    n_units: int | None
    n_systems: int | None
    n_segments: int | None


def lines(document: WmtTasks) -> Iterator[Line]:
    """Yield the averages and every metric of every task."""
    for each in document.ranking:
        yield Line(AVERAGE, "", "", 1.0, **vars(each), unit="", n_units=None, n_systems=None,
                   n_segments=None)  # fmt: skip
    for task in document.tasks:
        for each in task.places:
            yield Line(task.name, task.campaign, task.statistic, task.weight, **vars(each),
                       unit=task.unit, n_units=task.n_units, n_systems=task.n_systems,
                       n_segments=task.n_segments)  # fmt: skip


def latest(
    study: str, campaigns: Sequence[Campaign], filters: WmtChoice
) -> results.Result[WmtTasks]:
    """Return the newest document with the verdict, without the ranks that this does not permit."""
    question = filters.over(campaigns)
    shared = question.shared()
    found = [results.latest("wmt", campaigns[0], question)]
    found += [results.latest("trust", each, shared) for each in campaigns]

    def combined(documents: Sequence[Any]) -> WmtTasks:
        tasks, *trusts = documents
        refused = frozenset(
            each.slug
            for each, trust in zip(campaigns, trusts, strict=True)
            if forbidden(trust) and each.slug in tasks.names
        )
        known: WmtTasks = judged(without_ranks(tasks, refused), worst_of(trusts))
        return known

    return results.together(found, combined)


@researcher_required
@require_safe
@takes(TAKES)
def study_wmt(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """Show the tasks of a year of WMT over the campaigns of a study; with `fmt` their numbers."""
    campaigns = study_campaigns(request, slug)
    filters = WmtChoice.from_query(request.GET)
    result: results.Result[Any] = (
        latest(slug, campaigns, filters) if campaigns else results.Result(None, None, is_fresh=True)
    )
    document, name = result.document, filters.file_name(f"{slug}-wmt")
    as_of = result.as_of.isoformat(timespec="seconds") if result.as_of else None
    if fmt:
        if document is None or is_unfinished(result):
            return no_document(result)
        if fmt == "tex":
            head = f"% {name}, as of {as_of}\n{comments(document.trust)}"
            tables = with_units([table(document, name)], document.over)
            return latex.response(tables, name, head=head)
        rows = list(lines(document))
        data = public(document, as_of=as_of, is_fresh=result.is_fresh, filters=filters.as_json())
        return data_response(fmt, name, COLUMNS, rows, data)
    if request.headers.get("If-None-Match") == result.tag:
        return HttpResponseNotModified()
    shown: dict[str, Any] = {
        "study": slug,
        "campaigns": campaigns,
        "section": "studies",
        "tab": "wmt",
        "result": result,
        "document": document,
        "empty": empty(campaigns),
        "years": [str(year) for year in YEARS],
        "query": data_query(request.GET),
        "filters": filters,
        "filter_choices": filter_choices(request.GET, campaigns, filters),
    }
    if document is not None:
        shown["heads"] = [(heading(document, each), each) for each in document.tasks]
        shown["rows"] = [(each, _cells(document, each.metric)) for each in document.ranking]
        shown["methods"] = [methods(document), RESCALED]
    response = render(request, "studies/wmt.html", shown)
    response["ETag"] = result.tag
    return response


def _cells(document: WmtTasks, metric: str) -> list[Any]:
    """Return a metric's place in every task; a metric with an average has all."""
    return [next(p for p in task.places if p.metric == metric) for task in document.tasks]


def heading(document: WmtTasks, task: Task) -> Message | str:
    """Return what stands above a task: its campaign, or that it is of all."""
    if task.campaign:
        return document.names[task.campaign]
    return message("wmt-task.of-all", "All campaigns")


def methods(document: WmtTasks) -> Message:
    """Return how ranks are computed."""
    return message(
        "wmt-task.methods",
        "Ranks are clusters by WMT’s tests, in which single outputs are swapped: at most {n} "
        "draws, p ≤ .05.",
        n=document.n_draws,
    )


def table(document: WmtTasks, label: str) -> latex.Table:
    """Return the ranking as a table for a paper."""
    columns = [
        Column(
            name=str(heading(document, task)),
            statistic=task.statistic,
            label=task.label,
            short=SHORT[task.statistic],
            places={
                place.metric: Ranked(place.label, place.value, place.rank) for place in task.places
            },
        )
        for task in document.tasks
    ]
    overall = {each.metric: (each.value, each.rank) for each in document.ranking}
    return wmt_table(columns, label, [methods(document)], overall)
