"""Read the scores of humans and metrics in one order, for pages, bundles and files.

Every number that is shown comes from a panel: `metaeval` computes it from `scored`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from django.db.models import F
from django.db.models.functions import Length

from annotation.filters import Filters
from annotation.models import Campaign, Output, System
from core.caching import Cache, memo
from dashboards.panel.choice import general
from dashboards.panel.human import Floats, HumanScores, human_scores
from dashboards.panel.measures import read_measures
from metaeval.messages import Message, message, truncated
from metaeval.replication import questions
from metaeval.scores import CorpusStatistics
from metrics.catalogue import infos
from metrics.grid import Grid, Integers, read_grid
from metrics.scores import MeasureScores


@dataclass(frozen=True, eq=False)
class Panel:
    """Scores over systems × segments, in one order.

    `outputs` holds primary keys, `metrics.grid.NOTHING` where a system has no output for a segment.
    `n_sampled` counts the outputs of the campaign's sample, None where all outputs are judged.
    """

    human: HumanScores
    measures: Mapping[str, MeasureScores]
    outputs: Integers
    seed: int
    n_sampled: int | None = None

    @cached_property
    def scored(self) -> questions.Scored:
        """The scores from which `metaeval` computes statistics."""
        ours, measures = self.human.matrix(), self.measures
        return questions.Scored(
            ours,
            {key: ours.with_values(each.values) for key, each in measures.items()},
            self.seed,
            lower=[key for key, each in measures.items() if not each.higher_is_better],
            counts={
                key: CorpusStatistics(
                    each.statistics, ours.systems, ours.segments, each.corpus, ours.documents
                )
                for key, each in measures.items()
                if each.statistics is not None and each.corpus is not None
            },
            human_systems=self.human.published_systems,
            labels={key: each.label for key, each in measures.items()},
            given={k: each.systems for k, each in measures.items() if each.systems is not None},
        )

    @property
    def n_outputs(self) -> int:
        """The number of outputs to score, of those that are judged; 0 without a measure."""
        if self.measures and self.n_sampled is not None:
            return self.n_sampled
        return next((each.n_outputs for each in self.measures.values()), 0)

    def only(self, keys: Iterable[str]) -> "Panel":
        """Return the panel with some of the measures."""
        return replace(self, measures={key: self.measures[key] for key in keys})


def read_panel(
    campaign: Campaign, filters: Filters, *, all_of: Iterable[str] | None = None
) -> Panel:
    """Read the human scores under a reader's filters and the stored scores of tables' measures.

    With `all_of` all measures of these metrics instead.
    """
    wanted = None if all_of is None else frozenset(all_of)
    return _panel(campaign, general(filters).of(campaign), wanted)


@memo
def _panel(campaign: Campaign, filters: Filters, all_of: frozenset[str] | None) -> Panel:
    """Return one panel for all parts of a computation, which share its cached values."""
    human = human_scores(campaign, filters)
    outputs = read_grid(human.systems, human.segments).outputs
    judged = campaign.outputs.filter(system__in=human.systems)
    n_sampled = None if campaign.sample is None else judged.count()
    return Panel(human, read_measures(campaign, human, all_of), outputs, campaign.seed, n_sampled)


# Warn where metrics have scores of different outputs.

OWN = message(
    "outputs.own-columns", "Columns of one metric are over all outputs that the metric scored."
)
NONE = message("outputs.none-in-common", "No judged output has the scores of all metrics.")


def compared_on(panel: Panel) -> list[Message]:
    """Return on which outputs metrics are compared where these are not all judged outputs."""
    scored, n = panel.scored, panel.scored.n
    if n == panel.human.n or not scored.on_segments:
        return []
    if not n:
        return [NONE]
    judged = panel.human.matrix().mask.any(axis=1)
    lost = np.flatnonzero(judged & ~np.isfinite(scored.cells).any(axis=1))
    found = [
        message(
            "outputs.in-common",
            "Metrics are compared on the {outputs} of {judged} judged outputs that all of them "
            "scored, of {segments} segments and {systems} systems.",
            outputs=n,
            judged=panel.human.n,
            segments=scored.n_segments,
            systems=scored.n_systems,
        )
    ]
    if names := [panel.human.names[place] for place in lost]:
        found.append(
            message(
                "outputs.systems-excluded",
                "Systems are excluded from comparisons because a metric lacks their scores: "
                "{systems}.",
                systems=truncated(names),
            )
        )
    return found


def each_on_its_own(panel: Panel) -> list[Message]:
    """Return a warning where metrics that are shown together scored different outputs."""
    counts = [n for key in panel.measures if (n := panel.scored.n_scored(key))]
    if not counts or min(counts) == panel.human.n:
        return []
    return [
        message(
            "outputs.own",
            "Each metric’s number is over the judged outputs that the metric scored, {low} to "
            "{high} of {judged}. Numbers over different outputs do not rank metrics.",
            low=min(counts),
            high=max(counts),
            judged=panel.human.n,
        )
    ]


# Baselines of any campaign: random scores, a constant and text lengths.
#
# They need no run, because they are computed from stored lengths and hashes of the contents.


CONSTANT, RANDOM = "floor-constant", "floor-random"
LABELS = {
    RANDOM: message("baseline.random", "Baseline: random"),
    "floor-source": message("baseline.short-sources", "Baseline: short sources"),
    "floor-output": message("baseline.short-outputs", "Baseline: short outputs"),
    "floor-ratio": message("baseline.usual-length", "Baseline: usual length"),
}
CONSTANT_LABEL = message("baseline.constant", "Baseline: constant")
# Families of metrics that do not see a translation together with its source: also baselines.
SENTINELS = ("sentinel", "trained-sentinel")
# Baselines of 200,000 outputs.
BYTES = 8 * 2**20
# Hexadecimal digits of a content's hash that make a number: as many as a float64 can hold.
DIGITS = 13


def floor_panel(panel: Panel) -> Panel:
    """Return the same humans with the baselines as measures: those in `LABELS`, scored sentinels.

    A sentinel also stays a metric; it is not above itself.
    """
    values = _values(panel.human)
    n = panel.n_outputs or int((panel.outputs >= 0).sum())
    measures = {
        key: MeasureScores(
            key=key,
            label=label.text,
            metric="floor",
            signature=f"{key}|v:1",
            higher_is_better=True,
            values=values[key],
            statistics=None,
            corpus=None,
            n_outputs=n,
            n_missing=0,
        )
        for key, label in LABELS.items()
    }
    return replace(panel, measures=measures | _sentinels(panel))


def baseline_label(key: str, label: str) -> Message | str:
    """Return what a page shows for a measure: the label of a baseline, or a metric's name."""
    return CONSTANT_LABEL if key == CONSTANT else LABELS.get(key, label)


