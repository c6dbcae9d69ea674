"""Compute how correlations depend on the number of segments (`metaeval.sensitivity`)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.correlations.agreement import NO_HUMAN_SCORES, NO_SCORES
from dashboards.documents.head import CampaignDocument, head
from dashboards.documents.reasons import Number
from dashboards.panel.panel import compared_on, read_panel
from metaeval.messages import message, truncated
from metaeval.sensitivity import curves

VERSION = 5
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FEWEST_SAMPLES, MOST_SAMPLES = 40, 200
# Cells to compare for τ in total, which take seconds on one core.
BUDGET = 90_000_000
DRAWN_MEANS = message(
    "samplesize.published-systems",
    "System scores are means over the drawn segments, not the published system scores.",
)


@dataclass(frozen=True, kw_only=True)
class Point:
    """One statistic of one measure over `n_segments`, a `share` of the judged segments.

    The mean and the central 95% of the `n_defined` samples with a defined statistic.
    """

    key: str
    label: str
    statistic: str
    share: float
    n_segments: int
    mean: Number
    low: Number
    high: Number
    n_defined: int


@dataclass(frozen=True, kw_only=True)
class SampleSize(CampaignDocument):
    """The document; `of` is the statistic that the reader chose."""

    n_segments: int
    n_samples: int
    seed: int
    shares: Sequence[float] = SHARES
    sizes: Sequence[int]
    rows: Sequence[Point]
    of: str = "tau"

    @property
    def lines(self) -> dict[str, list[Point]]:
        """The points of that statistic by measure."""
        found: dict[str, list[Point]] = {}
        for row in self.rows:
            if row.statistic == self.of:
                found.setdefault(row.label, []).append(row)
        return found


DOCUMENT = SampleSize


def compute(campaign: Campaign, filters: Filters) -> SampleSize:
    """Return the curves; `rows` has a point for measure, statistic and share."""
    panel = read_panel(campaign, filters)
    human, measures = panel.human, list(panel.measures.values())
    values = np.where(panel.scored.shared, human.values, np.nan)
    n = int((~np.isnan(values)).any(axis=0).sum())
    samples = n_samples(human.n * len(measures) * sum(SHARES))
    warnings = list(human.warnings)
    if human.published_systems is not None:
        warnings.append(DRAWN_MEANS)
    if imported := [one.label for one in measures if one.systems is not None]:
        warnings.append(
            message(
                "samplesize.imported-systems",
                "System scores of {metrics} are means over the drawn segments, not the imported "
                "system scores.",
                metrics=truncated(imported, 3),
            )
        )
    if not human.n:
        warnings.append(NO_HUMAN_SCORES)
    elif not measures:
        warnings.append(NO_SCORES)
    warnings += compared_on(panel)
    sizes = [max(2, round(share * n)) for share in SHARES] if n else []
    points = curves(
        values,
        panel.scored.compared(),
        sizes,
        n_samples=samples,
        rng=np.random.default_rng(campaign.seed),
        clusters=panel.scored.human.clusters,
    )
    return SampleSize(
        **head(campaign, human),
        n_segments=n,
        n_samples=samples,
        seed=campaign.seed,
        sizes=sizes,
        rows=[
            Point(
                key=measures[point.metric].key,
                label=measures[point.metric].label,
                statistic=point.level,
                share=SHARES[point.size],
                n_segments=sizes[point.size],
                mean=point.mean,
                low=point.low,
                high=point.high,
                n_defined=point.n_defined,
            )
            for point in points
        ],
        warnings=list(dict.fromkeys(warnings)),
    )


def n_samples(cells: float) -> int:
    """Return as many samples as the budget allows, within the bounds."""
    return int(min(MOST_SAMPLES, max(FEWEST_SAMPLES, BUDGET // max(1.0, cells))))
