"""The first page of a campaign's results."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.filters import Filters
from annotation.models import Campaign
from annotation.models.assignment import wanted
from dashboards.charts.lines import chart, narrow
from dashboards.correlations.bounded import FLOOR_LEGEND, floored
from dashboards.correlations.page import unscored
from dashboards.documents import results
from dashboards.pages.page import Page
from dashboards.papers import latex
from dashboards.results import home
from dashboards.results.answer import Scored, estimate
from dashboards.results.document import Home, Line, Mark
from dashboards.results.figures import FIGURES, ranks
from dashboards.results.steps import action, steps
from dashboards.trust.shown import with_trust
from metaeval.messages import Message, message, plural

# Of more metrics than MANY, only the LEADING ones are drawn; of fewer, all are, the LEADING ones
# without a click.
MANY, LEADING = 40, 12
HUMAN_TRANSLATION = message("results.human-translation", "human translation")
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
    """A point in favour of the numbers, as a mark and in a sentence."""

    brief: Message
    text: Message


@dataclass(frozen=True)
class HomePage(Page[Home]):
    """A page of several analyses."""

    def latest(self, query: QueryDict, campaign: Campaign, filters: Filters) -> results.Result[Any]:
        """Return the newest of all of them, with the verdict."""
        return with_trust(home.latest(query, campaign, filters), campaign, filters)


def context(request: HttpRequest, campaign: Campaign, document: Home) -> dict[str, Any]:
    """Return the drawings, the points in favour of the numbers, and the next steps."""
    startable, _ = unscored(campaign, document.all_metrics)
    done, total, is_complete = wanted(campaign)
    shown = document.rows[:LEADING] if len(document.rows) > MANY else document.rows
    drawn = chart(shown, [line.other for line in shown])
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
    """Return the points in favour: agreement above zero, annotators who pass."""
    found = []
    low, high = document.alpha_ends or (None, None)
    if document.alpha is not None and low is not None and low > 0:
        alpha = estimate(Scored("", "", document.alpha, low, high), "α")
        brief = message("praise.agreement", "agreement {alpha}", alpha=alpha)
        text = message(
            "praise.agreement-text",
            "Krippendorff’s α is {alpha:r}, with a 95% interval over outputs.",
            alpha=document.alpha,
        )
        found.append(Praise(brief, text))
    if document.n_tested and document.n_passed == document.n_tested:
        brief = plural(
            "praise.controls",
            "{n} of {n} annotators passes the control items",
            "{n} of {n} annotators pass the control items",
            n=document.n_tested,
        )
        text = message(
            "praise.controls-text",
            "All annotators with enough traps or gold items passed them.",
        )
        found.append(Praise(brief, text))
    return found


def tables(document: Home) -> list[latex.Table]:
    """Return a table for each level, each with its own caption."""
    answer = document.answer
    caption = [answer.sentence, *answer.details, *document.older]
    caption += [*document.marks, *document.baseline_marks]
    caption += [FLOOR_LEGEND] if any(line.floor for line in document.rows) else []
    ours = [_row(floored(line.label, line.floor), line) for line in document.rows]
    found = [_table(document, caption, document.statistic_label, ours)]
    if any(line.other.value is not None for line in document.rows):
        theirs = [_row(str(line.label), line.other) for line in document.rows]
        order = message(
            "results.beside-caption",
            "{statistic}. Metrics are in the order of the previous table.",
            statistic=document.beside_label,
        )
        caption = [order, *document.beside_marks]
        found.append(_table(document, caption, document.beside_label, theirs, "-beside"))
    return found


def _row(label: str, mark: Line | Mark) -> latex.Row:
    return [
        latex.Cell(label),
        latex.Cell("–" if mark.rank is None else str(mark.rank)),
        latex.number(mark.value, is_bold=mark.is_best),
        latex.interval(mark.low, mark.high),
    ]


def _table(
    document: Home,
    caption: list[Message],
    label: Message | str,
    body: list[latex.Row],
    suffix: str = "",
) -> latex.Table:
    head = latex.texts("Metric", "Rank", label, "95% interval")
    return latex.Table(caption, f"{document.campaign}-results{suffix}", "lrrr", [head], body)


RESULTS = HomePage(
    name="results",
    title=message("page.results", "Results"),
    kind="results",
    figures=FIGURES,
    template="dashboards/results.html",
    columns=COLUMNS,
    context=context,
    choose=home.choose,
    tables=tables,
    joins=True,
    takes=("statistic", "grouping", "test", "correction", "scope", "bounds"),
    repeated=("metric",),
)
