"""Whether a metric prefers a text that is worse by construction to the original text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, IntArray, as_floats, as_pair, mean
from metaeval.correlation.intervals.independent import share_interval
from metaeval.documents import clusters_from, has_enough_documents, sizes_of, unit_of
from metaeval.messages import message
from metaeval.results import Notes, StatisticResult, TooFewWarning

NOTHING = message(
    "preference.no-segments", "No segment has both scores, so the preference is undefined."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Preference(StatisticResult):
    """``statistic`` is the share of segments with d > 0; ``n`` counts segments.

    ``interval`` is Wilson's for that share, over ``n_units`` documents or segments, as ``unit``
    says; None below six documents. ``differences`` are d of each segment, ``mean`` and
    ``median`` theirs, ``ties`` the share with d = 0.
    """

    differences: FloatArray
    mean: float
    median: float
    ties: float
    unit: str
    n_units: int

    def histogram(self, bins: int = 21) -> tuple[IntArray, FloatArray]:
        """Return counts (3, bins) of d < 0, d = 0 and d > 0, and edges (bins + 1,).

        Edges lie symmetrically about 0; with an odd number of bins ties are in the middle one.
        """
        reach = float(np.abs(self.differences).max(initial=0.0)) or 1.0
        edges = np.linspace(-reach, reach, bins + 1)
        signs = np.sign(self.differences)
        parts = [np.histogram(self.differences[signs == sign], edges)[0] for sign in (-1, 0, 1)]
        return np.stack(parts), edges


def preference(
    altered: ArrayLike, original: ArrayLike, *, documents: Iterable[Hashable] | None = None
) -> Preference:
    """d(a, b; x) = m(x, a) - m(x, b) of altered texts a against originals b (Zhao et al. 2020).

    The share with d > 0, ties not counted, is the paper's W2W where a is a word-by-word
    translation: a good metric has few. The mean is the variation of the score under the change
    (table 11 of the ReFreeEval paper has it for sentence similarity).

    Parameters
    ----------
    altered, original
        Scores of each segment, higher better; nan on either side is excluded and counted.
    documents
        The document of each segment; by default each is one. The interval is then over documents
        (`metaeval.correlation.intervals.independent.share_interval`).

    Warns
    -----
    TooFewWarning
        No segment has both scores; fewer than 20 documents; below six there is no interval.

    Examples
    --------
    >>> result = preference([0.4, 0.5, 0.3, 0.6], [0.3, 0.5, 0.5, 0.2])
    >>> result.statistic, result.ties
    (0.5, 0.25)
    >>> round(result.interval.low, 3), round(result.interval.high, 3)
    (0.15, 0.85)
    """
    left, right = as_pair("altered", altered, "original", original)
    notes = Notes()
    missing = np.isnan(left) | np.isnan(right)
    notes.exclude("missing-score", int(missing.sum()))
    differences = (left - right)[~missing]
    n, of = len(differences), clusters_from(documents, len(left))[~missing]
    if not n:
        notes.warn(TooFewWarning(NOTHING))
    has_interval = has_enough_documents(of, notes) and n > 0
    return Preference(
        n=n,
        **notes.fields,
        statistic=float((differences > 0).mean()) if n else np.nan,
        interval=share_interval(differences > 0, of) if has_interval else None,
        method="share of segments that prefer the altered text",
        differences=differences,
        mean=mean(differences),
        median=float(np.median(differences)) if n else np.nan,
        ties=float((differences == 0).mean()) if n else np.nan,
        unit=unit_of(of),
        n_units=len(sizes_of(of)),
    )


def pool_preferences(
    differences: Sequence[ArrayLike],
    sources: Sequence[Sequence[str]],
    documents: Sequence[Sequence[str]],
) -> Preference:
    """Pool preferences over several test sets.

    If two sets have the same source, a metric's preferences for its outputs are not independent:
    the source belongs to its document in the first set that has it.

    Parameters
    ----------
    differences
        d of each segment of each set (`Preference.differences`), nan for excluded segments.
    sources, documents
        The source of each segment, and its document; without a name it is a document of its own.

    Examples
    --------
    >>> result = pool_preferences([[1.0, 0.0], [1.0, -1.0]], ["ab", "ac"], [["", ""], ["", ""]])
    >>> result.n, result.statistic, result.n_units
    (4, 0.5, 3)
    """
    clusters: dict[str, Hashable] = {}
    labels: list[Hashable] = []
    for number, (texts, names) in enumerate(zip(sources, documents, strict=True)):
        own = [(number, name or position) for position, name in enumerate(names)]
        labels += [clusters.get(text, label) for text, label in zip(texts, own, strict=True)]
        clusters = dict(zip(reversed(texts), reversed(own), strict=True)) | clusters
    gaps = np.concatenate([as_floats("differences", each, ndim=1) for each in differences])
    return preference(gaps, np.zeros(len(gaps)), documents=labels)
