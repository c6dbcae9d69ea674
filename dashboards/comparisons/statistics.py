"""Read a question (statistic, grouping and test) from an address, and compute its bounds."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from django.http.request import QueryDict

from annotation.filters import FilterError, Filters
from annotation.models import Campaign
from dashboards.documents.reasons import Measured, measure_fields
from dashboards.panel.human import read_ratings
from dashboards.panel.panel import (
    CONSTANT,
    CONSTANT_LABEL,
    RANDOM,
    Panel,
    baseline_label,
    floor_panel,
)
from metaeval import StatisticsWarning
from metaeval.messages import Message, message, plural
from metaeval.replication import bounds
from metaeval.replication.questions import (
    GROUPINGS,
    STATISTICS,
    TESTS,
    Question,
    Statistic,
    values_of,
)
from metaeval.replication.questions import parse as parse_question
from metaeval.replication.questions.statistics import (
    CLUSTERED,
    PERMUTATION,
    WILLIAMS,
    ZOU,
    QuestionError,
)

__all__ = [
    "CLUSTERED",
    "GROUPINGS",
    "PERMUTATION",
    "STATISTICS",
    "TESTS",
    "WILLIAMS",
    "ZOU",
    "Question",
    "Statistic",
    "from_query",
    "not_one_of",
    "parse",
]


def not_one_of(parameter: str, value: str, allowed: Sequence[str]) -> FilterError:
    """Return the error of a parameter with an unknown value."""
    return FilterError(
        message(
            "choice.not-one-of",
            "{parameter} must be one of {allowed}, not “{value}”.",
            parameter=parameter,
            allowed=list(allowed),
            value=value,
        )
    )


def parse(key: str) -> Question:
    """Return the question of a key, as `kinds.compute` takes it after the colon.

    Raises FilterError.
    """
    try:
        return parse_question(key)
    except QuestionError as error:
        raise FilterError(error.message) from error


def from_query(query: QueryDict, default: str) -> Question:
    """Return the question of an address.

    A grouping or test that the statistic does not have becomes its default, because a form sends
    all of its fields, also those of another statistic. Raises FilterError.
    """
    key = query.get("statistic", "") or default
    if key not in STATISTICS:
        return parse(key)
    statistic = STATISTICS[key]
    grouping, test = query.get("grouping", ""), query.get("test", "")
    if grouping and grouping not in GROUPINGS:
        raise not_one_of("grouping", grouping, list(GROUPINGS))
    if test and test not in TESTS:
        raise not_one_of("test", test, list(TESTS))
    return Question(
        statistic,
        grouping if grouping in statistic.groupings else statistic.groupings[0],
        test if test in statistic.tests else statistic.tests[0],
    )


# Compute baselines and the human ceiling of a question.
#
# The human ceiling correlates each annotator with the mean of the others.


PUBLISHED = message(
    "ceiling.published",
    "There is no human ceiling, because the human scores were published without the judgments of "
    "each annotator.",
)
OVER_DRAWS = message(
    "ceiling.over-draws",
    "There is no human ceiling over drawn hybrids. Choose the limit of hybrids.",
)


@dataclass(frozen=True)
class Against:
    """A metric against the baselines: corrected p of being above all and below one, and a state.

    `state` is one of `metaeval.replication.bounds`: above, not above, below, or empty.
    """

    key: str
    above: float | None
    below: float | None
    state: str


@dataclass(frozen=True, kw_only=True)
class FloorValue(Measured):
    """A baseline's value of the question with its interval; None where it has none."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Person:
    """One annotator against the mean of the others, on `n` outputs that both judged."""

    label: str
    n: int
    value: float | None


@dataclass(frozen=True)
class Reached:
    """A metric's value on the outputs of the human ceiling, as the mean over the annotators."""

    key: str
    label: str
    value: float | None


@dataclass(frozen=True)
class CeilingValue:
    """The mean and range over annotators, and the metrics on the same outputs."""

    value: float | None
    low: float | None
    high: float | None
    people: Sequence[Person]
    metrics: Sequence[Reached]


@dataclass(frozen=True)
class Bounds:
    """The baselines, the test of metrics against them, and the human ceiling.

    `ceiling` is None where annotators cannot be compared; `notes` give the reason.
    """

    floors: Sequence[FloorValue]
    against: Sequence[Against]
    test: Message
    ceiling: CeilingValue | None
    notes: Sequence[Message]


