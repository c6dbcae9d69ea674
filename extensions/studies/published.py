"""Show a published table next to a study's own columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.filters import FilterError
from dashboards.comparisons.selection import array
from dashboards.published import Published, published
from metaeval.arrays import mean_of_all
from metaeval.messages import Message, message

# The names of statistics in published tables.
STATISTICS = {
    "tau-b": "tau",
    "limit": "r_hybrid",
    "hybrids": "r_hybrid",
    "pearson": "r_segment",
    "systems": "r_system",
}
AVERAGE = message("study.average", "Average")


@dataclass(frozen=True)
class Beside:
    """Published columns: `heads`, and by measure its label and one value per column.

    With several columns, the last one is their average: the printed one where all columns are
    shown, and None where a number is missing.
    """

    key: str
    title: str
    source: str
    note: str
    licence: str
    heads: Sequence[Message | str]
    labels: Mapping[str, str]
    values: Mapping[str, Sequence[float | None]]

    @property
    def largest(self) -> list[float | None]:
        """The largest number of each column, which papers print bold."""
        columns = zip(*self.values.values(), strict=True)
        return [max((v for v in column if v is not None), default=None) for column in columns]


def titles() -> dict[str, str]:
    """Return the published tables by key."""
    return {table_of(each): each.title for each in published().values()}


def table_of(column: Published) -> str:
    """Return the table of a column, such as `cheng2023` for `cheng2023/en-zh-80`."""
    return column.key.partition("/")[0]


def beside_of(key: str, statistic: str, directions: Iterable[str]) -> Beside | None:
    """Return the columns of a published table with a statistic; None where none has it.

    Only columns of the given directions are returned, or all without any direction. Raises
    FilterError for an unknown table.
    """
    if not key:
        return None
    if key not in titles():
        raise FilterError(
            message(
                "study.no-published-table",
                "beside: the table “{table}” does not exist. Choose one of these: {tables}.",
                table=key,
                tables=list(titles()),
            )
        )
    shown, name = set(directions), STATISTICS.get(statistic, "")
    columns = [
        each
        for each in published().values()
        if table_of(each) == key
        and any(found == name and measure for found, measure in each.values)
        and (not shown or each.direction in shown)
    ]
    return _table(key, columns, name) if columns else None


def _table(key: str, columns: Sequence[Published], statistic: str) -> Beside:
    first = columns[0]
    # Tables of one paper may differ in their order.
    measures = dict.fromkeys(m for each in columns for name, m in each.values if name == statistic)
    values = {m: [each.values.get((statistic, m)) for each in columns] for m in measures}
    heads: list[Message | str] = [each.label for each in columns]
    if len(columns) > 1:
        printed = (
            first.averages
            if len(columns) == sum(table_of(each) == key for each in published().values())
            else {}
        )
        heads = [*heads, AVERAGE]
        values = {m: [*v, printed.get((statistic, m), average(v))] for m, v in values.items()}
    labels = {measure: first.measures[measure] for measure in measures}
    return Beside(key, first.title, first.source, first.note, first.licence, heads, labels, values)


def average(values: Sequence[float | None]) -> float | None:
    """Return the mean, None where a value is missing."""
    mean = mean_of_all(array(values))
    return None if np.isnan(mean) else float(mean)
