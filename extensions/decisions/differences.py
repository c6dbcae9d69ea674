"""Show from which difference of two systems' scores on humans agree, for every metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from django.http import HttpRequest
from django.http.request import QueryDict
from scipy.special import expit

from annotation.filters import FilterError, Filters
from annotation.models import Campaign
from core.numbers import short
from dashboards.charts.style import ACCENT, INK, Spec, figure
from dashboards.comparisons.document import Metric
from dashboards.documents.head import CampaignDocument, head
from dashboards.documents.reasons import measure_fields
from dashboards.pages.page import Page
from dashboards.panel.choice import decimal
from dashboards.panel.human import Floats
from dashboards.panel.panel import Panel, each_on_its_own, read_panel
from dashboards.papers import latex
from dashboards.trust.marks import forbidden
from extensions.decisions.chosen import Problem, by_problem, collected, shown
from metaeval.messages import Message, message
from metaeval.results import Interval
from metaeval.systems import AgreementCurve, agreement_curve
from metrics.scores import MeasureScores

VERSION = 2
SHARES = (0.7, 0.8, 0.9, 0.95)
# The share that the headline names.
USUAL = 0.8
NO_INTERVAL = message(
    "differences.no-interval", "These differences have no interval, so they may be chance."
)
# Points of a curve, and panels of the figure.
POINTS, PANELS = 25, 20
# A panel ends this many times the largest share's difference: beyond it the curve is flat.
BEYOND = 1.5
BAND = "#c9d8ec"
Number = float | None


@dataclass(frozen=True)
class Needed:
    """The difference of scores with which humans agree in a share of cases, and its interval."""

    share: float
    value: Number
    low: Number
    high: Number


@dataclass(frozen=True, kw_only=True)
class Row(Metric):
    """A metric's curve: `value` is its slope with the interval from `low` to `high`.

    `agreeing` of `n` pairs of systems are ordered as the humans do. `largest` is the largest
    difference between two systems here; beyond it the curve extrapolates. `probability` is that of
    agreement with the reader's `difference`.
    """

    n: int
    agreeing: int
    n_systems: int
    largest: Number
    needed: Sequence[Needed]
    difference: Number = None
    probability: Number = None
    probability_low: Number = None
    probability_high: Number = None

    @property
    def usual(self) -> Needed:
        """The difference that the headline names."""
        return next(each for each in self.needed if each.share == USUAL)


@dataclass(frozen=True, kw_only=True)
class Differences(CampaignDocument):
    """The document; `rows` are the metrics that the reader chose of `all_metrics`, best first."""

    n_judged: int
    rows: Sequence[Row]
    all_metrics: Sequence[Row] = ()
    difference: Number = None


DOCUMENT = Differences


def compute(campaign: Campaign, filters: Filters) -> Differences:
    """Return the curve of every metric with scores of two systems that humans scored."""
    panel = read_panel(campaign, filters)
    problems: list[Problem] = []
    rows = [_row(panel, key, each, problems) for key, each in panel.measures.items()]
    rows.sort(key=lambda row: -row.agreeing / max(row.n, 1))
    return Differences(
        **head(campaign, panel.human) | {"unit": ""},
        n_judged=panel.human.n,
        rows=rows,
        warnings=[
            *panel.human.warnings,
            *each_on_its_own(panel),
            *by_problem(problems, len(panel.measures)),
        ],
    )


def _row(panel: Panel, key: str, measure: MeasureScores, problems: list[Problem]) -> Row:
    return Row(**row_fields(measure, {"": panel.scored.system_level(key)}, problems))


def row_fields(
    measure: MeasureScores, scores: Mapping[str, tuple[Floats, Floats]], problems: list[Problem]
) -> dict[str, Any]:
    """Return the fields of a metric's row; add its warnings to `problems`.

    `scores` are the systems' scores by the humans and the metric, by campaign, higher better.
    """
    with collected(lambda problem: problems.append((measure.label, problem))):
        curve = agreement_curve(
            {name: ours for name, (ours, _) in scores.items()},
            {name: theirs for name, (_, theirs) in scores.items()},
        )
    known = [theirs[np.isfinite(ours + theirs)] for ours, theirs in scores.values()]
    return {
        **measure_fields(measure),
        "metric": measure.metric,
        "family": measure.family_of(is_over_segments=False),
        "is_leading": measure.is_leading,
        "value": curve.slope,
        "low": curve.slope_interval.low,
        "high": curve.slope_interval.high,
        "n": curve.n,
        "agreeing": curve.agreeing,
        "n_systems": curve.n_systems,
        "largest": max((float(np.ptp(each)) for each in known if len(each)), default=None),
        "needed": [Needed(share, *_ends(*curve.difference(share))) for share in SHARES],
    }


def _ends(value: float, interval: Interval) -> tuple[float, float, float]:
    return value, interval.low, interval.high


def sought(query: QueryDict) -> float | None:
    """Return the difference that the reader looks up; FilterError for a negative one or text."""
    text = query.get("difference", "").strip()
    value = decimal("difference", text)
    if value is not None and value < 0.0:
        raise FilterError(
            message(
                "differences.negative",
                "difference must not be negative, but is {value}. Give the size of the difference, "
                "{size}: the curve holds for the better of two systems.",
                value=text,
                size=text.removeprefix("-"),
            )
        )
    return value


def ask(query: QueryDict) -> str:
    """Check the address; every address has the same document."""
    sought(query)
    return ""


def choose(document: Differences, query: QueryDict) -> Differences:
    """Return the metrics that the address names, with the probability of its difference."""
    rows, wanted = shown(document.rows, query), sought(query)
    if wanted is not None:
        rows = [_looked_up(row, wanted) for row in rows]
    return replace(document, rows=rows, all_metrics=document.rows, difference=wanted)


def _looked_up(row: Row, difference: float) -> Row:
    if row.value is None:
        return replace(row, difference=difference)
    low, high = (np.nan if each is None else each for each in (row.low, row.high))
    curve = AgreementCurve(
        n=row.n,
        slope=row.value,
        slope_interval=Interval(low, high, 0.95),
        agreeing=row.agreeing,
        n_systems=row.n_systems,
    )
    value, ends = curve.probability(difference)
    first, last = (None if np.isnan(each) else each for each in ends[:2])
    return replace(
        row, difference=difference, probability=value, probability_low=first, probability_high=last
    )


def context(request: HttpRequest, subject: Campaign | str, document: Any) -> dict[str, Any]:
    """Return the sentences that answer, or none where the verdict forbids conclusions.

    `has_pairs` says whether a metric distinguishes two systems that humans distinguish.
    """
    known = [row for row in document.rows if row.value is not None]
    may_answer = known and not forbidden(document.trust)
    return {
        "shares": SHARES,
        "answer": _answer(known[0]) if may_answer else [],
        "has_pairs": any(row.n and row.largest for row in document.rows),
    }


def _answer(row: Row) -> list[Message]:
    """Say what the metric that orders most pairs as the humans do needs for 80%.

    A curve without an interval says little: its penalty keeps it finite even for three pairs.
    """
    usual, largest = row.usual, row.largest or 0.0
    if usual.low is None or usual.high is None:
        return [NO_INTERVAL]
    found = [
        message(
            "differences.answer",
            "When two of these {n} systems differ by {difference} in {metric}, humans prefer the "
            "one with the better score in {share:percent} of cases.",
            n=row.n_systems,
            difference=short(usual.value or 0.0),
            metric=row.label,
            share=USUAL,
        ),
        message(
            "differences.interval",
            "95% interval of the difference: {low} to {high}.",
            low=short(usual.low),
            high=short(usual.high),
        ),
    ]
    if (usual.value or 0.0) > largest:
        found.append(
            message(
                "differences.beyond",
                "No two systems here differ this much: the largest difference is {largest}.",
                largest=short(largest),
            )
        )
    return found


def curves(document: Differences) -> Spec | None:
    """Draw the probability that humans agree by the difference of scores, a panel per metric."""
    known = [row for row in document.rows if row.value is not None][:PANELS]
    if not known:
        return None
    values = [point for row in known for point in _points(row)]
    x = {"field": "difference", "type": "quantitative",
         "title": message("differences.difference", "Difference")}  # fmt: skip

    def y(name: str) -> dict[str, Any]:
        scale = {"domain": [0.5, 1]}
        title = message("differences.probability", "Probability")
        return {"field": name, "type": "quantitative", "title": title, "scale": scale}

    band = {"x": x, "y": y("low"), "y2": {"field": "high"}}
    described = message(
        "differences.described",
        "The probability that humans prefer the system that the metric scores higher, by the "
        "difference between the scores of two systems. Bands, if any: 95% intervals. Vertical "
        "lines: the largest difference between two systems here, where it is not farther right.",
    )
    header = {"title": None, "labelFontWeight": "bold"}
    return figure(
        message("differences.title", "{name}: differences that humans confirm",
                name=document.name),
        described,
        data={"values": values},
        facet={"field": "label", "type": "nominal", "sort": [row.label for row in known],
               "header": header},
        columns=3,
        spec={
            "width": 190,
            "height": 110,
            "layer": [
                {"mark": {"type": "area", "color": BAND}, "encoding": band},
                {"mark": {"type": "line", "color": ACCENT},
                 "encoding": {"x": x, "y": y("probability")}},
                {"transform": [{"filter": "isValid(datum.largest)"}],
                 "mark": {"type": "rule", "color": INK, "strokeDash": [3, 3]},
                 "encoding": {"x": x | {"field": "largest", "aggregate": "max"}}},
            ],
        },
        resolve={"scale": {"x": "independent"}},
    )  # fmt: skip


def _points(row: Row) -> list[dict[str, Any]]:
    """Return the part of a curve that rises, as far as there are differences here."""
    value, low, high, largest = row.value or 0.0, row.low, row.high, row.largest or 0.0
    ends: dict[str, float] = {} if low is None or high is None else {"low": low, "high": high}
    last = max(row.usual.value or 0.0, min(largest, BEYOND * (row.needed[-1].value or 0.0)))
    shown = round(largest, 5) if largest <= last else None
    return [
        {"label": row.label, "difference": round(d, 5), "largest": shown}
        | {name: round(float(expit(each * d)), 4)
           for name, each in {"probability": value, **ends}.items()}
        for d in np.linspace(0.0, last, POINTS).tolist()
    ]  # fmt: skip


def tables(document: Differences) -> list[latex.Table]:
    """Return the differences of all shares as one table."""
    body = [
        [
            *latex.texts(row.label, f"{row.agreeing}/{row.n}"),
            *(latex.estimate(each.value, each.low, each.high) for each in row.needed),
        ]
        for row in document.rows
    ]
    heads = [latex.texts("Metric", "Pairs", *(f"{share:.0%}" for share in SHARES))]
    caption = message(
        "differences.caption",
        "The difference between two systems’ scores with which humans agree in a share of cases, "
        "with 95% intervals over systems ({name}). Pairs: those that the metric orders as the "
        "humans do.",
        name=document.name,
    )
    label = f"{document.campaign}-differences"
    return [latex.Table([caption], label, "lr" + "r" * len(SHARES), heads, body)]


def lines(document: Differences) -> list[SimpleNamespace]:
    """Return the rows of the data: the difference of each share is a column."""
    return [
        SimpleNamespace(
            **vars(row),
            **{
                f"{name}{suffix}": getattr(each, end)
                for name, each in zip(DIFFERENCE_COLUMNS, row.needed, strict=True)
                for suffix, end in (("", "value"), ("_low", "low"), ("_high", "high"))
            },
        )
        for row in document.rows
    ]


DIFFERENCE_COLUMNS = [f"difference_{share * 100:.0f}" for share in SHARES]
DIFFERENCES = Page(
    name="differences",
    title=message("page.differences", "Score differences"),
    kind="differences",
    template="decisions/differences.html",
    columns=(
        *("key", "label", "metric", "signature", "origin", "is_turned"),
        *("n", "agreeing", "n_systems", "value", "low", "high", "largest"),
        *(f"{name}{suffix}" for name in DIFFERENCE_COLUMNS for suffix in ("", "_low", "_high")),
        *("difference", "probability", "probability_low", "probability_high"),
    ),
    rows=lines,
    context=context,
    ask=ask,
    choose=choose,
    tables=tables,
    figures={"curves": curves},
    takes=("difference",),
    repeated=("metric",),
    has_unit=False,
)
