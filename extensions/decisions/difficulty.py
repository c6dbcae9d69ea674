"""Show human scores and correlations of metrics by the difficulty of the segments."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.filters import FilterError
from annotation.models import Campaign, Segment
from dashboards.charts.style import ACCENT, Spec, figure
from dashboards.comparisons.document import Metric, OfMetrics, asked_head, measured
from dashboards.comparisons.selection import no_scores, subset
from dashboards.pages.page import Page
from dashboards.panel.choice import Choice
from dashboards.panel.human import Floats
from dashboards.panel.panel import (
    SENTINELS,
    Panel,
    compared_on,
    floor_panel,
    read_panel,
)
from dashboards.papers import latex
from extensions.decisions.chosen import DEFAULT, OFFERED, Problem, ask, by_problem
from metaeval.arrays import mean_along
from metaeval.messages import DataError, Message, message
from metaeval.replication.questions import Question, Scored, parse, values_of
from metaeval.replication.questions.comparison import answerable, notes_of
from metaeval.results import StatisticsWarning
from metaeval.sensitivity.difficulty import DifficultyBin, by_difficulty
from metrics.catalogue import infos
from metrics.scores import measure_keys

VERSION = 1
BINS, HARDEST = 5, 10
BY_LENGTH = "floor-source"
# Characters of a source that the list of hardest segments shows.
LONGEST = 400
PANELS = 20
LENGTH = message("difficulty.length", "Length of the source")
ONE_VALUE = message(
    "difficulty.one-value",
    "This score is the same for most segments, so it does not order them. Choose another one under "
    "“Difficulty by”.",
)
Number = float | None


@dataclass(frozen=True)
class DifficultyChoice(Choice):
    """Filters, and the score that orders the segments."""

    by: str = ""


@dataclass(frozen=True)
class Score:
    """A score that can order the segments; `is_turned` where larger scores mean harder."""

    key: str
    label: Message | str
    is_turned: bool


@dataclass(frozen=True)
class Bin:
    """Segments of similar difficulty, from `low` to `high`, with their mean human score."""

    number: int
    low: float
    high: float
    n_segments: int
    human: Number
    human_low: Number
    human_high: Number


@dataclass(frozen=True, kw_only=True)
class Row(Bin):
    """A metric's correlation in a bin: a row of the data."""

    metric: str
    label: str
    value: Number
    value_low: Number
    value_high: Number


@dataclass(frozen=True)
class Hard:
    """A segment by its key, with its score of difficulty and the mean human score of its outputs.

    `is_cut` where the source is longer than what is shown.
    """

    key: str
    source: str
    is_cut: bool
    ease: float
    human: Number


@dataclass(frozen=True, kw_only=True)
class Difficulty(OfMetrics):
    """The document; `by` orders the segments, hardest first, and is not among the metrics.

    `human` is the mean human score, and `metrics` have their value, over all segments. Difficulty
    is as `by` has it if larger means easier, else with the sign reversed.
    """

    by: Score
    scores: Sequence[Score]
    human: Number = None
    bins: Sequence[Bin] = ()
    rows: Sequence[Row] = ()
    hardest: Sequence[Hard] = ()

    @property
    def lines(self) -> list[tuple[Metric, list[Row]]]:
        """Every metric with its rows, hardest segments first."""
        return [
            (metric, [row for row in self.rows if row.metric == metric.key])
            for metric in self.metrics
        ]


DOCUMENT, FILTERS = Difficulty, DifficultyChoice


def verify(campaign: Campaign, filters: DifficultyChoice) -> None:
    """Raise FilterError for a score that the campaign lacks."""
    if filters.by not in ("", BY_LENGTH, *measure_keys(campaign.test_set)):
        raise FilterError(no_scores("by", filters.by))


