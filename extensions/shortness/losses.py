"""Compute how much lower measures and humans score outputs in their shorter forms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.models import System
from dashboards.correlations.agreement import of_metric
from dashboards.documents.counted import Measured, about
from dashboards.documents.head import Ends, ends
from dashboards.panel.human import Floats
from dashboards.panel.panel import Panel
from metaeval.messages import Message
from metaeval.systems.shortness import own_forms
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
        **about(measure),
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
