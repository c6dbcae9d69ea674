"""Every metric against every other by one statistic: values, differences, intervals and p."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.comparisons import statistics
from dashboards.comparisons.bounds import Bounds, bounds_of
from dashboards.comparisons.statistics import Question
from dashboards.documents.head import CampaignDocument, head
from dashboards.documents.measured import Measured, about
from dashboards.panel.common import compared_on
from dashboards.panel.human import Floats
from dashboards.panel.panel import Panel, read_panel
from metaeval.replication.answers import interval_text
from metaeval.replication.questions import answer, can_answer

VERSION = 11
DEFAULT = "tau-b"
Matrix = Sequence[Sequence[float | None]]


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A metric with its value of the question; without a rank where none is borne out."""

    key: str
    label: str
    value: float | None
    rank: int | None = None


@dataclass(frozen=True, kw_only=True)
class Metric(Measured):
    """One measure with its value of the question and the interval of that."""

    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class RankedMetric(Metric, Ranked):
    """The same with its rank."""


@dataclass(frozen=True, kw_only=True)
class OfQuestion(CampaignDocument):
    """What is said of a question and of what answers it.

    Of `n_segments` segments with scores `n_informative` tell anything of the statistic; None where
    it is not over segments.
    """

    statistic: str
    statistic_label: str
    level: str
    grouping: str
    test: str
    is_of_draws: bool
    n_outputs: int
    n_judged: int
    seed: int
    n_systems: int = 0
    n_segments: int | None = 0
    n_informative: int | None = 0
    interval: str = ""


@dataclass(frozen=True, kw_only=True)
class OfMetrics(OfQuestion):
    """`metrics` are those that the reader wants, `all_metrics` what the form offers."""

    metrics: Sequence[Metric] = ()
    all_metrics: Sequence[Metric] = ()


@dataclass(frozen=True, kw_only=True)
class Compared(OfQuestion):
    """What is said of a comparison of metrics; without any metrics nothing can be compared.

    `n` is of the outputs (or systems) that all metrics scored, `chance` the value of a metric that
    knows nothing. `by_systems` says of a question that nothing answers that scores of systems do.
    """

    n: int = 0
    interval_about: str = ""
    test_label: str = ""
    n_permutations: int | None = None
    chance: float = 0.0
    by_systems: bool = False
    comparison_warnings: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Comparison(OfMetrics, Compared):
    """The analysis. Matrices are metrics × metrics: row minus column, small p for a better row.

    `bounds` are floor and ceiling of the same question, of all metrics whichever are shown.
    """

    differences: Matrix = ()
    difference_lows: Matrix = ()
    difference_highs: Matrix = ()
    pvalues: Matrix = ()
    bounds: Bounds | None = None


@dataclass(frozen=True)
class Pair:
    """Does `metric` agree better with the humans than `other`? A line of the data.

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
    """A metric against the floor: its value, corrected p, and what follows (`state`)."""

    key: str
    label: str
    value: float | None
    above: float | None
    below: float | None
    state: str


@dataclass(frozen=True, kw_only=True)
class Shown(Compared):
    """A comparison as the page has it, metrics best first.

    `rows` are all pairs, or with `row` those of one metric. `steps` has a letter for each cell,
    and `refused` says why nothing is marked.
    """

    metrics: Sequence[Ranked]
    all_metrics: Sequence[Metric]
    correction: str
    correction_label: str
    scope: str
    refused: str
    marks: str
    row: str
    rows: Sequence[Pair]
    steps: Sequence[str]
    n_significant: int
    floors: Sequence[Floored] = ()
    floor_marks: str = ""
    bounds: Bounds | None = None


DOCUMENT = Comparison


def compute(campaign: Campaign, filters: Filters, question: str = DEFAULT) -> Comparison:
    """Return matrices with metrics in the order of the registry; FilterError for no question."""
    panel = read_panel(campaign, filters)
    asked = statistics.parse(question)
    found: dict[str, Any] = {"by_systems": can_answer(panel.scored, statistics.parse("systems"))}
    if can_answer(panel.scored, asked):
        found = _found(panel, asked)
        found["bounds"] = bounds_of(campaign, filters, panel, asked)
    return Comparison(**asked_head(campaign, panel, asked) | found)


def asked_head(campaign: Campaign, panel: Panel, question: Question) -> dict[str, Any]:
    """Return the fields of `OfQuestion` that any answer has."""
    return {
        **head(campaign, panel.human),
        "statistic": question.statistic.key,
        "statistic_label": question.label.text,
        "level": question.statistic.level.text,
        "grouping": question.grouping,
        "test": question.test,
        "is_of_draws": question.statistic.is_of_draws,
        "n_outputs": panel.n_outputs,
        "n_judged": panel.human.n,
        "seed": panel.seed,
    }


def measured(panel: Panel, values: Floats, *ends: Floats) -> list[Metric]:
    """Return every measure with its value of the question and the `ends` of the interval."""
    columns = [each.tolist() for each in (values, *ends)]
    return [
        Metric(
            metric=measure.metric,
            **about(measure),
            **dict(zip(("value", "low", "high"), found, strict=False)),
        )
        for measure, *found in zip(panel.measures.values(), *columns, strict=True)
    ]


def _found(panel: Panel, question: Question) -> dict[str, Any]:
    found = answer(panel.scored, question)
    counts = ("n", "n_systems", "n_segments", "n_informative", "n_permutations")
    matrices = ("differences", "difference_lows", "difference_highs", "pvalues")
    return {name: getattr(found, name) for name in (*counts, "chance", *matrices)} | {
        "interval": interval_text(found),
        "unit": found.unit,
        "n_units": found.n_units,
        "effective_units": float(found.n_effective),
        "interval_about": str(found.about or ""),
        "test_label": found.test.text,
        "comparison_warnings": [*compared_on(panel), *found.warnings],
        "metrics": measured(panel, found.values, found.lows, found.highs),
    }
