"""How well each metric agrees with the humans, at segment and at system level.

A metric where lower is better is turned round first, so that a larger correlation always means
better agreement.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import metaeval
from annotation.models import Campaign
from dashboards.selectors import Floats, HumanScores, human_scores
from metrics.scores import MeasureScores, system_scores

N_HYBRIDS = 10_000
NAN = float("nan")


@dataclass(frozen=True)
class MeasureRow:
    """One measure of one metric against the humans of one campaign; nan where undefined.

    `tau` is Kendall's τ-b and `r_segment` Pearson's r over all outputs pooled; `r_system` is
    Pearson's r over the systems, `r_hybrid` over hybrid systems and `r_limit` what the latter
    tends to with ever more hybrids (nan for corpus metrics, where no closed form exists).
    """

    key: str
    label: str
    metric: str
    signature: str
    is_turned: bool
    n: int
    n_missing: int
    tau: float
    r_segment: float
    n_systems: int
    r_system: float
    r_hybrid: float
    r_limit: float

    def values(self) -> dict[str, Any]:
        """Return plain values, None for nan."""
        pairs = vars(self).items()
        return {name: None if value != value else value for name, value in pairs}


@dataclass(frozen=True)
class CampaignCorrelations:
    """All rows of a campaign, with what a reader must know before quoting them."""

    n_outputs: int
    n_judged: int
    n_hybrids: int
    seed: int
    scores: str
    source: str
    rows: Sequence[MeasureRow] = ()
    warnings: Sequence[str] = field(default_factory=tuple)


def correlate(campaign: Campaign, scores: str = "z") -> CampaignCorrelations:
    """Compute the table of a campaign from its current judgments and stored scores."""
    human = human_scores(campaign, scores)
    measures = list(system_scores(campaign.test_set, human.systems).measures.values())
    notes: dict[str, None] = dict.fromkeys(human.warnings)
    rows: list[MeasureRow] = []
    n_outputs = measures[0].n_outputs if measures else 0
    if 0 < human.n < n_outputs:
        notes[
            f"{human.n:,} of {n_outputs:,} outputs have a human score; the others are left out "
            "at segment level."
        ] = None
    if human.n and measures:
        hybrids, cells = _hybrids(human, measures, campaign.seed, notes)
        rows = [_row(measure, human, hybrids, cells, notes) for measure in measures]
    elif not human.n:
        notes["No output of this campaign has a human score yet."] = None
    return CampaignCorrelations(
        n_outputs=n_outputs,
        n_judged=human.n,
        n_hybrids=N_HYBRIDS,
        seed=campaign.seed,
        scores=scores,
        source=human.source,
        rows=rows,
        warnings=list(notes),
    )


def _sign(measure: MeasureScores) -> float:
    return 1.0 if measure.higher_is_better else -1.0


Hybrids = dict[str, tuple[float, float]]


def _hybrids(
    human: HumanScores,
    measures: Sequence[MeasureScores],
    seed: int,
    notes: dict[str, None],
) -> tuple[Hybrids, Floats]:
    """Return (r, limit) by measure, and the human scores of the cells that all measures have.

    All metrics are compared on the same hybrids, so a cell that one of them has not scored is
    left out for all; the page says how many.
    """
    scored = np.logical_and.reduce([~np.isnan(measure.values) for measure in measures])
    cells = np.where(scored, human.values, np.nan)
    if not np.isfinite(cells).any():
        notes["No judged output has the scores of all metrics: no hybrids can be drawn."] = None
        return {}, cells
    result = metaeval.hybrid_supersample(
        human.matrix(cells),
        {m.key: human.matrix(m.values) for m in measures if m.statistics is None},
        n_hybrids=N_HYBRIDS,
        rng=seed,
        statistics={
            m.key: metaeval.CorpusStatistics(
                m.statistics, human.names, [str(s) for s in human.segments], m.corpus
            )
            for m in measures
            if m.statistics is not None and m.corpus is not None
        },
    )
    notes |= dict.fromkeys(warning.message for warning in result.warnings)
    sign = {measure.key: _sign(measure) for measure in measures}
    return {
        key: (sign[key] * float(r), sign[key] * float(limit))
        for key, r, limit in zip(result.metrics, result.r, result.limit, strict=True)
    }, cells


def _row(
    measure: MeasureScores,
    human: HumanScores,
    hybrids: Hybrids,
    cells: Floats,
    notes: dict[str, None],
) -> MeasureRow:
    values = _sign(measure) * measure.values
    missing = int((~np.isnan(human.values) & np.isnan(values)).sum())
    if missing:
        notes[f"{measure.metric}: {missing:,} judged outputs have no score yet; run it again."] = (
            None
        )
    ours, theirs = human.matrix(), human.matrix(values)
    tau = metaeval.kendall(ours, theirs)
    pearson = metaeval.pearson(ours, theirs)
    systems = _system_level(measure, human, values)
    for result in (tau, pearson, systems):
        # Missing cells are said once for all measures: by n, n_missing and the sentence above.
        told = (warning for warning in result.warnings if warning.code != "missing_data")
        notes |= dict.fromkeys(f"{measure.label}: {warning.message}" for warning in told)
    r_hybrid, r_limit = hybrids.get(measure.key, (NAN, NAN))
    return MeasureRow(
        key=measure.key,
        label=measure.label,
        metric=measure.metric,
        signature=measure.signature,
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


def _system_level(
    measure: MeasureScores, human: HumanScores, values: Floats
) -> metaeval.Correlation:
    """Correlate over the systems themselves.

    Published system scores are of whole systems: there the metric covers every output. Else both
    sides cover the outputs that humans judged.
    """
    if human.published_systems is None:
        cells, ours = ~np.isnan(human.values) & ~np.isnan(values), _means(human.values)
    else:
        cells, ours = ~np.isnan(values), human.published_systems
    if measure.statistics is None or measure.corpus is None:
        theirs = _means(np.where(cells, values, np.nan))
    else:
        sums = np.where(cells[:, :, None], measure.statistics, 0.0).sum(axis=1)
        scored = _sign(measure) * measure.corpus(sums)
        theirs = np.where(cells.any(axis=1), scored, np.nan)
    return metaeval.system_correlation(ours, theirs)


def _means(values: Floats) -> Floats:
    """Row means over what is there; nan for an empty row, without numpy's complaint."""
    present = ~np.isnan(values)
    counts = present.sum(axis=1)
    sums = np.where(present, values, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
