"""Compute the table of metrics against humans: values only, which takes a second.

Intervals and the tests behind ranks take longer; `dashboards.significance` computes them.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from annotation.filters import OUT, Filters
from annotation.models import Campaign
from dashboards.comparisons import statistics
from dashboards.comparisons.document import Comparison, Metric, OfMetrics, asked_head, measured
from dashboards.comparisons.statistics import Bounds, FloorValue, Person, ceiling_label
from dashboards.correlations.agreement import MeasureRow, table
from dashboards.panel.choice import general
from dashboards.panel.panel import Panel, floor_panel, read_panel
from metaeval.correlation.coefficients import system_correlation
from metaeval.messages import Message, message
from metaeval.replication import questions
from metaeval.replication.bounds import BELOW, NOT_ABOVE
from metaeval.replication.questions.statistics import SYSTEM
from metaeval.results import StatisticsWarning

VERSION = 14
DEFAULT = "tau-b"
METRIC, FLOOR, CEILING, PERSON = "metric", "floor", "ceiling", "person"


@dataclass(frozen=True, kw_only=True)
class Row(MeasureRow):
    """A measure of a campaign, under one form of the human `scores`.

    `value` is the value of the question, with the interval and rank of the comparison; rank and
    `is_best` only where they are supported. `r_system_without_outliers`, and for a question over
    systems `value_without_outliers`, exclude outlier systems; None where there are none. `kind`
    is metric, or a kind of baseline or annotators; `floor` is above, not above
    or below (the baselines), or empty.
    """

    # The human ceiling and its annotators have labels that are translated.
    label: Message | str  # type: ignore[assignment]
    campaign: str
    scores: str
    value: float | None
    low: float | None = None
    high: float | None = None
    rank: int | None = None
    is_best: bool = False
    r_system_without_outliers: float | None = None
    value_without_outliers: float | None = None
    kind: str = METRIC
    floor: str = ""


@dataclass(frozen=True, kw_only=True)
class Correlations(OfMetrics):
    """The table with the chosen statistic and those that it always has.

    `comparison` is the analysis `significance` of the same question, None until it is computed;
    `intervals_note` warns where it uses other data. `marks` explain what is bold, or why nothing
    is; `baseline_marks` name the metrics that are not above the baselines. `floors` are the rows of
    the baselines, and `shown_bounds` the bounds where the reader wants their rows.
    """

    n_hybrids: int
    segment_grouping: str = "none"
    rows: Sequence[Row] = ()
    floors: Sequence[Row] = ()
    comparison: Comparison | None = None
    intervals_note: Message | None = None
    marks: Sequence[Message] = ()
    baseline_marks: Sequence[Message] = ()
    shown_bounds: Bounds | None = None


DOCUMENT = Correlations


def compute(campaign: Campaign, filters: Filters, question: str = DEFAULT) -> Correlations:
    """Return the table; raises FilterError for an invalid question."""
    filters, asked = filters.of(campaign), statistics.parse(question)
    panel = read_panel(campaign, filters)
    found = table(panel, filters.scores)
    values, notes = questions.values_of(panel.scored, asked)
    metrics = measured(panel, asked, values)
    return Correlations(
        **asked_head(campaign, panel, asked),
        n_systems=found.n_systems,
        n_segments=found.n_segments,
        n_informative=found.n_informative,
        n_hybrids=found.n_hybrids,
        metrics=metrics,
        rows=_with_rest(
            campaign, filters, asked, panel, _rows(campaign, filters, found.rows, metrics)
        ),
        floors=_floors(campaign, filters, panel, asked) if found.rows else (),
        warnings=without_repeats(found.warnings, notes),
    )


def _rows(
    campaign: Campaign, filters: Filters, found: Sequence[MeasureRow], metrics: Sequence[Metric]
) -> list[Row]:
    values = {metric.key: metric.value for metric in metrics}
    return [
        Row(**vars(row), campaign=campaign.slug, scores=filters.scores, value=values[row.key])
        for row in found
    ]


def _with_rest(
    campaign: Campaign, filters: Filters, asked: questions.Question, panel: Panel, rows: list[Row]
) -> list[Row]:
    """Return the rows with their numbers over systems without outlier systems."""
    if not panel.human.outliers or panel.human.are_outliers_out or not rows:
        return rows
    rest = read_panel(campaign, replace(general(filters), outliers=OUT))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        of_systems = {
            key: system_correlation(*rest.scored.system_level(key)).statistic
            for key in rest.measures
        }
        is_over_systems = asked.statistic.level == SYSTEM
        values = questions.values_of(rest.scored, asked)[0] if is_over_systems else ()
    found = dict(zip(rest.measures, values, strict=False))
    return [
        replace(
            row,
            r_system_without_outliers=of_systems.get(row.key),
            value_without_outliers=float(found[row.key]) if row.key in found else None,
        )
        for row in rows
    ]


def _floors(
    campaign: Campaign, filters: Filters, panel: Panel, asked: questions.Question
) -> list[Row]:
    """Return the baselines by the same statistics."""
    floors = floor_panel(panel)
    values, _ = questions.values_of(floors.scored, asked)
    found = table(floors, filters.scores).rows
    rows = _rows(campaign, filters, found, measured(floors, asked, values))
    return [replace(row, kind=FLOOR) for row in rows]


def without_repeats(warnings: Sequence[Message], notes: Iterable[Message]) -> list[Message]:
    """Join both, without the notes that are in a warning on one metric already."""
    known = {each.parameters.get("warning") for each in warnings}
    return list(dict.fromkeys([*warnings, *(note for note in notes if note not in known)]))


# Add baselines and the human ceiling as rows to the table of metrics.

# With more annotators only their mean is a row.
MOST_PEOPLE = 12


FLOOR_SIGN = "⊥"
FLOOR_LEGEND = message(
    "baseline.sign",
    "{sign}: below the baselines (random scores, a constant, and text length), or not above them.",
    sign=FLOOR_SIGN,
)


def floored(label: Message | str, state: str) -> str:
    """Return a metric's label for a table of a paper, with a sign if it is not above baselines."""
    return f"{label} {FLOOR_SIGN}" if state in (BELOW, NOT_ABOVE) else str(label)