def compute(campaign: Campaign, filters: DifficultyChoice, question: str = DEFAULT) -> Difficulty:
    """Return correlations in five bins of about equal size, and the hardest segments."""
    asked, panel = parse(question), read_panel(campaign, filters)
    scores = [Score(key, each.label, not each.higher_is_better)
              for key, each in panel.measures.items()]  # fmt: skip
    scores.append(Score(BY_LENGTH, LENGTH, is_turned=True))
    keys = [each.key for each in scores]
    by = filters.by if filters.by in keys else _usual(panel)
    rest = panel.only(key for key in panel.measures if key != by)
    ease = _ease(panel, by)
    part, notes = answerable(rest.scored, asked)
    values, more = values_of(rest.scored, asked)
    bins, problems = _bins(part, ease, asked) if part.metrics and part.n else ([], [])
    rows = [_bin(number, each) for number, each in enumerate(bins, start=1)]
    return Difficulty(
        **asked_head(campaign, rest, asked),
        by=scores[keys.index(by)],
        scores=scores,
        n_systems=part.n_systems,
        n_segments=part.n_segments,
        human=float(np.nanmean(part.cells)) if part.n else None,
        bins=rows,
        rows=[row for own, each in zip(rows, bins, strict=True) for row in _rows(part, own, each)],
        hardest=_hardest(panel, ease) if bins or not part.n else [],
        metrics=measured(rest, asked, values),
        warnings=list(
            dict.fromkeys([*panel.human.warnings, *compared_on(rest), *notes, *more, *problems])
        ),
    )


def _usual(panel: Panel) -> str:
    """Return the score that orders segments by default: a sentinel's, else the source's length."""
    known = infos(retired=True)
    sentinels = (
        key
        for key, each in panel.measures.items()
        if each.metric in known and known[each.metric].family in SENTINELS
    )
    return next(sentinels, BY_LENGTH)


def _ease(panel: Panel, by: str) -> Floats:
    """Return the mean score of each segment over the systems, (segments,), larger is easier."""
    measure = (floor_panel(panel) if by == BY_LENGTH else panel).measures[by]
    values = measure.values if measure.higher_is_better else -measure.values
    return mean_along(values, axis=0)


def _bins(part: Scored, ease: Floats, asked: Question) -> tuple[list[DifficultyBin], list[Message]]:
    """Return the bins, and warnings on them."""
    human, metrics = part.matrices()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StatisticsWarning)
            bins = by_difficulty(human, metrics, ease, asked.measure, n_bins=BINS)
    except DataError as error:
        return [], [error.message]
    if len(bins) < 2:
        return [], [ONE_VALUE]
    problems: list[Problem] = [
        (message("difficulty.bin-number", "Bin {n}", n=number), problem)
        for number, each in enumerate(bins, start=1)
        for problem in notes_of(each.correlations.warnings)
    ]
    return bins, by_problem(problems, len(bins))


def _bin(number: int, found: DifficultyBin) -> Bin:
    low, high, _ = found.human_interval
    return Bin(number, found.low, found.high, found.n_segments, found.human, low, high)


def _rows(part: Scored, own: Bin, found: DifficultyBin) -> list[Row]:
    intervals = found.correlations
    numbers = (intervals.values, intervals.lows, intervals.highs)
    return [
        Row(**vars(own), metric=key, label=label, value=value, value_low=low, value_high=high)
        for key, label, value, low, high in zip(
            part.metrics, part.names, *(each.tolist() for each in numbers), strict=True
        )
    ]


def _hardest(panel: Panel, ease: Floats) -> list[Hard]:
    """Return the segments with the lowest scores, in the order of the test set where they tie."""
    order = np.argsort(ease, kind="stable")
    places = order[np.isfinite(ease[order])][:HARDEST].tolist()
    means = panel.human.matrix().segment_means()
    keys = [panel.human.segments[place] for place in places]
    texts = {
        pk: (key, source)
        for pk, key, source in Segment.objects.filter(pk__in=keys).values_list(
            "pk", "key", "source"
        )
    }
    return [
        Hard(name, source[:LONGEST], len(source) > LONGEST, float(ease[place]), float(means[place]))
        for place, (name, source) in (
            (place, texts[pk]) for place, pk in zip(places, keys, strict=True)
        )
    ]


def choose(document: Difficulty, query: QueryDict) -> Difficulty:
    """Return the metrics that the address names, those that agree best over all segments first."""
    # An address may name the score that orders the segments, which is not compared.
    wanted = query.copy()
    wanted.setlist("metric", [key for key in query.getlist("metric") if key != document.by.key])
    found = subset(document, wanted)
    metrics = sorted(found.metrics, key=lambda each: 2.0 if each.value is None else -each.value)
    keys = {metric.key for metric in metrics}
    rows = [row for row in document.rows if row.metric in keys]
    return replace(found, metrics=metrics, rows=rows)


