"""Test the differences between settings of a sweep over seeds, for the page of the sweep."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from metaeval.messages import Message, message
from metaeval.significance import SeedComparison
from training.models import TrainingJob
from training.sweeps import table

NO_SPREAD = message(
    "sweep.no-spread",
    "If a difference is the same with every seed, the t test and Wilcoxon’s test are undefined.",
)


@dataclass(frozen=True)
class Difference:
    """A setting minus the first over ``n`` common seeds; an undefined p-value is None.

    ``epsilon`` is that of almost stochastic order (:class:`metaeval.SeedComparison`).
    """

    setting: str
    n: int
    difference: float
    permutation: float
    t: float | None
    wilcoxon: float | None
    epsilon: float


@dataclass(frozen=True)
class Differences:
    """All settings against the first, those that cannot be tested yet, and warnings."""

    first: str
    rows: list[Difference]
    untested: list[str]
    warnings: list[Message]


def over_seeds(jobs: Sequence[TrainingJob]) -> Differences | None:
    """Compare the accuracies on held-out texts of a sweep of ReFreeEval trainings.

    Returns None if all jobs have the same settings.
    """
    first, *others = table.group(jobs)
    if not others:
        return None
    base = table.accuracies(first)
    found = {each.label: table.compare(table.accuracies(each), base) for each in others}
    tested = {label: each for label, each in found.items() if each is not None}
    rows = [_row(label, each) for label, each in tested.items()]
    untested = [label for label in found if label not in tested]
    return Differences(first.label, rows, untested, _warnings(rows, tested.values()))


def _row(label: str, found: SeedComparison) -> Difference:
    return Difference(
        setting=label,
        n=found.n,
        difference=found.difference,
        permutation=found.permutation,
        t=_finite(found.t),
        wilcoxon=_finite(found.wilcoxon),
        epsilon=found.epsilon,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _warnings(rows: Iterable[Difference], tested: Iterable[SeedComparison]) -> list[Message]:
    found = dict.fromkeys(warning.message for each in tested for warning in each.warnings)
    has_no_spread = any(row.t is None for row in rows)
    return [*found, *([NO_SPREAD] if has_no_spread else [])]