def bound_rows(document: Correlations) -> list[Row]:
    """Return the rows of all baselines, of the human ceiling, and of its annotators."""
    compared = document.comparison
    bounds = compared.bounds if compared else None
    if bounds is None:
        return list(document.floors)
    known = {row.key: row for row in document.floors}
    rows = [_floor(document, each, known.get(each.key)) for each in bounds.floors]
    return [*rows, *_people(document, bounds)]


def values_of(bounds: Bounds) -> dict[str, tuple[float | None, float | None, float | None]]:
    """Return value, low and high of baselines, human ceiling and annotators, by the rows' keys."""
    found = {each.key: (each.value, each.low, each.high) for each in bounds.floors}
    if bounds.ceiling:
        whole = bounds.ceiling
        found[CEILING] = (whole.value, None, None)
        found |= {person_key(each): (each.value, None, None) for each in whole.people}
    return found


def person_key(person: Person) -> str:
    """Return the key of an annotator's row."""
    return f"person:{person.label}"


def person_label(label: str) -> Message:
    """Return the label of an annotator's row."""
    return message("ceiling.annotator", "Annotator {annotator}", annotator=label)


def _floor(document: Correlations, found: FloorValue, row: Row | None) -> Row:
    """Return a baseline with its interval; the constant has no other numbers."""
    if row is None:
        ends = found.value, found.low, found.high
        return _row(document, found.key, found.label, FLOOR, document.n_judged, *ends)
    return replace(row, value=found.value, low=found.low, high=found.high)


def _people(document: Correlations, bounds: Bounds) -> list[Row]:
    ceiling = bounds.ceiling
    if ceiling is None:
        return []
    every = ceiling.people
    n = max((each.n for each in every), default=0)
    mean = _row(document, CEILING, ceiling_label(len(every)), CEILING, n, ceiling.value)
    return [
        mean,
        *(
            _row(document, person_key(each), person_label(each.label), PERSON, each.n, each.value)
            for each in (every if len(every) <= MOST_PEOPLE else ())
        ),
    ]


def _row(
    document: Correlations,
    key: str,
    label: Message | str,
    kind: str,
    n: int,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
) -> Row:
    """Return a row with the value of the question only."""
    scores = next((row.scores for row in document.rows), "")
    return Row(
        campaign=document.campaign, scores=scores, key=key, label=label, signature="", origin="",
        is_turned=False, metric=kind, n=n, n_missing=0, tau=None, r_segment=None, n_systems=0,
        r_system=None, r_hybrid=None, r_limit=None, value=value, low=low, high=high, kind=kind,
    )  # fmt: skip
