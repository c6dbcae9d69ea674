"""Each human as a metric against the others: how far agreement with these humans can go."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from metaeval.arrays import FloatArray, IntArray
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import Question
from metaeval.replication.questions.values import values_of
from metaeval.results import Notes, Result, StatisticsWarning

# Fewer outputs that others judged too say nothing of a person.
LEAST = 30
# Of a crowd those with the most such outputs.
MOST = 50
PERSON = "\0person"
Sums = tuple[FloatArray, FloatArray]


class NoOverlapWarning(StatisticsWarning):
    """Nobody judged enough that others judged too, so people cannot be compared with people."""

    code = "no_overlap"


@dataclass(frozen=True, eq=False)
class Ratings:
    """Judgments: who (n,), of which place of the flattened systems x segments (n,), what (n,)."""

    rater: IntArray
    place: IntArray
    score: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Ceiling(Result):
    """Each of ``n`` people against the mean of the others, on what both judged.

    ``raters`` are those with a value, ``values`` and ``overlaps`` (n,) what they reach and on how
    many outputs. ``metrics`` (m,) is what the metrics reach on the same outputs against the same
    others, the mean over these people; nan where undefined.
    """

    raters: IntArray
    values: FloatArray
    overlaps: IntArray
    metrics: FloatArray

    @property
    def mean(self) -> float:
        """The mean over people; nan without any."""
        return float(self.values.mean()) if len(self.values) else float("nan")


def ceiling(
    ratings: Ratings, scored: Scored, question: Question, *, least: int = LEAST, most: int = MOST
) -> Ceiling:
    """Take one person out at a time and correlate them with the mean of the others' judgments.

    A person's score of an output is the mean of their judgments of it. What a metric reaches
    against the mean of all is no fair comparison, because that mean is of more people and often of
    more outputs: ``metrics`` is. A metric above the ceiling is nearer to these humans than one of
    them is to the others, not better than people (Proietti et al. 2025).

    Warns
    -----
    NoOverlapWarning
        Where nobody judged ``least`` outputs that others judged too.
    """
    notes = Notes()
    people, counts = _overlaps(ratings)
    enough = people[counts >= least]
    if not len(enough):
        message = f"There is no ceiling: nobody judged {least} outputs that others judged too."
        notes.warn(NoOverlapWarning(message))
    notes.exclude("too few outputs that others judged", len(people) - len(enough))
    notes.exclude("others have more such outputs", len(enough[most:]))
    every = _sums(ratings.place, ratings.score, scored.human.values.size)
    rows = [_of(scored, question, *_sides(ratings, who, every)) for who in enough[:most]]
    known = np.array([np.isfinite(row[-1]) for row in rows], dtype=np.bool_)
    notes.exclude("undefined", int((~known).sum()))
    table = np.array(rows).reshape(len(rows), len(scored.metrics) + 1)[known]
    return Ceiling(
        n=len(table),
        **notes.fields,
        raters=enough[:most][known],
        values=table[:, -1],
        overlaps=counts[counts >= least][:most][known],
        metrics=_means(table[:, :-1]),
    )


def _overlaps(ratings: Ratings) -> tuple[IntArray, IntArray]:
    """Everybody, and how many outputs they judged that others judged too; the most first."""
    pairs = np.unique(np.stack([ratings.place, ratings.rater]), axis=1)
    _, at, people = np.unique(pairs[0], return_inverse=True, return_counts=True)
    everybody, who = np.unique(pairs[1], return_inverse=True)
    counts = np.bincount(who, weights=people[at] > 1, minlength=len(everybody)).astype(np.int64)
    order = np.argsort(-counts, kind="stable")
    return everybody[order], counts[order]


def _sides(ratings: Ratings, who: int, every: Sums) -> tuple[FloatArray, FloatArray]:
    """One person's mean scores and the others', flat, nan but where both are."""
    sums, counts = every
    mine = ratings.rater == who
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
    """The metrics' values and, last, the person's, against the others."""
    human = scored.human.with_values(rest.reshape(scored.human.shape))
    person = human.with_values(own.reshape(human.shape))
    one = replace(
        scored,
        human=human,
        metrics={**scored.metrics, PERSON: person},
        human_systems=None,
        given={},
    )
    return values_of(one, question)[0]


def _means(table: FloatArray) -> FloatArray:
    known = np.isfinite(table)
    counts = known.sum(axis=0)
    sums = np.where(known, table, 0.0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
