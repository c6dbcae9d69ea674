"""Find annotators who answered faster than the text can be read."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, IntArray, as_pair, factorize, positive_int
from metaeval.results import Notes, Result


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadingSpeeds(Result):
    """Times by annotator; arrays follow ``annotators``, and ``n`` counts timed judgments.

    ``seconds`` and ``least`` are the medians of the time taken and of the shortest time in which
    the text can be read. ``is_impossible`` is True if the median of their differences, judgment by
    judgment, is below zero.
    """

    annotators: tuple[Any, ...]
    counts: IntArray
    seconds: FloatArray
    least: FloatArray
    is_impossible: BoolArray


def reading_speeds(
    seconds: ArrayLike, least: ArrayLike, annotators: Iterable[Hashable], *, fewest: int = 5
) -> ReadingSpeeds:
    """Compare the time of each judgment with the shortest time in which its text can be read.

    Parameters
    ----------
    seconds, least
        One entry per judgment; a judgment with nan in either is excluded and counted.
    annotators
        The annotator of each judgment.
    fewest
        Annotators with fewer timed judgments are excluded.

    Examples
    --------
    >>> found = reading_speeds([1.0, 2.0, 9.0], [4.0, 3.0, 2.0], ["A", "A", "B"], fewest=1)
    >>> found.annotators, found.seconds.tolist(), found.is_impossible.tolist()
    (('A', 'B'), [1.5, 9.0], [True, False])
    """
    taken, needed = as_pair("seconds", seconds, "least", least)
    people, who = factorize(annotators)
    notes, is_timed = Notes(), ~np.isnan(taken) & ~np.isnan(needed)
    notes.exclude("missing-time", int((~is_timed).sum()))
    counts = np.bincount(who[is_timed], minlength=len(people))
    timed = np.flatnonzero(counts >= positive_int("fewest", fewest))
    notes.exclude("too-few-timed-judgments", int(counts.sum() - counts[timed].sum()))
    own = [is_timed & (who == one) for one in timed]
    return ReadingSpeeds(
        n=int(counts[timed].sum()),
        **notes.fields,
        annotators=tuple(people[one] for one in timed),
        counts=counts[timed],
        seconds=_medians([taken[each] for each in own]),
        least=_medians([needed[each] for each in own]),
        is_impossible=_medians([(taken - needed)[each] for each in own]) < 0,
    )


def _medians(groups: list[FloatArray]) -> FloatArray:
    return np.array([np.median(each) for each in groups], dtype=np.float64)
