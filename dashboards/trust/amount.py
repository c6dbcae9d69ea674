"""Check whether there are enough systems, segments and documents for the numbers shown."""

from dataclasses import dataclass

import numpy as np

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
from metaeval.messages import message, plural

# The fewest systems for which an interval for new systems holds (docs/statistics.md).
MIN_SYSTEMS = FEWEST
# The fewest segments for which resampling gives an interval, and the number from which it is good.
MIN_SEGMENTS, ENOUGH_SEGMENTS = FEWEST_SEGMENTS, ENOUGH
# Below this share of informative segments, most judged segments do not compare systems.
SPARSE = 0.5


@dataclass(frozen=True)
class Amount:
    """How much the humans judged; informative segments have two judged systems or more.

    `n_documents` and `effective_documents` (the equivalent number of equal size) are 0 where
    segments are the unit of intervals.
    """

    n_systems: int
    n_segments: int
    n_informative: int
    n_documents: int = 0
    effective_documents: float = 0.0


def amount_of(human: HumanScores) -> Amount:
    """Count the systems, segments and documents with a human score.

    A published score of a whole system counts as well.
    """
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
    """Return a reason for each amount that is too small."""
    return [*_systems(amount), *_segments(amount), *_documents(amount), *_sparse(amount)]


def _systems(amount: Amount) -> list[Reason]:
    n = amount.n_systems
    if n >= MIN_SYSTEMS:
        return []
    return [
        Reason(
            "few_systems",
            Severity.LIMITS,
            plural(
                "trust.few-systems",
                "Only {n} system has human scores. With fewer than {least}, the numbers do not "
                "generalise to other systems, and no statistic over systems is ranked or bold.",
                "Only {n} systems have human scores. With fewer than {least}, the numbers do not "
                "generalise to other systems, and no statistic over systems is ranked or bold.",
                n=n,
                least=MIN_SYSTEMS,
            ),
            message(
                "trust.few-systems-advice",
                "Report segment-level statistics or the limit of hybrids, or judge more systems.",
            ),
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
            plural(
                "trust.few-segments",
                "Only {n} segment is judged. Intervals over segments need at least {least}.",
                "Only {n} segments are judged. Intervals over segments need at least {least}.",
                n=n,
                least=MIN_SEGMENTS,
            )
            if is_few
            else message(
                "trust.fewer-segments",
                "{n} segments are judged. With fewer than {enough}, intervals are wide, and those "
                "over hybrids may be too narrow.",
                n=n,
                enough=ENOUGH_SEGMENTS,
            ),
            message(
                "trust.few-segments-advice",
                "Judge more segments. The tab Power shows how many you need.",
            ),
            "campaign-power",
        )
    ]


def _documents(amount: Amount) -> list[Reason]:
    n, effective = amount.n_documents, amount.effective_documents
    if not n or effective >= FEW_DOCUMENTS:
        return []
    return [
        Reason(
            "few_documents",
            Severity.LIMITS if n < FEWEST_DOCUMENTS else Severity.NOTE,
            plural(
                "trust.few-documents",
                "Only {n} document is judged. An interval over documents needs at least {least}.",
                "Only {n} documents are judged. An interval over documents needs at least {least}.",
                n=n,
                least=FEWEST_DOCUMENTS,
            )
            if n < FEWEST_DOCUMENTS
            else message(
                "trust.fewer-equal-documents",
                "{n} documents are judged. With fewer than {enough}, intervals and p-values are "
                "approximate.",
                n=n,
                enough=FEW_DOCUMENTS,
            )
            if round(effective, 1) == n
            else message(
                "trust.fewer-documents",
                "{n} documents are judged, equivalent to {effective:.1f} documents of equal size. "
                "With fewer than {enough}, intervals and p-values are approximate.",
                n=n,
                effective=effective,
                enough=FEW_DOCUMENTS,
            ),
            message(
                "trust.few-documents-advice",
                "Judge more documents. Segments of one document depend on each other, so more "
                "segments of the same documents help less.",
            ),
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
            message(
                "trust.sparse",
                "{n} of {total} judged segments have two or more judged systems. The other "
                "segments do not compare systems.",
                n=informative,
                total=judged,
            ),
            message(
                "trust.sparse-advice",
                "Compare systems only on the segments that they share, or judge the same segments "
                "for all systems.",
            ),
            "systems",
        )
    ]
