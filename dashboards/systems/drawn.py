"""Compute unbiased means where items were drawn by the scores of systems."""

from dataclasses import dataclass

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.documents.counted import Number
from dashboards.panel.human import HumanScores, reweighted


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A system's plain mean, and its mean weighted by 1 / the probability of being drawn.

    `low` and `high` are the ends of the latter's interval, over `n` judgments of `documents`.
    """

    system: str
    n: int
    documents: int
    plain: Number
    mean: Number
    low: Number
    high: Number


def drawn(campaign: Campaign, filters: Filters, human: HumanScores) -> list[Drawn]:
    """Return a row per judged system, the best first; empty where items were not drawn."""
    found = reweighted(campaign, filters, human)
    if found is None:
        return []
    names = human.names
    ends = zip(found.lows.tolist(), found.highs.tolist(), strict=True)
    return [
        Drawn(
            system=names[system],
            n=int(found.counts[row]),
            documents=int(found.documents[row]),
            plain=float(found.plain[row]),
            mean=float(found.means[row]),
            low=low if low == low else None,
            high=high if high == high else None,
        )
        for row, (system, (low, high)) in sorted(
            enumerate(zip(found.systems, ends, strict=True)), key=lambda each: -found.means[each[0]]
        )
    ]