def bounds_of(campaign: Campaign, filters: Filters, panel: Panel, question: Question) -> Bounds:
    """Return both bounds; raises ValueError where the question cannot be answered."""
    floors = floor_panel(panel)
    added = floors.scored.metrics
    tested = bounds.against_floors(panel.scored, added, question, random=RANDOM)
    columns = [each.tolist() for each in (tested.values, tested.lows, tested.highs)]
    values = [
        FloorValue(**measure_fields(measure), value=value, low=low, high=high)
        for measure, value, low, high in zip(floors.measures.values(), *columns, strict=True)
    ]
    first = measure_fields(next(iter(floors.measures.values())))
    constant = first | {
        "key": CONSTANT,
        "label": CONSTANT_LABEL.text,
        "signature": f"{CONSTANT}|v:1",
    }
    rows = zip(panel.measures, tested.above.tolist(), tested.below.tolist(), tested.states,
               strict=True)  # fmt: skip
    ceiling, notes = ceiling_of(campaign, filters, panel, question)
    return Bounds(
        [FloorValue(**constant, value=tested.constant), *values],
        [Against(*row) for row in rows],
        tested.test,
        ceiling,
        notes,
    )


def ceiling_of(
    campaign: Campaign, filters: Filters, panel: Panel, question: Question
) -> tuple[CeilingValue | None, list[Message]]:
    """Return the human ceiling, and notes that give the reason where it is None."""
    if question.statistic.is_of_draws:
        return None, [OVER_DRAWS]
    ratings = read_ratings(campaign, filters, panel.human)
    if ratings is None:
        return None, [PUBLISHED]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        found = bounds.ceiling(ratings, panel.scored, question)
    notes = [warning.message for warning in found.warnings]
    if not found.n:
        return None, notes
    if found.n_excluded:
        notes.append(
            message(
                "ceiling.of-some",
                "The human ceiling uses {n} of {total} annotators: those with the most outputs "
                "that others judged too.",
                n=found.n,
                total=found.n + found.n_excluded,
            )
        )
    labels = dict(campaign.annotators.values_list("pk", "label"))
    columns = (found.annotators, found.overlaps, found.values)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    people = [Person(labels.get(who, str(who)), n, value) for who, n, value in rows]
    reached = zip(panel.measures.values(), found.metrics.tolist(), strict=True)
    return CeilingValue(
        found.mean,
        float(found.values.min()),
        float(found.values.max()),
        people,
        [Reached(measure.key, measure.label, value) for measure, value in reached],
    ), notes


# Values of baselines and the human ceiling, for pages that do not test metrics.

FLOOR, CEILING = "floor", "ceiling"
HUMAN_CEILING = message("ceiling.name", "Human ceiling")


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A baseline, or the mean over annotators, by one statistic on `n` outputs."""

    key: str
    label: Message | str
    kind: str
    n: int
    value: float | None


@dataclass(frozen=True)
class BoundValues:
    """All baselines and the human ceiling; `notes` give the reason where there is none."""

    rows: Sequence[Bound]
    notes: Sequence[Message]


def values_of_bounds(
    campaign: Campaign, filters: Filters, panel: Panel, question: str
) -> BoundValues:
    """Return the values of baselines and annotators, for a question such as `tau-b/none`."""
    asked, floors = parse_question(question), floor_panel(panel.only([]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        found = values_of(floors.scored, asked)[0].tolist()
    n = floors.scored.n
    rows = [
        Bound(key=key, label=baseline_label(key, measure.label), kind=FLOOR, n=n, value=value)
        for (key, measure), value in zip(floors.measures.items(), found, strict=True)
    ]
    ceiling, notes = ceiling_of(campaign, filters, panel.only([]), asked)
    return BoundValues([*rows, *([ceiling_row(ceiling)] if ceiling else [])], notes)


def ceiling_label(n: int) -> Message:
    """Return the label of the mean over `n` annotators."""
    return plural(
        "ceiling.label", "Human ceiling: {n} annotator", "Human ceiling: {n} annotators", n=n
    )


def ceiling_row(ceiling: CeilingValue) -> Bound:
    """Return the mean over annotators as a row."""
    people = ceiling.people
    return Bound(
        key=CEILING,
        label=ceiling_label(len(people)),
        kind=CEILING,
        n=max((each.n for each in people), default=0),
        value=ceiling.value,
    )
