"""The first page of a campaign's results."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.filters import Filters
from annotation.models import Campaign
from annotation.models.assignment import wanted
from dashboards.charts.lines import chart, narrow
from dashboards.correlations.bounded import floored
from dashboards.correlations.page import unscored
from dashboards.documents import results
from dashboards.pages.page import Page
from dashboards.papers import latex
from dashboards.results import home
from dashboards.results.answer import Scored, estimate, number
from dashboards.results.document import Home, Line, Mark
from dashboards.results.figures import FIGURES, ranks
from dashboards.results.steps import action, steps
from dashboards.trust.shown import with_trust

# More metrics than these are a table of their own: the leading ones are drawn. Of fewer all are,
# the leading ones at once.
MANY, LEADING = 40, 12
HUMAN_TRANSLATION = "human translation"
COLUMNS = (
    *("campaign", "key", "label", "value", "low", "high", "rank", "is_best", "p"),
    *(
        "beside_value",
        "beside_low",
        "beside_high",
        "beside_rank",
        "beside_is_best",
        "kind",
        "floor",
    ),
)


@dataclass(frozen=True)
class Praise:
    """Something that speaks for the numbers, as a mark and in a sentence."""

    brief: str
    text: str


@dataclass(frozen=True)
class HomePage(Page[Home]):
    """A page of several analyses."""

    def latest(self, query: QueryDict, campaign: Campaign, filters: Filters) -> results.Result[Any]:
        """The newest of all of them, with the verdict of trust."""
        return with_trust(home.latest(query, campaign, filters), campaign, filters)


def context(request: HttpRequest, campaign: Campaign, document: Home) -> dict[str, Any]:
    """The drawings, what speaks for the numbers, and what to do next."""
    startable, _ = unscored(campaign, document.all_metrics)
    done, total, is_complete = wanted(campaign)
    shown = document.rows[:LEADING] if len(document.rows) > MANY else document.rows
    drawn = chart(shown, [line.beside for line in shown])
    n_first = len(shown) if len(shown) <= LEADING + 2 else LEADING
    return {
        "is_drawn": drawn.ours is not None,
        "action": action(campaign, document),
        "chart": drawn,
        "leading": drawn.lines[:n_first],
        "others": drawn.lines[n_first:],
        "n_hidden": len(document.rows) - len(shown),
        "standings": _standings(document),
        "praise": praise(document),
        "steps": steps(campaign, document, startable),
        "progress": None if is_complete or not total else {"done": done, "total": total},
    }


def _standings(document: Home) -> dict[str, Any]:
    every = [*document.systems, *document.humans]
    found, dots = narrow(every)
    lines = [
        {
            "name": s.system,
            "is_lead": s.cluster == 1,
            "dot": each,
            "note": HUMAN_TRANSLATION if s in document.humans else ranks(s),
            "is_human": s in document.humans,
        }
        for s, each in zip(every, dots, strict=True)
    ]
    return {"axis": found, "lines": lines}


def praise(document: Home) -> list[Praise]:
    """What speaks for the numbers: agreement that is not none, annotators who pass."""
    found = []
    low, high = document.alpha_ends or (None, None)
    if document.alpha is not None and low is not None and low > 0:
        shown = estimate(Scored("", "", document.alpha, low, high), "α")
        text = f"Krippendorff’s α is {number(document.alpha)}, with a 95 % interval over outputs."
        found.append(Praise(f"agreement {shown}", text))
    if document.n_tested and document.n_passed == document.n_tested:
        n = document.n_tested
        text = "Whoever was given enough traps or gold items passed them."
        found.append(Praise(f"{n} of {n} annotators pass their control items", text))
    return found


def tables(document: Home) -> list[latex.Table]:
    """A table for each level: what is said of the first is not true of the other."""
    answer = document.answer
    said = (answer.text, answer.detail, *document.older, document.marks, document.floor_marks)
    ours = [_row(floored(line.label, line.floor), line) for line in document.rows]
    found = [_table(document, " ".join(filter(None, said)), document.statistic_label, ours)]
    if any(line.beside.value is not None for line in document.rows):
        theirs = [_row(line.label, line.beside) for line in document.rows]
        caption = f"{document.beside_label}. Metrics stand as in the table before."
        caption = f"{caption} {document.beside_marks}".strip()
        found.append(_table(document, caption, document.beside_label, theirs, "-beside"))
    return found


def _row(label: str, mark: Line | Mark) -> latex.Row:
    return [
        latex.Cell(label),
        latex.Cell("–" if mark.rank is None else str(mark.rank)),
        latex.number(mark.value, is_bold=mark.is_best),
        latex.Cell(latex.interval(mark.low, mark.high) or "–"),
    ]


def _table(
    document: Home, caption: str, label: str, body: list[latex.Row], suffix: str = ""
) -> latex.Table:
    head = latex.texts("Metric", "Rank", label, "95% interval")
    return latex.Table(caption, f"{document.campaign}-results{suffix}", "lrrr", [head], body)


RESULTS = HomePage(
    name="results",
    title="Results",
    kind="results",
    figures=FIGURES,
    template="dashboards/results.html",
    columns=COLUMNS,
    context=context,
    choose=home.choose,
    tables=tables,
    takes=("statistic", "grouping", "test", "correction", "scope", "bounds"),
    repeated=("metric",),
)