def context(request: HttpRequest, campaign: Campaign, document: Difficulty) -> dict[str, Any]:
    """Return difficulty as the chosen score has it, and with how many decimals."""
    sign = -1.0 if document.by.is_turned else 1.0
    return {
        "ranges": [(each, sign * each.low, sign * each.high) for each in document.bins],
        "hard": [(each, sign * each.ease) for each in document.hardest],
        "places": 0 if document.by.key == BY_LENGTH else 3,
        "is_by_length": document.by.key == BY_LENGTH,
    }


BIN = message("difficulty.bin", "Bin, hardest first")


def human_curve(document: Difficulty) -> Spec | None:
    """Draw the mean human score by bin."""
    values = [
        {"bin": each.number, "value": each.human, "low": each.human_low, "high": each.human_high}
        for each in document.bins
        if each.human is not None
    ]
    if not values:
        return None
    title = message("difficulty.mean", "Mean human score")
    return figure(
        message("difficulty.human-title", "{name}: human scores by difficulty of the segments",
                name=document.name),
        _described(document),
        data={"values": values},
        width=420,
        height=150,
        layer=_layers(title),
    )  # fmt: skip


def metric_curves(document: Difficulty) -> Spec | None:
    """Draw the correlation of each metric by bin."""
    labels = [metric.label for metric in document.metrics][:PANELS]
    values = [
        {"bin": row.number, "label": row.label, "value": row.value, "low": row.value_low,
         "high": row.value_high}
        for row in document.rows
        if row.value is not None and row.label in labels
    ]  # fmt: skip
    if not values:
        return None
    return figure(
        message("difficulty.title", "{name}: {statistic}, by difficulty of the segments",
                statistic=document.statistic_label, name=document.name),
        _described(document),
        data={"values": values},
        facet={"field": "label", "type": "nominal", "sort": labels,
               "header": {"title": None, "labelFontWeight": "bold"}},
        columns=4,
        spec={"width": 140, "height": 90,
              "layer": _layers(message("difficulty.correlation", "Correlation"))},
    )  # fmt: skip


def _described(document: Difficulty) -> Message:
    return message(
        "difficulty.described",
        "Segments are in {n} bins of about equal size, the hardest first. Difficulty: {score}. "
        "Vertical lines, if any: 95% intervals.",
        n=len(document.bins),
        score=document.by.label,
    )


def _layers(title: Message) -> list[Spec]:
    x = {"field": "bin", "type": "ordinal", "title": BIN, "axis": {"labelAngle": 0}}

    def y(name: str) -> dict[str, Any]:
        scale = {"zero": False}
        return {"field": name, "type": "quantitative", "title": title, "scale": scale}

    return [
        {"mark": {"type": "line", "color": ACCENT, "point": {"color": ACCENT}},
         "encoding": {"x": x, "y": y("value")}},
        {"transform": [{"filter": "isValid(datum.low)"}],
         "mark": {"type": "rule", "color": ACCENT},
         "encoding": {"x": x, "y": y("low"), "y2": {"field": "high"}}},
    ]  # fmt: skip


def tables(document: Difficulty) -> list[latex.Table]:
    """Return human scores and correlations by bin as one table."""
    human = [latex.estimate(b.human, b.human_low, b.human_high) for b in document.bins]
    body = [
        [*latex.texts(HUMAN_MEAN), *human],
        *(
            [
                *latex.texts(metric.label),
                *(latex.estimate(row.value, row.value_low, row.value_high) for row in rows),
            ]
            for metric, rows in document.lines
            if rows
        ),
    ]
    caption = message(
        "difficulty.caption",
        "Mean human score, and agreement of each metric ({statistic}), by difficulty of the "
        "segments ({score}; 1 is the hardest), with 95% intervals ({name}).",
        statistic=document.statistic_label,
        score=document.by.label,
        name=document.name,
    )
    heads = [latex.texts("", *(each.number for each in document.bins))]
    label = f"{document.campaign}-difficulty"
    return [latex.Table([caption], label, "l" + "r" * len(document.bins), heads, body)]


HUMAN_MEAN = "Human score"
DIFFICULTY = Page(
    name="difficulty",
    title=message("page.difficulty", "Difficulty"),
    kind="difficulty",
    template="decisions/difficulty.html",
    columns=(
        *("number", "low", "high", "n_segments", "human", "human_low", "human_high"),
        *("metric", "label", "value", "value_low", "value_high"),
    ),
    context=context,
    ask=ask,
    choose=choose,
    tables=tables,
    figures={"human": human_curve, "metrics": metric_curves},
    statistics=OFFERED,
    statistic=DEFAULT,
    takes=("statistic",),
    repeated=("metric",),
    verify=verify,
)
