"""How well each metric agrees with the humans, at segment and at system level.

A metric where lower is better is turned round first, so that a larger correlation always means
better agreement.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.panel.human import ALL
from dashboards.panel.measures import told
from dashboards.panel.panel import Panel, read_panel
from metaeval.correlation import correlate as correlate_scores
from metaeval.correlation import system_correlation
from metaeval.replication.questions import N_HYBRIDS
from metaeval.results import ConstantInputWarning
from metrics.runs.contents import failed_outputs
from metrics.scores import MeasureScores

NAN = float("nan")


@dataclass(frozen=True)
class MeasureRow:
    """One measure of one metric against the humans of one campaign; nan or None where undefined.

    `origin` says whether its scores were computed here or imported.
    `tau` is Kendall's τ-b and `r_segment` Pearson's r over all outputs pooled; `r_system` is
    Pearson's r over the systems, `r_hybrid` over hybrid systems and `r_limit` what the latter
    tends to with ever more hybrids (of corpus metrics by a line through their score). Scores of
    systems are over the outputs that the humans and this measure scored.
    """

    key: str
    label: str
    metric: str
    signature: str
    origin: str
    is_turned: bool
    n: int
    n_missing: int
    tau: float | None
    r_segment: float | None
    n_systems: int
    r_system: float | None
    r_hybrid: float | None
    r_limit: float | None

    def values(self) -> dict[str, Any]:
        """Return plain values, None for nan."""
        pairs = vars(self).items()
        return {name: None if value != value else value for name, value in pairs}


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
    warnings: Sequence[str] = field(default_factory=tuple)


def correlate(campaign: Campaign, filters: Filters | str = ALL) -> CampaignCorrelations:
    """Compute the table of a campaign from its current judgments and stored scores."""
    chosen = Filters(scores=filters) if isinstance(filters, str) else filters
    return table(read_panel(campaign, chosen), chosen.of(campaign).scores)


def table(panel: Panel, scores: str) -> CampaignCorrelations:
    """Compute the table from scores that have been read."""
    human, measures, scored = panel.human, panel.measures, panel.scored
    notes: dict[str, None] = dict.fromkeys(human.warnings)
    rows: list[MeasureRow] = []
    if 0 < human.n < panel.n_outputs:
        notes[
            f"{human.n:,} of {panel.n_outputs:,} outputs have a human score; the others are left "
            "out at segment level."
        ] = None
    if human.is_there and measures:
        hybrids = _hybrids(panel, notes)
        notes |= dict.fromkeys(told(measures))
        rows = [_row(panel, measure, hybrids, notes) for measure in measures.values()]
    elif not human.is_there:
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
        rows=rows,
        warnings=list(notes),
    )


Hybrids = dict[str, tuple[float, float]]


def _hybrids(panel: Panel, notes: dict[str, None]) -> Hybrids:
    """Return (r, limit) by measure; the page says how many cells are left out.

    What is constant is said with its row, by its label.
    """
    scored = panel.scored
    if not scored.n:
        if panel.human.n:
            notes["No judged output has the scores of all metrics: no hybrids can be drawn."] = None
        return {}
    others = (w for w in scored.hybrids.warnings if w.code != ConstantInputWarning.code)
    notes |= dict.fromkeys(warning.message for warning in others)
    return scored.turned_hybrids()


def _row(
    panel: Panel, measure: MeasureScores, hybrids: Hybrids, notes: dict[str, None]
) -> MeasureRow:
    human, values = panel.human, panel.scored.turned(measure.key).values
    is_missing = ~np.isnan(human.values) & np.isnan(values)
    missing = int(is_missing.sum())
    if missing and (measure.has_segments or not measure.is_imported):
        failed = failed_outputs(measure.signature)
        n_failed = int(np.isin(panel.outputs[is_missing], failed).sum())
        notes[_missing(measure, missing, n_failed)] = None
    ours, theirs = human.matrix(), human.matrix(values)
    tau, pearson = (
        correlate_scores(ours, theirs, name, has_interval=False) for name in ("kendall", "pearson")
    )
    systems = system_correlation(*panel.scored.system_level(measure.key))
    on_outputs = (tau, pearson) if human.n and measure.has_segments else ()
    for result in (*on_outputs, systems):
        # Missing cells are said once for all measures: by n, n_missing and the sentence above.
        for warning in result.warnings:
            if warning.code == "too_few":
                notes[warning.message] = None
            elif warning.code != "missing_data":
                notes[f"{measure.label}: {warning.message}"] = None
    r_hybrid, r_limit = hybrids.get(measure.key, (NAN, NAN))
    return MeasureRow(
        key=measure.key,
        label=measure.label,
        metric=measure.metric,
        signature=measure.signature,
        origin=measure.origin,
        is_turned=not measure.higher_is_better,
        n=tau.n,
        n_missing=missing,
        tau=tau.statistic,
        r_segment=pearson.statistic,
        n_systems=systems.n,
        r_system=systems.statistic,
        r_hybrid=r_hybrid,
        r_limit=r_limit,
    )


def _missing(measure: MeasureScores, missing: int, failed: int) -> str:
    if measure.is_imported:
        return f"{measure.label}: {missing:,} judged outputs have no score among those imported."
    why = f", {failed:,} of them because they failed" if failed else ""
    return f"{measure.metric}: {missing:,} judged outputs have no score yet{why}; run it again."
