"""Human ceiling: each annotator, treated as a metric, against the mean of the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from metaeval.arrays import FloatArray, IntArray
from metaeval.messages import message
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import Question
from metaeval.replication.questions.values import values_of
from metaeval.results import Notes, Result, StatisticsWarning
from metaeval.scores.corpus import CorpusStatistics
from metaeval.scores.matrix import ScoreMatrix

# Number of outputs judged by others too that an annotator needs.
LEAST = 30
# The human ceiling uses at most this many annotators: those with the most such outputs.
MOST = 50
PERSON = "\0person"
Sums = tuple[FloatArray, FloatArray]


class NoOverlapWarning(StatisticsWarning):
    """No annotator judged enough outputs that others judged too, so there is no human ceiling."""

    code = "no_overlap"


@dataclass(frozen=True, eq=False)
class Ratings:
    """Judgments, (n,): annotator, place in the flattened systems x segments, and score."""

    annotator: IntArray
    place: IntArray
    score: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Ceiling(Result):
    """Agreement of each of ``n`` annotators with the mean of the others, on shared outputs.

    ``annotators`` are those with a value; ``values`` and ``overlaps`` (n,) are their agreement and
    the number of shared outputs. ``metrics`` (m,) is the agreement of the metrics on the same
    outputs with the same others, averaged over the annotators; nan if undefined.
    """

    annotators: IntArray
    values: FloatArray
    overlaps: IntArray
    metrics: FloatArray

    @property
    def mean(self) -> float:
        """Mean over annotators; nan without any."""
        return float(self.values.mean()) if len(self.values) else float("nan")


def ceiling(
    ratings: Ratings, scored: Scored, question: Question, *, least: int = LEAST, most: int = MOST
) -> Ceiling:
    """Compute each annotator's agreement with the mean of the others' judgments.

    An annotator's score of an output is the mean of their judgments of it. To compare with metrics
    use ``metrics``, not their agreement with the mean of all annotators, which is a mean of more
    annotators and often over more outputs. A metric above the human ceiling agrees better with
    these annotators than they agree with each other; it is not better than humans (Proietti et al.
    2025).

    Warns
    -----
    NoOverlapWarning
        No annotator judged ``least`` outputs that others judged too.
    """
    notes = Notes()
    people, counts = _overlaps(ratings)
    enough = people[counts >= least]
    if not len(enough):
        notes.warn(
            NoOverlapWarning(
                message(
                    "ceiling.no-overlap",
                    "There is no human ceiling, because no annotator judged at least {least} "
                    "outputs that others judged too.",
                    least=least,
                )
            )
        )
    notes.exclude("too-few-shared-outputs", len(people) - len(enough))
    notes.exclude("fewer-shared-outputs-than-others", len(enough[most:]))
    every = _sums(ratings.place, ratings.score, scored.human.values.size)
    rows = [_of(scored, question, *_sides(ratings, who, every)) for who in enough[:most]]
    known = np.array([np.isfinite(row[-1]) for row in rows], dtype=np.bool_)
    notes.exclude("undefined", int((~known).sum()))
    table = np.array(rows).reshape(len(rows), len(scored.metrics) + 1)[known]
    return Ceiling(
        n=len(table),
        **notes.fields,
        annotators=enough[:most][known],
        values=table[:, -1],
        overlaps=counts[counts >= least][:most][known],
        metrics=_means(table[:, :-1]),
    )


def _overlaps(ratings: Ratings) -> tuple[IntArray, IntArray]:
    """Return all annotators and how many outputs they share with others, largest count first."""
    pairs = np.unique(np.stack([ratings.place, ratings.annotator]), axis=1)
    _, at, people = np.unique(pairs[0], return_inverse=True, return_counts=True)
    everybody, who = np.unique(pairs[1], return_inverse=True)
    counts = np.bincount(who, weights=people[at] > 1, minlength=len(everybody)).astype(np.int64)
    order = np.argsort(-counts, kind="stable")
    return everybody[order], counts[order]


def _sides(ratings: Ratings, who: int, every: Sums) -> tuple[FloatArray, FloatArray]:
    """Return one annotator's mean scores and the others', flat; nan unless both exist."""
    sums, counts = every
    mine = ratings.annotator == who
    own_sums, own_counts = _sums(ratings.place[mine], ratings.score[mine], len(sums))
    others = counts - own_counts
    both = (own_counts > 0) & (others > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        own, rest = own_sums / own_counts, (sums - own_sums) / others
    return np.where(both, own, np.nan), np.where(both, rest, np.nan)


def _sums(place: IntArray, score: FloatArray, size: int) -> Sums:
    sums = np.bincount(place, weights=score, minlength=size).astype(np.float64)
    return sums, np.bincount(place, minlength=size).astype(np.float64)


def _of(scored: Scored, question: Question, own: FloatArray, rest: FloatArray) -> FloatArray:
    """Return the values of the metrics and, last, of the annotator, against the others."""
    # Most annotators judged few segments; the others change nothing.
    shape = scored.human.shape
    columns = np.flatnonzero(np.isfinite(rest.reshape(shape)).any(axis=0))
    systems, segments = scored.human.systems, [scored.human.segments[n] for n in columns]
    named = scored.human.documents
    documents = None if named is None else [named[n] for n in columns]
    human = ScoreMatrix(rest.reshape(shape)[:, columns], systems, segments, documents)
    person = human.with_values(own.reshape(shape)[:, columns])
    metrics = {
        key: human.with_values(each.values[:, columns]) for key, each in scored.metrics.items()
    }
    one = replace(
        scored,
        human=human,
        metrics={**metrics, PERSON: person},
        counts={
            key: CorpusStatistics(each.values[:, columns], systems, segments, each.score, documents)
            for key, each in scored.counts.items()
        },
        human_systems=None,
        given={},
    )
    return values_of(one, question)[0]


def _means(table: FloatArray) -> FloatArray:
    known = np.isfinite(table)
    counts = known.sum(axis=0)
    sums = np.where(known, table, 0.0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
