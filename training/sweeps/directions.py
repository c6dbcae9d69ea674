"""The table of a sweep over several test sets, as tables 1 to 3 and 7 to 9 of ReFreeEval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import TestSet
from training.sweeps import table
from training.sweeps.table import Column, Setting, Values


@dataclass(frozen=True)
class Best:
    """A setting's values by test set, nan where there is none.

    ``of_average`` are those of the seed with the best average (tables 1 to 3), ``of_each`` the best
    of any seed for each test set (tables 7 to 9). Both choose seeds by the judgments that they are
    compared with, so both are too high for new judgments.
    """

    label: str
    of_average: list[float]
    of_each: list[float]


def titles(test_sets: Sequence[TestSet]) -> list[str]:
    """Return the language pairs of test sets, or the addresses where two have the same pair."""
    pairs = [each.direction for each in test_sets]
    return pairs if len(set(pairs)) == len(pairs) else [each.slug for each in test_sets]


def best(label: str, values: Sequence[Values]) -> Best:
    """Choose among seeds; `values` are those of one setting for each test set."""
    shared = set.intersection(*(set(each) for each in values))
    chosen = max(sorted(shared), key=lambda seed: sum(each[seed] for each in values), default=None)
    return Best(
        label,
        [np.nan if chosen is None else each[chosen] for each in values],
        [max(each.values(), default=np.nan) for each in values],
    )


def rows(
    settings: Sequence[Setting], columns: Mapping[str, Column], metrics: Sequence[str]
) -> list[Best]:
    """Return a row for every metric without seeds, and then for every setting."""
    fixed = [
        Best(name, found, found)
        for name in metrics
        for found in [[column.get(name, np.nan) for column in columns.values()]]
    ]
    return fixed + [
        best(each.label, [table.column(each, column) for column in columns.values()])
        for each in settings
    ]
