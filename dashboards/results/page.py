"""The first page of a campaign's results."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.http.request import QueryDict
from django.urls import reverse

from annotation.filters import Filters
from annotation.models import Campaign
from annotation.models.assignment import wanted
from dashboards.charts.dots import chart, narrow
from dashboards.correlations.document import FLOOR_LEGEND, floored
from dashboards.correlations.page import unscored
from dashboards.documents import results
from dashboards.documents.reasons import Severity
from dashboards.pages.page import Page
from dashboards.papers import latex
from dashboards.results import home
from dashboards.results.answer import Scored, estimate
from dashboards.results.document import Home, Line, Mark, Rival
from dashboards.results.figures import FIGURES, ranks
from dashboards.trust.amount import MIN_SYSTEMS
from dashboards.trust.marks import corrected
from dashboards.trust.shown import with_trust
from metaeval.messages import Message, message, plural, truncated
from metrics.base import MetricInfo

# Return how to strengthen the result, and where to do that.

POWER, LEVEL = 0.8, 0.95
# A difference below this needs three decimals.
SMALL = 0.01
# More segments than this cannot be judged.
MOST = 100_000
# The most steps that are shown, and metrics that a step names.
STEPS, NAMES = 4, 3


@dataclass(frozen=True)
class Step:
    """A sentence, and the link to the page where it is done."""

    text: Message | None
    label: Message | None
    address: str


# The page where there is something to do without an answer, and the label of its link.
ACTIONS = {
    "unjudged": ("monitor", message("action.progress", "View progress")),
    "unusable": ("monitor", message("action.annotators", "Review annotators")),
    "distrusted": ("monitor", message("action.annotators", "Review annotators")),
    "constant": ("scatter", message("action.scores", "View scores")),
}


def action(campaign: Campaign, home: Home) -> Step | None:
    """Return the one thing to do where there is no answer; None where there is one."""
    setup = reverse("campaign-setup", args=[campaign.slug])
    if campaign.status == Campaign.Status.DRAFT:
        return Step(None, message("action.open", "Open campaign"), setup)
    if home.answer.case == "whole":
        address = reverse("results", args=[campaign.slug])
        label = message("action.over-systems", "Compare metrics over systems")
        return Step(None, label, f"{address}?statistic=systems")
    if home.answer.case not in ACTIONS:
        return None
    if home.answer.case == "unjudged" and campaign.status == Campaign.Status.CLOSED:
        return Step(None, message("action.reopen", "Reopen campaign"), setup)
    name, label = ACTIONS[home.answer.case]
    return Step(None, label, reverse(name, args=[campaign.slug]))


def steps(campaign: Campaign, home: Home, unscored: Sequence[MetricInfo]) -> list[Step]:
    """Return what to do next, the most important first."""
    # Without human scores, more metrics would not help.
    infos = [] if home.answer.case == "unusable" else unscored
    found = [
        *_score(campaign, infos, is_first=not home.metrics),
        *_advice(campaign, home),
        *_segments(campaign, home),
        *_systems(campaign, home),
    ]
    # Scoring is the least important step where there are metrics to compare.
    ordered = found if not home.metrics else [*found[1:], *found[:1]] if infos else found
    return ordered[:STEPS]


def _score(campaign: Campaign, infos: Sequence[MetricInfo], *, is_first: bool) -> list[Step]:
    if not infos:
        return []
    names = truncated([info.label for info in infos], NAMES)
    query = urlencode([("metric", info.name) for info in infos])
    address = f"{reverse('run-start', args=[campaign.test_set.slug])}?{query}"
    if is_first:
        text = message("step.no-scores", "There are no scores by {metrics} yet.", metrics=names)
    else:
        text = message("step.unscored", "These outputs have no scores by {metrics}.", metrics=names)
    return [Step(text, message("action.score", "Score"), address)]


def _advice(campaign: Campaign, home: Home) -> list[Step]:
    """Return advice on reasons of the verdict; systems and segments have their own steps."""
    if home.trust is None:
        return []
    return [
        Step(reason.advice, reason.tab, reverse(reason.page, args=[campaign.slug]))
        for reason in home.trust.reasons
        if reason.severity != Severity.NOTE
        and reason.code not in ("few_systems", "few_segments", "simulated")
    ]


def _systems(campaign: Campaign, home: Home) -> list[Step]:
    n = home.trust.n_systems if home.trust else 0
    # Without scores of outputs there are no hybrids that systems could replace.
    if not 0 < n < MIN_SYSTEMS or not home.n_judged:
        return []
    if n == 1:
        text = plural(
            "step.systems",
            "{n} more system would let you compare metrics over systems.",
            "{n} more systems would let you compare metrics over systems.",
            n=MIN_SYSTEMS - n,
        )
    else:
        text = plural(
            "step.systems-not-hybrids",
            "{n} more system would let you compare metrics over systems instead of hybrids of "
            "{known} systems.",
            "{n} more systems would let you compare metrics over systems instead of hybrids of "
            "{known} systems.",
            n=MIN_SYSTEMS - n,
            known=n,
        )
    label = message("action.add-systems", "Add systems")
    return [Step(text, label, campaign.test_set.get_absolute_url())]


def _segments(campaign: Campaign, home: Home) -> list[Step]:
    leader = next((line for line in home.metric_rows if line.value is not None), None)
    if home.rival is None or leader is None or home.answer.case not in ("group", "indistinct"):
        return []
    n = home.n_segments
    needed = segments_needed(home.rival, n)
    address = reverse("samplesize", args=[campaign.slug])
    if needed > MOST:
        text = message(
            "step.too-alike",
            "{first} and {second} are too similar to be distinguished by more segments.",
            first=leader.label,
            second=home.rival.label,
        )
        return [Step(text, message("action.sample-size", "View sample size"), address)]
    if needed <= n:
        return []
    text = planned(
        str(leader.label),
        home.rival.label,
        home.rival.difference,
        needed - n,
        corrected(home.correction),
    )
    return [Step(text, message("action.plan", "Plan"), address)]


def planned(
    first: Message | str,
    second: Message | str,
    difference: float,
    n: int,
    correction: Message,
) -> Message:
    """Return how many more segments are needed, with as few digits as the difference allows."""
    size = abs(difference)
    known: dict[str, Any] = {
        "first": first,
        "second": second,
        "difference": size,
        "correction": correction,
    }
    if size < SMALL:
        return plural(
            "step.segments-small",
            "If {first} and {second} differ by {difference:r3} as observed here, about {n} more "
            "segment is needed to distinguish them with 80% power ({correction}, as for ranks).",
            "If {first} and {second} differ by {difference:r3} as observed here, about {n} more "
            "segments are needed to distinguish them with 80% power ({correction}, as for ranks).",
            n=roughly(n),
            **known,
        )
    return plural(
        "step.segments",
        "If {first} and {second} differ by {difference:r} as observed here, about {n} more segment "
        "is needed to distinguish them with 80% power ({correction}, as for ranks).",
        "If {first} and {second} differ by {difference:r} as observed here, about {n} more "
        "segments are needed to distinguish them with 80% power ({correction}, as for ranks).",
        n=roughly(n),
        **known,
    )


def roughly(n: int) -> int:
    """Return a count with two significant digits: 5,767 is 5,800."""
    return round(n, min(0, 2 - len(str(n))))


def segments_needed(rival: Rival, n_segments: int) -> int:
    """Return the number of segments with which 8 of 10 studies find the observed difference.

    Uses the normal approximation of a one-sided test at the rival's level. The standard error,
    taken from the interval, decreases with the root of the number of segments.
    """
    normal = NormalDist()
    error = (rival.high - rival.low) / (2 * normal.inv_cdf((1 + LEVEL) / 2))
    if not rival.difference:
        return MOST + 1
    reach = (
        (normal.inv_cdf(1 - rival.level) + normal.inv_cdf(POWER)) * error / abs(rival.difference)
    )
    return math.ceil(n_segments * reach**2)


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