def _sentinels(panel: Panel) -> dict[str, MeasureScores]:
    known = infos(retired=True)
    return {
        f"floor:{key}": replace(measure, key=f"floor:{key}", label=f"Baseline: {measure.label}")
        for key, measure in panel.measures.items()
        if measure.metric in known and known[measure.metric].family in SENTINELS
    }


def _values(human: HumanScores) -> Mapping[str, Floats]:
    """Return every baseline, (systems, segments), nan where there is no output.

    Outputs never change, so that they are cached.
    """
    grid = read_grid(human.systems, human.segments)
    found = _cache.get(grid.state)
    if found is None:
        found = _baselines(human.systems, grid)
        _cache.put(grid.state, found, sum(each.nbytes for each in found.values()))
    return found


_cache: Cache[Mapping[str, Floats]] = Cache(BYTES)


def _baselines(systems: tuple[System, ...], grid: Grid) -> dict[str, Floats]:
    drawn = np.array([int(key[:DIGITS], 16) / 16**DIGITS for key in grid.keys], dtype=np.float64)
    sources, outputs = _lengths(systems, grid)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log((outputs + 1.0) / (sources + 1.0))
    found = {
        RANDOM: grid.spread(drawn),
        "floor-source": -sources,
        "floor-output": -outputs,
        # Distance from the median has a direction that does not depend on the data.
        "floor-ratio": -np.abs(ratios - np.nanmedian(ratios)) if ratios.size else ratios,
    }
    for each in found.values():
        each.flags.writeable = False
    return found


def _lengths(systems: tuple[System, ...], grid: Grid) -> tuple[Floats, Floats]:
    """Return the characters of every output's source and of the output, (systems, segments)."""
    rows = (
        Output.objects.filter(system__in=systems)
        .order_by()
        .values_list("pk", Length(F("segment__source")), Length("text"))
    )
    table = np.array(list(rows), dtype=np.int64).reshape(-1, 3)
    sources, outputs = (grid.placed(table[:, 0], table[:, n].astype(float)) for n in (1, 2))
    return sources, outputs
