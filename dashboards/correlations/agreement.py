"""How well each metric agrees with the humans, at segment and at system level."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign
from core.caching import memo
from dashboards.documents.measured import Measured, about
from dashboards.panel.common import OWN, compared_on
from dashboards.panel.human import ALL
from dashboards.panel.measures import told
from dashboards.panel.panel import Panel, read_panel
from metaeval.replication import CorrelationRow, correlation_table
from metaeval.replication.questions import N_HYBRIDS
from metaeval.results import ConstantInputWarning
from metrics.contents import failed_outputs
from metrics.scores import MeasureScores


@dataclass(frozen=True, kw_only=True)
class MeasureRow(Measured):
    """One measure against the humans of one campaign (`CorrelationRow`); nan where undefined.

    Of corpus metrics `r_limit` takes their score as a line through its counts. Scores of systems
    are over the outputs that the humans and this measure scored.
    """

    metric: str
    n: int
    n_missing: int
    tau: float | None
    r_segment: float | None
    n_systems: int
    r_system: float | None
    r_hybrid: float | None
    r_limit: float | None


@dataclass(frozen=True)
class CampaignCorrelations:
    """All rows of a campaign, with what a reader must know before quoting them.

    Of `n_segments` segments that hybrids are drawn from, `n_informative` have two systems or more.
    """

    n_outputs: int
    n_judged: int
    n_hybrids: int
    seed: int
    scores: str
    source: str
    n_segments: int = 0
    n_informative: int = 0
    n_systems: int = 0
    rows: Sequence[MeasureRow] = ()
    warnings: Sequence[str] = ()


def correlate(campaign: Campaign, filters: Filters | str = ALL) -> CampaignCorrelations:
    """Compute the table of a campaign from its current judgments and stored scores."""
    chosen = Filters(scores=filters) if isinstance(filters, str) else filters
    return table(read_panel(campaign, chosen), chosen.of(campaign).scores)


@memo
def table(panel: Panel, scores: str) -> CampaignCorrelations:
    """Compute the table from scores that have been read."""
    human, scored = panel.human, panel.scored
    notes: dict[str, None] = dict.fromkeys(human.warnings)
    if 0 < human.n < panel.n_outputs:
        notes[
            f"{human.n:,} of {panel.n_outputs:,} outputs have a human score; the others are left "
            "out at segment level."
        ] = None
    found = correlation_table(scored) if human.is_there else []
    if found:
        compared = compared_on(panel) if scored.n else []  # else hybrids say so
        own = [OWN] if compared else []
        remarks = [*compared, *own, *_of_hybrids(panel), *told(panel.measures)]
        notes |= dict.fromkeys(remarks)
    for row in found:
        notes |= dict.fromkeys(_of_row(panel, panel.measures[row.metric], row))
    if not human.is_there:
        notes["No output of this campaign has a human score yet."] = None
    return CampaignCorrelations(
        n_outputs=panel.n_outputs,
        n_judged=human.n,
        n_hybrids=N_HYBRIDS,
        seed=panel.seed,
        scores=scores,
        source=human.source,
        n_segments=scored.n_segments,
        n_informative=scored.n_informative,
        n_systems=scored.n_systems,
        rows=[_row(panel.measures[row.metric], row) for row in found],
        warnings=list(notes),
    )


def _row(measure: MeasureScores, found: CorrelationRow) -> MeasureRow:
    numbers = ("n", "n_missing", "tau", "r_segment", "n_systems", "r_system", "r_hybrid", "r_limit")
    return MeasureRow(
        metric=measure.metric,
        **about(measure),
        **{name: getattr(found, name) for name in numbers},
    )


def _of_hybrids(panel: Panel) -> list[str]:
    """What was left out of hybrids. What is constant is said with its row, by its label."""
    if not panel.scored.n:
        none = "No judged output has the scores of all metrics: no hybrids can be drawn."
        return [none] if panel.human.n else []
    found = panel.scored.hybrids.warnings
    return [each.message for each in found if each.code != ConstantInputWarning.code]


def _of_row(panel: Panel, measure: MeasureScores, found: CorrelationRow) -> list[str]:
    """What must be known of a row: first the outputs that it lacks."""
    told = []
    if found.n_missing and (measure.has_segments or not measure.is_imported):
        is_missing = panel.human.matrix().mask & np.isnan(measure.values)
        is_missing[list(measure.own_references)] = False
        if n := int(is_missing.sum()):
            failed = np.isin(panel.outputs[is_missing], failed_outputs(measure.signature))
            told.append(_missing(measure, n, int(failed.sum())))
    for warning in found.warnings:
        # Missing cells are said once for all measures: by n, n_missing and the sentence above.
        if warning.code == "too_few":
            told.append(warning.message)
        elif warning.code != "missing_data":
            told.append(f"{measure.label}: {warning.message}")
    return told


def _missing(measure: MeasureScores, missing: int, failed: int) -> str:
    if measure.is_imported:
        return f"{measure.label}: {missing:,} judged outputs have no score among those imported."
    why = f", {failed:,} of them because they failed" if failed else ""
    return f"{measure.metric}: {missing:,} judged outputs have no score yet{why}; run it again."
