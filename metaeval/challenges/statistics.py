"""Accuracy and tau of good against incorrect translations, by phenomenon, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import as_pair
from metaeval.correlation.intervals.independent import (
    effective_outcomes,
    mean_interval,
    share_interval,
)
from metaeval.documents import clusters_from
from metaeval.results import Interval, Notes, Result

# The weights of ACES (Amrhein, Moghe and Guillou 2022).
ACES_WEIGHTS: Mapping[str, float] = {
    "addition": 5.0,
    "omission": 5.0,
    "mistranslation": 5.0,
    "untranslated": 1.0,
    "do not translate": 1.0,
    "overtranslation": 5.0,
    "undertranslation": 5.0,
    "real-world knowledge": 1.0,
    "wrong language": 1.0,
    "punctuation": 0.1,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Detection(Result):
    """How often a metric scores the good translation higher; ``n`` counts pairs.

    ``accuracy`` is that share, ``tau`` = 2 accuracy - 1 = (C - D) / (C + D) with ties in D, and
    ``ties`` the share of equal scores. Intervals are Wilson's; ``variance`` is that of tau with two
    hits and two misses added (Agresti and Coull 1998), so that it is not 0 where all pairs agree.
    """

    accuracy: float
    tau: float
    ties: float
    accuracy_interval: Interval
    tau_interval: Interval
    variance: float


def detection(
    good: ArrayLike, bad: ArrayLike, *, sources: Sequence[str] | None = None
) -> Detection:
    """Compare a metric's scores of good and incorrect translations, higher better.

    A tie counts as wrong, as in ACES and DEMETR. Pairs of one source depend on each other, so
    intervals are clustered by source (`share_interval`).

    Parameters
    ----------
    good, bad
        Scores of n pairs; a pair with nan is excluded and counted.
    sources
        The source of each pair; by default all differ.

    Examples
    --------
    >>> found = detection([3, 2, 5, 4], [1, 2, 4, 6])
    >>> found.accuracy, found.tau, found.ties
    (0.5, 0.0, 0.25)
    """
    x, y = as_pair("good", good, "bad", bad)
    notes = Notes()
    known = ~np.isnan(x + y)
    notes.exclude("missing-score", int((~known).sum()))
    n, hits = int(known.sum()), (x > y)[known]
    labels = None if sources is None else np.array(sources, dtype=object)[known].tolist()
    clusters = clusters_from(labels, n)
    share = float(hits.mean()) if n else np.nan
    interval = share_interval(hits, clusters)
    size = effective_outcomes(hits, clusters) if n else np.nan
    return Detection(
        n=n,
        **notes.fields,
        accuracy=share,
        tau=2.0 * share - 1.0,
        ties=float((x == y)[known].mean()) if n else np.nan,
        accuracy_interval=interval,
        tau_interval=Interval(2 * interval.low - 1, 2 * interval.high - 1, interval.confidence),
        variance=4.0 * (share * size + 2.0) * ((1.0 - share) * size + 2.0) / (size + 4.0) ** 3,
    )


@dataclass(frozen=True)
class AcesScore:
    """The weighted sum of the categories' taus, each the mean of its phenomena's.

    nan unless every category of ACES is there. The interval is normal; it takes the phenomena as
    given and their pairs as new.
    """

    score: float
    interval: Interval
    categories: Mapping[str, float]


def aces_score(phenomena: Mapping[str, tuple[str, Detection]]) -> AcesScore:
    """Return the ACES score from phenomenon -> (category, detection).

    Examples
    --------
    >>> perfect = detection([2.0] * 9, [1.0] * 9)
    >>> round(aces_score({name: (name, perfect) for name in ACES_WEIGHTS}).score, 6)
    29.1
    """
    groups: dict[str, list[Detection]] = {}
    for category, found in phenomena.values():
        groups.setdefault(category, []).append(found)
    taus = {name: float(np.mean([each.tau for each in own])) for name, own in groups.items()}
    score = sum(weight * taus.get(name, np.nan) for name, weight in ACES_WEIGHTS.items())
    variance = sum(
        weight**2 * sum(each.variance for each in groups[name]) / len(groups[name]) ** 2
        for name, weight in ACES_WEIGHTS.items()
        if name in groups
    )
    half = 1.959963984540054 * float(np.sqrt(variance))
    return AcesScore(float(score), Interval(score - half, score + half, 0.95), taus)


def span_f1(
    spans: Sequence[tuple[frozenset[str], frozenset[str]]], sources: Sequence[str]
) -> tuple[float, Interval]:
    """Return the mean span F1 of SPAN-ACES over pairs, with an interval clustered by source.

    Spans are equal if their texts are; without annotated and predicted spans F1 is 1.

    Parameters
    ----------
    spans
        Annotated and predicted spans of each pair.

    Examples
    --------
    >>> pairs = [(frozenset("ab"), frozenset("a")), (frozenset(), frozenset())]
    >>> round(span_f1(pairs, ["s", "t"])[0], 3)
    0.833
    """
    values = []
    for gold, predicted in spans:
        size = len(gold) + len(predicted)
        values.append(2.0 * len(gold & predicted) / size if size else 1.0)
    scores = np.array(values)
    return float(scores.mean()) if len(scores) else np.nan, mean_interval(
        scores, clusters=clusters_from(sources, len(scores))
    )
