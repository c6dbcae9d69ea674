"""Whether there is enough of everything for what is shown."""

from dataclasses import dataclass

import numpy as np

from core.text import pluralize
from dashboards.documents.reasons import Reason, Severity
from dashboards.panel.human import HumanScores
from metaeval.correlation.hybrids.limits import ENOUGH
from metaeval.correlation.intervals.crossed import FEWEST_SEGMENTS
from metaeval.correlation.intervals.jackknife import FEWEST
from metaeval.documents import (
    DOCUMENTS,
    FEW_DOCUMENTS,
    FEWEST_DOCUMENTS,
    effective_clusters,
    sizes_of,
    unit_of,
)

# The fewest systems for which an interval for new systems holds (docs/statistics.md).
MIN_SYSTEMS = FEWEST
# The fewest segments for which resampling them is worth anything, and those from which it is good.
MIN_SEGMENTS, ENOUGH_SEGMENTS = FEWEST_SEGMENTS, ENOUGH
# Below this share of informative segments most of what was judged compares no systems.
SPARSE = 0.5


@dataclass(frozen=True)
class Amount:
    """How much the humans judged; informative segments have two judged systems or more.

    `n_documents` and how many of equal size they are worth count where documents are the unit of
    intervals; 0 where segments are.
    """

    n_systems: int
    n_segments: int
    n_informative: int
    n_documents: int = 0
    effective_documents: float = 0.0


def amount_of(human: HumanScores) -> Amount:
    """Count what has a human score; systems also where their scores were published as such."""
    judged = ~np.isnan(human.values)
    systems = judged.any(axis=1)
    if human.published_systems is not None:
        systems = systems | ~np.isnan(human.published_systems)
    per_segment = judged.sum(axis=0)
    sizes = sizes_of(human.clusters) if unit_of(human.clusters) == DOCUMENTS else np.zeros(0)
    return Amount(
        int(systems.sum()),
        int((per_segment > 0).sum()),
        int((per_segment > 1).sum()),
        len(sizes),
        effective_clusters(sizes),
    )


def reasons_of(amount: Amount) -> list[Reason]:
    """Return what there is too little of."""
    return [*_systems(amount), *_segments(amount), *_documents(amount), *_sparse(amount)]


def _systems(amount: Amount) -> list[Reason]:
    n = amount.n_systems
    if n >= MIN_SYSTEMS:
        return []
    return [
        Reason(
            "few_systems",
            Severity.LIMITS,
            f"{n} system{'s' if n != 1 else ''} with human scores: below {MIN_SYSTEMS} nothing can "
            "be said of other systems, and no statistic over systems is ranked or bold.",
            "Quote segment-level statistics or the limit of hybrids, or judge more systems.",
            "systems",
        )
    ]


def _segments(amount: Amount) -> list[Reason]:
    n = amount.n_segments
    if n >= ENOUGH_SEGMENTS or not n:
        return []
    is_few = n < MIN_SEGMENTS
    return [
        Reason(
            "few_segments",
            Severity.LIMITS if is_few else Severity.NOTE,
            f"{n} judged segments: below {MIN_SEGMENTS} intervals over segments are not to be had."
            if is_few
            else f"{n} judged segments: below {ENOUGH_SEGMENTS} intervals are wide, and those over "
            "hybrids may be too narrow.",
            "Judge more segments; the tab Power says how many.",
            "campaign-power",
        )
    ]


def _documents(amount: Amount) -> list[Reason]:
    n, effective = amount.n_documents, amount.effective_documents
    if not n or effective >= FEW_DOCUMENTS:
        return []
    documents = pluralize(n, "judged document")
    return [
        Reason(
            "few_documents",
            Severity.LIMITS if n < FEWEST_DOCUMENTS else Severity.NOTE,
            f"{documents}: an interval over documents needs {FEWEST_DOCUMENTS}."
            if n < FEWEST_DOCUMENTS
            else f"{documents}, which count as {effective:.1f} of equal size: intervals and "
            f"p-values from fewer than {FEW_DOCUMENTS} are approximate.",
            "Judge more documents. Segments of one document depend on each other, so more segments "
            "of the same documents help less.",
            "campaign-power",
        )
    ]


def _sparse(amount: Amount) -> list[Reason]:
    informative, judged = amount.n_informative, amount.n_segments
    if amount.n_systems < 2 or judged == 0:
        return []
    is_few, is_sparse = informative < min(MIN_SEGMENTS, judged), informative < SPARSE * judged
    if not (is_few or is_sparse):
        return []
    return [
        Reason(
            "sparse",
            Severity.LIMITS,
            f"{informative:,} of {judged:,} judged segments have two or more judged systems: the "
            "others say nothing of one system against another.",
            "Compare systems on the segments they share only, or judge the same segments for all.",
            "systems",
        )
    ]
