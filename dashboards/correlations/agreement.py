"""Correlate each metric with the humans, at segment and at system level."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign
from core.caching import memo
from dashboards.documents.reasons import Measured, measure_fields
from dashboards.panel.human import ALL
from dashboards.panel.measures import warnings_of
from dashboards.panel.panel import OWN, Panel, compared_on, read_panel
from metaeval.correlation.panel import ONE_SIDE_CONSTANT, constant
from metaeval.messages import Message, message, plural
from metaeval.replication import CorrelationRow, correlation_table
from metaeval.replication.questions import N_HYBRIDS
from metaeval.results import ConstantInputWarning
from metrics.contents import failed_outputs
from metrics.scores import MeasureScores

NO_HUMAN_SCORES = message(
    "outputs.no-human-scores", "No output of this campaign has a human score yet."
)
NO_SCORES = message(
    "outputs.no-metric-scores", "No metric has scored the outputs of this campaign yet."
)
NO_HYBRIDS = message(
    "correlation.no-hybrids",
    "No hybrids can be drawn, because no judged output has the scores of all metrics.",
)


@dataclass(frozen=True, kw_only=True)
class MeasureRow(Measured):
    """One measure against the humans of one campaign (`CorrelationRow`); nan where undefined.

    `r_limit` of a corpus metric approximates its score by a linear function of its counts. Scores
    of systems are over the outputs that the humans and this measure scored.
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
    """All rows of a campaign, with warnings.

    Of the `n_segments` segments that hybrids are drawn from, `n_informative` have scores of two or
    more systems. `scores` is z or raw, `source` the form of the human scores.
    """

    n_outputs: int
    n_judged: int
    n_hybrids: int
    seed: int
    scores: str
    source: Message
    n_segments: int = 0
    n_informative: int = 0
    n_systems: int = 0
    rows: Sequence[MeasureRow] = ()
    warnings: Sequence[Message] = ()


def correlate(campaign: Campaign, filters: Filters | str = ALL) -> CampaignCorrelations:
    """Compute the table of a campaign from its current judgments and stored scores."""
    chosen = Filters(scores=filters) if isinstance(filters, str) else filters
    return table(read_panel(campaign, chosen), chosen.of(campaign).scores)


@memo
def table(panel: Panel, scores: str) -> CampaignCorrelations:
    """Compute the table of a panel."""
    human, scored = panel.human, panel.scored
    warnings = list(human.warnings)
    if 0 < human.n < panel.n_outputs:
        warnings.append(
            message(
                "correlation.outputs-without-human-score",
                "{judged} of {outputs} outputs have a human score. The others are excluded at "
                "segment level.",
                judged=human.n,
                outputs=panel.n_outputs,
            )
        )
    found = correlation_table(scored) if human.is_there else []
    if found:
        compared = compared_on(panel) if scored.n else []  # else NO_HYBRIDS covers it
        own = [OWN] if compared else []
        warnings += [*compared, *own, *_of_hybrids(panel), *warnings_of(panel.measures)]
    for row in found:
        warnings += _of_row(panel, panel.measures[row.metric], row)
    if not human.is_there:
        warnings.append(NO_HUMAN_SCORES)
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
        warnings=list(dict.fromkeys(warnings)),
    )


def _row(measure: MeasureScores, found: CorrelationRow) -> MeasureRow:
    numbers = ("n", "n_missing", "tau", "r_segment", "n_systems", "r_system", "r_hybrid", "r_limit")
    return MeasureRow(
        metric=measure.metric,
        **measure_fields(measure),
        **{name: getattr(found, name) for name in numbers},
    )


def _of_hybrids(panel: Panel) -> list[Message]:
    """Return warnings on hybrids; the rows have those on constant metrics."""
    if not panel.scored.n:
        return [NO_HYBRIDS] if panel.human.n else []
    found = panel.scored.hybrids.warnings
    return [each.message for each in found if each.code != ConstantInputWarning.code]


def _of_row(panel: Panel, measure: MeasureScores, found: CorrelationRow) -> list[Message]:
    """Return the warnings on a row: first the outputs that have no score."""
    warnings = []
    if found.n_missing and (measure.has_segments or not measure.is_imported):
        is_missing = panel.human.matrix().mask & np.isnan(measure.values)
        is_missing[list(measure.own_references)] = False
        if n := int(is_missing.sum()):
            failed = np.isin(panel.outputs[is_missing], failed_outputs(measure.signature))
            warnings.append(_missing(measure, n, int(failed.sum())))
    for warning in found.warnings:
        # Missing cells are covered for all measures by n, n_missing and the warning above.
        if warning.message == ONE_SIDE_CONSTANT:
            warnings.append(constant(measure.label))
        elif warning.code == "too_few":
            warnings.append(warning.message)
        elif warning.code != "missing_data":
            warnings.append(of_metric(measure.label, warning.message))
    return warnings


def of_metric(metric: str, warning: Message) -> Message:
    """Return a warning on one metric."""
    return message("correlation.of-metric", "{metric}: {warning}", metric=metric, warning=warning)


def _missing(measure: MeasureScores, missing: int, failed: int) -> Message:
    if measure.is_imported:
        return plural(
            "correlation.not-imported",
            "The imported scores of {metric} lack {n} judged output.",
            "The imported scores of {metric} lack {n} judged outputs.",
            n=missing,
            metric=measure.label,
        )
    if failed:
        return plural(
            "correlation.failed",
            "{n} judged output has no score by {metric} ({failed} failed). Run {metric} again.",
            "{n} judged outputs have no score by {metric} ({failed} failed). Run {metric} again.",
            n=missing,
            metric=measure.metric,
            failed=failed,
        )
    return plural(
        "correlation.not-scored",
        "{n} judged output has no score by {metric} yet. Run {metric} again.",
        "{n} judged outputs have no score by {metric} yet. Run {metric} again.",
        n=missing,
        metric=measure.metric,
    )
