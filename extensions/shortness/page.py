"""Show one row per measure, then shorter forms and quality at equal compliance."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from django.http import HttpRequest

from annotation.filters import Filters
from annotation.filters.form import filter_parameters
from annotation.models import Campaign, System
from dashboards.correlations.agreement import of_metric
from dashboards.documents.head import CampaignDocument, Ends, ends, head
from dashboards.documents.reasons import Measured, measure_fields
from dashboards.pages.page import Page
from dashboards.panel.choice import Choice
from dashboards.panel.human import Floats
from dashboards.panel.measures import unit_of
from dashboards.panel.panel import Panel, read_panel
from dashboards.systems.outside import REFERENCE, SOURCE, output_lengths, without_lengths
from metaeval.messages import Message, message
from metaeval.systems.shortness import compliance, own_forms, partial_on_length
from metrics.base import MetricError
from metrics.scores import MeasureScores

N_RESAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class Spanned(Measured):
    """A measure with a number and the ends of its interval."""

    ends: Ends | None

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return self.ends[0] if self.ends else None

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return self.ends[1] if self.ends else None


@dataclass(frozen=True, kw_only=True)
class Forms(Spanned):
    """A measure's loss for shorter forms of the same systems' outputs, minus the humans' loss.

    Losses are in standard deviations; `long` and `short` are length ratios.
    """

    long: str
    short: str
    systems: Sequence[str]
    n: int
    excess: float | None
    metric_loss: float | None
    human_loss: float | None
    metric_prefers_longer: float | None
    human_prefers_longer: float | None


@dataclass(frozen=True, eq=False)
class Side:
    """Outputs at one length ratio: human scores and those of each measure, (systems, segments)."""

    systems: Sequence[System]
    human: Floats
    metrics: Mapping[str, Floats]
    measures: Mapping[str, MeasureScores]
    documents: Sequence[str] | None


def scores_of(panel: Panel) -> Iterator[tuple[str, Floats]]:
    """Yield measures with scores of judged segments, higher is better."""
    scored = panel.scored
    for key in scored.on_segments:
        yield key, scored.oriented(key).values


def side_of(panel: Panel, places: Sequence[int]) -> Side:
    """Return some systems of a panel."""
    systems = [panel.human.systems[place] for place in places]
    metrics = {key: values[places] for key, values in scores_of(panel)}
    human = panel.scored.human.values[places]
    return Side(systems, human, metrics, panel.measures, panel.human.documents)


def loss_rows(long: Side, short: Side, seed: int) -> tuple[list[Forms], list[Message]]:
    """Return one row for each measure that both sides have, and warnings.

    Both sides have the same systems and segments in the same order.
    """
    rows, notes = list[Forms](), list[Message]()
    for key in long.metrics:
        if key not in short.metrics:
            continue
        row, warnings = _row(key, long, short, seed)
        rows.append(row)
        notes += warnings
    return rows, notes


def _row(key: str, long: Side, short: Side, seed: int) -> tuple[Forms, list[Message]]:
    found = own_forms(
        long.metrics[key], short.metrics[key], long.human, short.human,
        documents=long.documents, n_resamples=N_RESAMPLES, rng=seed,
    )  # fmt: skip
    measure = long.measures[key]
    row = Forms(
        **measure_fields(measure),
        long=str(long.systems[0].length_ratio),
        short=str(short.systems[0].length_ratio),
        systems=[system.name for system in long.systems],
        n=found.n,
        excess=plain(found.statistic),
        ends=ends(found.interval),
        metric_loss=plain(found.metric_loss),
        human_loss=plain(found.human_loss),
        metric_prefers_longer=plain(found.metric_prefers_longer),
        human_prefers_longer=plain(found.human_prefers_longer),
    )
    return row, [of_metric(measure.label, warning.message) for warning in found.warnings]


def plain(value: float) -> float | None:
    """Return None for nan."""
    return None if value != value else float(value)


# Compare metrics with humans by output length, in shorter forms, and at equal compliance.

VERSION = 6
TOLERANCES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True)
class ShortnessChoice(Choice):
    """The unit of lengths, and the text that sets the full length.

    `length_unit` is words, characters or a checkpoint; the default depends on the language.
    `wanted` is the reference or the source.
    """

    length_unit: str = ""
    wanted: str = REFERENCE

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("wanted", REFERENCE, SOURCE)


@dataclass(frozen=True, kw_only=True)
class Punished(Spanned):
    """A measure's partial correlation with output length given the human scores.

    Above 0 the measure penalizes short outputs more than humans do. `ends` belong to its interval;
    the other fields are plain correlations.
    """

    n: int
    n_segments: int
    partial: float | None
    metric_length: float | None
    human_length: float | None
    metric_human: float | None


@dataclass(frozen=True)
class Compliant:
    """A system's outputs within a tolerance of the target length, and their mean human score.

    `common` is the mean over segments in which every system is within the tolerance.
    """

    system: str
    tolerance: float
    share: float | None
    own: float | None
    common: float | None
    n_common: int


@dataclass(frozen=True, kw_only=True)
class Shortness(CampaignDocument):
    """The document; `rows` has one row per measure."""

    length_unit: str
    of: str
    n_resamples: int = N_RESAMPLES
    seed: int = 0
    rows: Sequence[Punished] = ()
    forms: Sequence[Forms] = ()
    compliant: Sequence[Compliant] = ()


FILTERS = ShortnessChoice
DOCUMENT = Shortness


def compute(campaign: Campaign, filters: Filters) -> Shortness:
    """Return the document; without texts only warnings."""
    if not isinstance(filters, ShortnessChoice):
        filters = ShortnessChoice(**vars(filters))
    panel = read_panel(campaign, filters)
    unit = filters.length_unit or unit_of(campaign.test_set.target_language)
    known = head(campaign, panel.human) | {"length_unit": unit, "seed": panel.seed}
    notes = list(panel.human.warnings)
    try:
        own, goal, of = output_lengths(campaign, panel, unit, filters.wanted)
    except MetricError as error:
        missing = message(
            "shortness.no-lengths", "There are no lengths. {error}", error=error.message
        )
        return Shortness(**known, of=filters.wanted, warnings=[*notes, missing])
    if not np.nan_to_num(goal).any():
        return Shortness(**known, of=of, warnings=[*notes, without_lengths(campaign, unit, of)])
    goal = np.where(goal > 0, goal, np.nan)
    rows, of_rows = _rows(panel, own / goal * _ratios(panel)[:, None])
    forms, of_forms = _forms(panel)
    compliant, of_compliance = _compliance(panel, np.abs(own - goal) / goal)
    warnings = dict.fromkeys([*notes, *of_rows, *of_forms, *of_compliance])
    return Shortness(
        **known, of=of, rows=rows, forms=forms, compliant=compliant, warnings=list(warnings)
    )


def _ratios(panel: Panel) -> Floats:
    return np.array([float(system.length_ratio) for system in panel.human.systems])


def _rows(panel: Panel, share: Floats) -> tuple[list[Punished], list[Message]]:
    rows, notes = list[Punished](), list[Message]()
    human, documents = panel.scored.human.values, panel.human.documents
    for key, values in scores_of(panel):
        found = partial_on_length(
            values, human, share, documents=documents, n_resamples=N_RESAMPLES, rng=panel.seed
        )
        measure = panel.measures[key]
        notes += [of_metric(measure.label, warning.message) for warning in found.warnings]
        rows.append(
            Punished(
                **measure_fields(measure),
                n=found.n,
                n_segments=found.n_segments,
                partial=plain(found.statistic),
                ends=ends(found.interval),
                metric_length=plain(found.metric_length),
                human_length=plain(found.human_length),
                metric_human=plain(found.metric_human),
            )
        )
    return rows, notes


def _forms(panel: Panel) -> tuple[list[Forms], list[Message]]:
    """Compare every two length ratios of the same systems in the campaign."""
    rows, notes = list[Forms](), list[Message]()
    for pairs in _pairs(panel.human.systems):
        long, short = (side_of(panel, [pair[side] for pair in pairs]) for side in (0, 1))
        found, warnings = loss_rows(long, short, panel.seed)
        rows += found
        notes += warnings
    return rows, notes


def _pairs(systems: Sequence[System]) -> Iterator[list[tuple[int, int]]]:
    """Yield positions of the longer and the shorter form of systems, by pair of ratios."""
    place = {(each.name, each.length_ratio): n for n, each in enumerate(systems)}
    ratios = sorted({each.length_ratio for each in systems}, reverse=True)
    names = dict.fromkeys(each.name for each in systems)
    for long, short in combinations(ratios, 2):
        pairs = [(place[name, long], place[name, short]) for name in names
                 if (name, long) in place and (name, short) in place]  # fmt: skip
        if pairs:
            yield pairs


def _compliance(panel: Panel, away: Floats) -> tuple[list[Compliant], list[Message]]:
    found = compliance(panel.scored.human.values, away, TOLERANCES)
    rows = [
        Compliant(
            name,
            tolerance,
            plain(found.share[row, column]),
            plain(found.own[row, column]),
            plain(found.common[row, column]),
            int(found.n_common[column]),
        )
        for row, name in enumerate(panel.human.names)
        for column, tolerance in enumerate(TOLERANCES)
    ]
    return (rows if found.n else []), [warning.message for warning in found.warnings]


OWN = ("length_unit", "wanted")


def context(request: HttpRequest, campaign: Campaign, document: Shortness) -> dict[str, Any]:
    """Return the compliance of each system, and the filters that the form keeps."""
    systems = dict.fromkeys(row.system for row in document.compliant)
    lines = [(name, [row for row in document.compliant if row.system == name]) for name in systems]
    others = [(name, value) for name, value in filter_parameters(request.GET) if name not in OWN]
    return {"lines": lines, "tolerances": TOLERANCES, "kept": others}


def controls_length(campaign: Campaign) -> bool:
    """Return whether a campaign's outputs have to be shorter than their sources."""
    return campaign.length_ratio < 1


SHORTNESS = Page(
    name="shortness",
    title=message("page.shortness", "Shortness"),
    kind="shortness",
    template="shortness/campaign.html",
    columns=(
        "key", "label", "partial", "low", "high", "metric_length", "human_length", "metric_human",
        "n", "n_segments",
    ),
    context=context,
)  # fmt: skip
