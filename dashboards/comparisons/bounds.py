"""Floor and ceiling of a question: metrics that know nothing, and each human against the others."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.comparisons.statistics import Question
from dashboards.documents.measured import Measured, about
from dashboards.panel.floors import CONSTANT, CONSTANT_LABEL, RANDOM, floor_panel
from dashboards.panel.human import read_ratings
from dashboards.panel.panel import Panel
from metaeval import StatisticsWarning
from metaeval.replication import bounds

PUBLISHED = (
    "There is no ceiling: the human scores were published without the judgments of each person."
)
OVER_DRAWS = "There is no ceiling over drawn hybrids: ask for their limit."
SOME = "The ceiling is of the {n} people with the most outputs that others judged too, of {all}."


@dataclass(frozen=True)
class Against:
    """A metric against the floors: corrected p of being above all, and below one; what follows."""

    key: str
    above: float | None
    below: float | None
    state: str


@dataclass(frozen=True, kw_only=True)
class FloorValue(Measured):
    """A floor's value of the question with its interval, where it has them."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Person:
    """One human against the mean of the others, on `n` outputs that both judged."""

    label: str
    n: int
    value: float | None


@dataclass(frozen=True)
class Reached:
    """What a metric reaches where the people were compared; the mean over them."""

    key: str
    label: str
    value: float | None


@dataclass(frozen=True)
class CeilingValue:
    """The mean over people, the range of them, and the metrics on the same outputs."""

    value: float | None
    low: float | None
    high: float | None
    people: Sequence[Person]
    metrics: Sequence[Reached]


@dataclass(frozen=True)
class Bounds:
    """What a metric has to beat, by which test it does, and what people reach.

    `ceiling` is None where people cannot be compared; `notes` say why.
    """

    floors: Sequence[FloorValue]
    against: Sequence[Against]
    test: str
    ceiling: CeilingValue | None
    notes: Sequence[str]


def bounds_of(campaign: Campaign, filters: Filters, panel: Panel, question: Question) -> Bounds:
    """Compute both; raises ValueError where the question cannot be answered."""
    floors = floor_panel(panel)
    added = floors.scored.metrics
    tested = bounds.against_floors(panel.scored, added, question, random=RANDOM)
    columns = [each.tolist() for each in (tested.values, tested.lows, tested.highs)]
    found = [
        FloorValue(**about(measure), value=value, low=low, high=high)
        for measure, value, low, high in zip(floors.measures.values(), *columns, strict=True)
    ]
    first = about(next(iter(floors.measures.values())))
    told = first | {"key": CONSTANT, "label": CONSTANT_LABEL, "signature": f"{CONSTANT}|v:1"}
    rows = zip(panel.measures, tested.above.tolist(), tested.below.tolist(), tested.states,
               strict=True)  # fmt: skip
    ceiling, notes = ceiling_of(campaign, filters, panel, question)
    return Bounds(
        [FloorValue(**told, value=tested.constant), *found],
        [Against(*row) for row in rows],
        tested.test.text,
        ceiling,
        notes,
    )


def ceiling_of(
    campaign: Campaign, filters: Filters, panel: Panel, question: Question
) -> tuple[CeilingValue | None, list[str]]:
    """Return people against people, or why there is no such."""
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
        notes.append(SOME.format(n=found.n, all=found.n + found.n_excluded))
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
