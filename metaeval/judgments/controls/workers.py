"""Graham's filters of crowd workers: scores of controls, time, runs of equal scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_floats,
    factorize,
    group_means,
    one_length,
    one_of,
)
from metaeval.messages import plural
from metaeval.results import Notes, Result, TooFewWarning


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerFlags(Result):
    """Flags per worker; arrays follow ``workers``. ``n`` counts judgments.

    ``longest_run`` is the longest run of equal scores within a task, ``fastest`` the shortest
    task in seconds (nan if no times were given).
    """

    workers: tuple[Any, ...]
    mean_system: FloatArray
    mean_reference: FloatArray
    mean_degraded: FloatArray
    longest_run: IntArray
    fastest: FloatArray
    flag_scores: BoolArray
    flag_sequence: BoolArray
    flag_time: BoolArray

    @property
    def flagged(self) -> BoolArray:
        """True for workers with any flag."""
        return self.flag_scores | self.flag_sequence | self.flag_time


def graham_filters(
    scores: ArrayLike,
    workers: Iterable[Hashable],
    kinds: Iterable[str],
    *,
    tasks: Iterable[Hashable] | None = None,
    seconds: ArrayLike | None = None,
    reference_rules: bool = True,
    min_reference: float = 90.0,
    max_run: int = 8,
    min_seconds: float = 300.0,
) -> WorkerFlags:
    """Flag workers as Graham's scripts do (``segment-mteval``, 2015).

    *Scores*: mean(degraded) >= mean(system), or mean(system) >= mean(reference), or
    mean(reference) < ``min_reference``. *Sequence*: the same score more than ``max_run`` times in
    a row. *Time*: a task of less than ``min_seconds``. The flags start an inspection; whether a
    worker is trusted is decided by `control_test` on the pairs of degraded and intact outputs.

    Parameters
    ----------
    scores
        Raw scores 0-100 in the order they were given; nan is skipped.
    kinds
        ``SYSTEM``, ``REPEAT``, ``REF`` or ``BAD_REF`` per judgment; REPEAT counts nowhere.
    tasks
        The task (HIT) of each judgment; runs do not cross tasks. Default: one per worker.
    seconds
        The time that the judgment's task took.
    reference_rules
        False omits the two rules on references, as the flags published with WMT21 do (where a run
        counts from 11, ``max_run=10``).

    Examples
    --------
    >>> kinds = ["SYSTEM", "REF", "BAD_REF"] * 2
    >>> flags = graham_filters([60, 95, 20, 60, 60, 60], "AAABBB", kinds)
    >>> flags.workers, flags.flag_scores.tolist()
    (('A', 'B'), [False, True])
    """
    values = as_floats("scores", scores, ndim=1)
    labels, who = factorize(workers)
    kind = np.array(list(kinds), dtype=object)
    task = who if tasks is None else factorize(tasks)[1]
    times = (
        np.full(len(values), np.nan) if seconds is None else as_floats("seconds", seconds, ndim=1)
    )
    one_length(scores=values, workers=who, kinds=kind, tasks=task, seconds=times)
    for each in sorted(set(map(str, kind))):
        one_of("kinds", each, ("SYSTEM", "REPEAT", "REF", "BAD_REF"))
    notes = Notes()
    known = ~np.isnan(values)
    notes.exclude("missing-score", int((~known).sum()))
    system, reference, degraded = (
        group_means(values[on], who[on], len(labels))
        for on in (known & (kind == name) for name in ("SYSTEM", "REF", "BAD_REF"))
    )
    unchecked = int((np.isnan(reference) | np.isnan(degraded)).sum())
    if unchecked:
        notes.warn(
            TooFewWarning(
                plural(
                    "workers.unchecked",
                    "{n} worker has no REF or no BAD_REF judgment.",
                    "{n} workers have no REF or no BAD_REF judgment.",
                    n=unchecked,
                )
            )
        )
    runs = _longest_runs(values[known], who[known], task[known], len(labels))
    fastest = _smallest(times, who, len(labels))
    return WorkerFlags(
        n=int(known.sum()),
        **notes.fields,
        workers=labels,
        mean_system=system,
        mean_reference=reference,
        mean_degraded=degraded,
        longest_run=runs,
        fastest=fastest,
        flag_scores=score_flags(
            system,
            reference,
            degraded,
            reference_rules=reference_rules,
            min_reference=min_reference,
        ),
        flag_sequence=runs > max_run,
        flag_time=fastest < min_seconds,
    )


def score_flags(
    system: FloatArray,
    reference: FloatArray,
    degraded: FloatArray,
    *,
    reference_rules: bool = True,
    min_reference: float = 90.0,
) -> BoolArray:
    """Return which mean scores raise the flag; a missing mean raises none."""
    flags = degraded >= system
    if reference_rules:
        flags = flags | (system >= reference) | (reference < min_reference)
    return np.asarray(flags)


def _longest_runs(values: FloatArray, who: IntArray, task: IntArray, size: int) -> IntArray:
    longest = np.zeros(size, dtype=np.int64)
    length: dict[tuple[int, int], tuple[float, int]] = {}
    for value, worker, job in zip(values.tolist(), who.tolist(), task.tolist(), strict=True):
        last, run = length.get((worker, job), (np.nan, 0))
        run = run + 1 if value == last else 1
        length[worker, job] = value, run
        longest[worker] = max(longest[worker], run)
    return longest


def _smallest(times: FloatArray, who: IntArray, size: int) -> FloatArray:
    result = np.full(size, np.inf)
    known = ~np.isnan(times)
    np.minimum.at(result, who[known], times[known])
    return np.where(np.isinf(result), np.nan, result)
