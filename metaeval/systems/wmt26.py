"""WMT26's comparison of two systems by either of two bootstraps, and its error rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray, IntArray
from metaeval.documents import sum_by
from metaeval.messages import message
from metaeval.resampling import resample_counts, stream

# As published (wmt-conference/wmt26-general-mt, humeval/02b).
N_RESAMPLES = 100
# Keys of these random streams, so that they differ from those of other resamplings.
PAIRED, OWN = 261, 262
OR_WARNING = message(
    "ranking.wmt26-rule",
    "WMT26’s rule uses the smaller p-value of a paired and an unpaired bootstrap. It finds a "
    "difference between two equally good systems more often than the nominal {nominal:percent}: in "
    "about {shared:percent} of cases if all segments are shared, and in {low:percent} to "
    "{high:percent} if few are. The paired permutation test does not have this problem.",
    nominal=0.05,
    shared=0.06,
    low=0.10,
    high=0.17,
)


def either_bootstrap(
    scores: FloatArray,
    *,
    clusters: IntArray | None = None,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> FloatArray:
    """Return one-sided p of every system (row) being better than another by WMT26's rule.

    Systems x segments, nan where not judged. The smaller of two shares of bootstrap samples in
    which the first system is not better: of differences on the segments that both share, and of
    differences of means over each system's own segments. nan where both are undefined, and of a
    system with itself. The rule calls a difference significant below .05.

    ``clusters`` (segments,) numbers the document of each segment. Documents are then drawn, unlike
    in WMT26; by default segments are.
    """
    of = np.arange(scores.shape[1]) if clusters is None else clusters
    draw = _Draw(of, n_resamples, seed)
    table = np.full((len(scores), len(scores)), np.nan)
    for i, j in np.argwhere(~np.eye(len(scores), dtype=bool)):
        shares = [_paired(scores, i, j, draw), _own(scores, i, j, draw)]
        table[i, j] = min((each for each in shares if each == each), default=np.nan)
    return table


@dataclass(frozen=True)
class _Draw:
    clusters: IntArray
    n_resamples: int
    seed: int

    def means(self, values: FloatArray, key: tuple[int, ...]) -> FloatArray:
        """Return the means (n_resamples,) of the values that are there over drawn documents."""
        known = ~np.isnan(values)
        if not known.any():
            return np.full(self.n_resamples, np.nan)
        sums = sum_by(np.stack([values[known], np.ones(known.sum())]), self.clusters[known])
        counts = resample_counts(stream(self.seed, *key), self.n_resamples, sums.shape[1])
        return np.asarray(counts @ sums[0] / (counts @ sums[1]))


def _paired(scores: FloatArray, first: int, second: int, draw: _Draw) -> float:
    gaps = scores[first] - scores[second]
    # The smaller number first: (i, j) and (j, i) are one draw.
    key = (PAIRED, *sorted((int(first), int(second))))
    return _share(draw.means(gaps, key))


def _own(scores: FloatArray, first: int, second: int, draw: _Draw) -> float:
    means = [
        draw.means(row, (OWN, int(place)))
        for place, row in ((first, scores[first]), (second, scores[second]))
    ]
    return _share(means[0] - means[1])


def _share(gaps: FloatArray) -> float:
    return float(np.nan if np.isnan(gaps).any() else (gaps <= 0).mean())
