"""Compare every metric with every other by one statistic: differences, intervals and p."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.comparisons import statistics
from dashboards.comparisons.statistics import Bounds, Question, bounds_of
from dashboards.documents.head import CampaignDocument, head
from dashboards.documents.reasons import Measured, measure_fields
from dashboards.panel.human import Floats
from dashboards.panel.panel import Panel, compared_on, read_panel
from metaeval.messages import Message
from metaeval.replication.questions import answer, can_answer
from metaeval.replication.questions.statistics import SEGMENT

VERSION = 14
DEFAULT = "tau-b"
Matrix = Sequence[Sequence[float | None]]


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A metric with its value of the question; without a rank where none is supported."""

    key: str
    label: str
    value: float | None
    rank: int | None = None


@dataclass(frozen=True, kw_only=True)
class Metric(Measured):
    """One measure with its value of the question and the interval of the value.

    Tables show one row for the metrics of a `family`: the first that `is_leading`.
    """

    metric: str
    family: str = ""
    is_leading: bool = True
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class RankedMetric(Metric, Ranked):
    """One measure with its value, interval and rank."""


@dataclass(frozen=True, kw_only=True)
class OfQuestion(CampaignDocument):
    """A document on a question, with the amount of data that answers it.

    Of `n_segments` segments with scores, `n_informative` contribute to the statistic; None where
    it is not over segments.
    """

    statistic: str
    statistic_label: Message
    level: Message
    grouping: str
    test: str
    is_of_draws: bool
    n_outputs: int
    n_judged: int
    seed: int
    n_systems: int = 0
    n_segments: int | None = 0
    n_informative: int | None = 0
    interval: Message | None = None


@dataclass(frozen=True, kw_only=True)
class OfMetrics(OfQuestion):
    """`metrics` are those that the reader wants, `all_metrics` what the form offers."""

    metrics: Sequence[Metric] = ()
    all_metrics: Sequence[Metric] = ()


@dataclass(frozen=True, kw_only=True)
class Compared(OfQuestion):
    """The methods of a comparison of metrics; without metrics nothing can be compared.

    `n` counts the outputs (or systems) that all metrics scored, `chance` is the value of a random
    metric. `no_interval` is the reason where no metric has an interval. `by_systems`: the question
    has no answer here, but scores of systems could be compared.
    """

    n: int = 0
    no_interval: Message | None = None
    interval_about: Message | None = None
    test_label: Message | None = None
    n_permutations: int | None = None
    chance: float = 0.0
    by_systems: bool = False
    comparison_warnings: Sequence[Message] = ()


@dataclass(frozen=True, kw_only=True)
class Comparison(OfMetrics, Compared):
    """The analysis. Matrices are (metrics, metrics): row minus column, small p for a better row.

    `bounds` are the baselines and the human ceiling of the same question, for all metrics.
    """

    differences: Matrix = ()
    difference_lows: Matrix = ()
    difference_highs: Matrix = ()
    pvalues: Matrix = ()
    bounds: Bounds | None = None


@dataclass(frozen=True)
class Pair:
    """A test of whether `metric` agrees better with the humans than `other`: a row of the data.

    `is_significant` is None where nothing may be marked.
    """

    campaign: str
    statistic: str
    grouping: str
    test: str
    correction: str
    scope: str
    metric: str
    label: str
    other: str
    other_label: str
    difference: float | None
    low: float | None
    high: float | None
    pvalue: float | None
    adjusted: float | None
    is_significant: bool | None


@dataclass(frozen=True, kw_only=True)
class Floored:
    """A metric against the baselines: its value, corrected p, and the resulting `state`."""

    key: str
    label: str
    value: float | None
    above: float | None
    below: float | None
    state: str


@dataclass(frozen=True, kw_only=True)
class Shown(Compared):
    """A comparison for the page, metrics best first.

    `rows` are all pairs, or with `row` those of one metric. `steps` has a letter for each cell.
    `refused` is the reason why nothing is marked; None where marks are allowed.
    """

    metrics: Sequence[Ranked]
    all_metrics: Sequence[Metric]
    correction: str
    correction_label: Message | str
    scope: str
    refused: Message | None
    marks: Sequence[Message]
    row: str
    rows: Sequence[Pair]
    steps: Sequence[str]
    n_significant: int
    floors: Sequence[Floored] = ()
    baseline_marks: Sequence[Message] = ()
    bounds: Bounds | None = None


DOCUMENT = Comparison


def compute(campaign: Campaign, filters: Filters, question: str = DEFAULT) -> Comparison:
    """Return matrices with metrics in the registry's order; FilterError for an invalid question."""
    panel = read_panel(campaign, filters)
    asked = statistics.parse(question)
    found: dict[str, Any] = {"by_systems": can_answer(panel.scored, statistics.parse("systems"))}
    if can_answer(panel.scored, asked):
        found = _found(panel, asked)
        found["bounds"] = bounds_of(campaign, filters, panel, asked)
    return Comparison(**asked_head(campaign, panel, asked) | found)


def asked_head(campaign: Campaign, panel: Panel, question: Question) -> dict[str, Any]:
    """Return the fields of `OfQuestion` that every document on a question has."""
    return {
        **head(campaign, panel.human),
        "statistic": question.statistic.key,
        "statistic_label": question.label,
        "level": question.statistic.level,
        "grouping": question.grouping,
        "test": question.test,
        "is_of_draws": question.statistic.is_of_draws,
        "n_outputs": panel.n_outputs,
        "n_judged": panel.human.n,
        "seed": panel.seed,
    }


def measured(panel: Panel, question: Question, values: Floats, *ends: Floats) -> list[Metric]:
    """Return every measure with its value of the question and the `ends` of its interval."""
    columns = [each.tolist() for each in (values, *ends)]
    is_over_segments = question.statistic.level == SEGMENT
    return [
        Metric(
            metric=measure.metric,
            family=measure.family_of(is_over_segments=is_over_segments),
            is_leading=measure.is_leading,
            **measure_fields(measure),
            **dict(zip(("value", "low", "high"), found, strict=False)),
        )
        for measure, *found in zip(panel.measures.values(), *columns, strict=True)
    ]


def _found(panel: Panel, question: Question) -> dict[str, Any]:
    found = answer(panel.scored, question)
    counts = ("n", "n_systems", "n_segments", "n_informative", "n_permutations")
    matrices = ("differences", "difference_lows", "difference_highs", "pvalues")
    return {name: getattr(found, name) for name in (*counts, "chance", *matrices)} | {
        "unit": found.unit,
        "n_units": found.n_units,
        "effective_units": float(found.n_effective),
        "interval": found.interval_or_cause,
        "no_interval": found.no_interval,
        "interval_about": found.about,
        "test_label": found.test,
        "comparison_warnings": [*compared_on(panel), *found.warnings],
        "metrics": measured(panel, question, found.values, found.lows, found.highs),
    }
