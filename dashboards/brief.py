"""Three correlations of each measure with the humans, cheap enough to be taken many times.

The numbers are those of the correlation table (`dashboards.correlations`); what is missing here
are the hybrids, the tests and the intervals.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import metaeval
from annotation.models import Campaign
from dashboards import measures
from dashboards.selectors import Floats, HumanScores
from metaeval.measures import Measure
from metaeval.resampled import weighted
from metaeval.rowwise import kendall_tau, row_pearson
from metrics.scores import Corpus, MeasureScores

STATISTICS = {
    "tau": "Segment level, Kendall τ-b",
    "r_segment": "Segment level, Pearson r",
    "r_system": "System level, Pearson r over systems",
}
# Any two systems correlate at ±1.
FEWEST_SYSTEMS = 3
NAN = float("nan")
KENDALL = Measure("kendall")


@dataclass(frozen=True, eq=False)
class Brief:
    """One measure, turned round where lower is better: larger always means better.

    `values` is systems x segments; `statistics` (systems x segments x k) and `corpus` are there
    where the score of a system is no mean, and `sign` is what `corpus` has to be turned by.
    `systems` has the scores of whole systems that a metric came with, which count instead.
    """

    key: str
    label: str
    metric: str
    signature: str
    values: Floats
    statistics: Floats | None
    corpus: Corpus | None
    sign: float
    systems: Floats | None = None

    def of_documents(self) -> "Brief":
        """The same over a part of the documents: scores of whole systems say nothing of it."""
        return self if self.systems is None else replace(self, systems=self.systems * NAN)

    def system_values(self, counts: Floats, cells: Any) -> Floats:
        """Score the systems in samples of segments: samples x systems, nan where there is none.

        `counts` is samples x segments, `cells` the (systems x segments) cells to look at.
        """
        own = metaeval.system_scores(
            self.sign * self.values,
            cells,
            counts=self.statistics,
            score=self.corpus,
            weights=counts,
        )
        return self.sign * own


def read_measures(campaign: Campaign, human: HumanScores) -> list[Brief]:
    """Read every measure with a score for the campaign's outputs, in the order of the catalogue."""
    return [brief_of(one) for one in measures.read_measures(campaign, human).values()]


def brief_of(one: MeasureScores) -> Brief:
    """Turn a measure round where lower is better."""
    sign = 1.0 if one.higher_is_better else -1.0
    names = (one.key, one.label, one.metric, one.signature)
    systems = None if one.systems is None else sign * one.systems
    return Brief(*names, sign * one.values, one.statistics, one.corpus, sign, systems)


def correlations(human: Floats, one: Brief, published: Floats | None = None) -> Floats:
    """Return tau, r over outputs and r over systems (in the order of STATISTICS).

    Parameters
    ----------
    human
        systems x segments, nan where nobody judged; what is left out of a question is nan too.
    published
        Scores of the systems published as such: then the metric covers every output.
    """
    both = ~(np.isnan(human) | np.isnan(one.values))
    x, y = human[both], one.values[both]
    over = over_systems(*(side[None] for side in sides(human, one, published)))[0]
    return np.array([kendall_tau(x, y), row_pearson(x[None], y[None])[0], over])


def sides(human: Floats, one: Brief, published: Floats | None = None) -> tuple[Floats, Floats]:
    """Return each system's human score and its score of a measure, as in `correlations`."""
    everything = np.ones((1, human.shape[1]))
    if one.systems is not None:
        means = system_means(human, everything)[0] if published is None else published
        return means, one.systems
    if published is not None:
        return published, one.system_values(everything, ~np.isnan(one.values))[0]
    both = ~(np.isnan(human) | np.isnan(one.values))
    means, theirs = _sides(human, one, both, everything)
    return means[0], theirs[0]


def resampled(human: Floats, one: Brief, counts: Floats) -> Floats:
    """Return samples x 3: the correlations over segments drawn as often as `counts` says.

    Copies of an output tie on both sides. `counts` is samples x segments.
    """
    both = ~(np.isnan(human) | np.isnan(one.values))
    cells = np.nonzero(both)[1]
    taus = weighted(human[both], one.values[both], counts[:, cells], KENDALL)
    means, theirs = _sides(human, one, both, counts)
    return np.stack(
        [taus, _pearson(human, one.values, both, counts), over_systems(means, theirs)], axis=1
    )


def _sides(human: Floats, one: Brief, both: Any, counts: Floats) -> tuple[Floats, Floats]:
    """Return the systems' human scores and those of a measure, over the cells that both have."""
    means = metaeval.system_scores(human, both, weights=counts)
    return means, one.system_values(counts, both)


def _pearson(human: Floats, values: Floats, both: Any, counts: Floats) -> Floats:
    """Pearson's r over cells from sums per segment, centred first so that digits survive."""
    if not both.any():
        return np.full(len(counts), np.nan)
    x = np.where(both, human - human[both].mean(), 0.0)
    y = np.where(both, values - values[both].mean(), 0.0)
    per_segment = [part.sum(axis=0) for part in (both.astype(float), x, y, x * x, y * y, x * y)]
    n, sx, sy, sxx, syy, sxy = (counts @ np.stack(per_segment, axis=1)).T
    vx, vy = n * sxx - sx**2, n * syy - sy**2
    known = (vx > 1e-12 * n * sxx) & (vy > 1e-12 * n * syy)
    r = np.full(len(counts), np.nan)
    r[known] = (n * sxy - sx * sy)[known] / np.sqrt(vx[known] * vy[known])
    return np.clip(r, -1.0, 1.0)


def system_means(human: Floats, counts: Floats) -> Floats:
    """Return the means of the systems' human scores: samples x systems, nan for no score."""
    return metaeval.system_scores(human, ~np.isnan(human), weights=counts)


def over_systems(means: Floats, theirs: Floats) -> Floats:
    """Pearson over systems, a row a sample; nan for fewer than three systems."""
    systems = (~np.isnan(means) & ~np.isnan(theirs)).sum(axis=1)
    means = np.broadcast_to(means, theirs.shape)
    found: Floats = row_pearson(means, theirs)
    return np.where(systems >= FEWEST_SYSTEMS, found, np.nan)


def draw(rng: np.random.Generator, samples: int, n: int, size: int) -> Floats:
    """Return how often each of `n` segments occurs in samples of `size` drawn with replacement."""
    drawn = rng.integers(0, n, size=(samples, size)) + np.arange(samples)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=samples * n).reshape(samples, n).astype(np.float64)


def ranks(values: Sequence[float] | Floats) -> Floats:
    """Rank the largest 1; equal values share the better rank, nan has none."""
    table = np.asarray(values, dtype=np.float64)
    above = (table[None, :] > table[:, None]).sum(axis=1) + 1.0
    return np.where(np.isnan(table), np.nan, above)
