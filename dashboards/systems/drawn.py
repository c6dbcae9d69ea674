"""Systems whose screens were drawn by their standing: means that the drawing does not bias."""

from dataclasses import dataclass

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.documents.counted import Number
from dashboards.panel.human import HumanScores, reweighted


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A system's mean as it is, and weighted by 1 / the probability of being drawn, with the ends
    of its interval; over `n` judgments of so many `documents`."""

    system: str
    n: int
    documents: int
    plain: Number
    mean: Number
    low: Number
    high: Number


def drawn(campaign: Campaign, filters: Filters, human: HumanScores) -> list[Drawn]:
    """Return a row for every judged system, the best first; none where nothing was drawn."""
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
