"""Tables of a study: each measure over its campaigns, and the average."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from annotation.models import Campaign
from dashboards.comparisons.selection import array
from dashboards.documents.head import CampaignDocument
from dashboards.papers import latex
from metaeval.arrays import mean_of_all
from metaeval.messages import Message, grouped, message

STATISTICS = {
    "tau": message("averages.tau", "Segment level, Kendall τ-b"),
    "r_hybrid": message("averages.r-hybrid", "System level, Pearson r over hybrids"),
    "r_segment": message("averages.r-segment", "Segment level, Pearson r"),
    "r_system": message("averages.r-system", "System level, Pearson r over systems"),
}


@dataclass(frozen=True)
class Column:
    """The head of a campaign's column."""

    campaign: str
    direction: str
    percent: str


@dataclass(frozen=True, kw_only=True)
class Line:
    """One measure: a value per campaign, None where undefined, and the mean.

    `best` says which of them, the average last, are bold.
    """

    key: str
    label: str
    values: Sequence[float | None]
    average: float | None
    best: Sequence[bool]

    @property
    def cells(self) -> list[tuple[float | None, bool]]:
        """Value and whether it is bold, the average last."""
        return list(zip([*self.values, self.average], self.best, strict=True))


@dataclass(frozen=True)
class Table:
    """One statistic of all measures."""

    statistic: str
    title: Message
    rows: Sequence[Line]


L = TypeVar("L", bound=Line)


def line(key: str, label: str, values: Sequence[float | None]) -> Line:
    """Return a measure with its average over campaigns; nothing is bold until `mark`."""
    mean, none = mean_of_all(array(values)), [False] * (len(values) + 1)
    average = None if np.isnan(mean) else mean
    return Line(key=key, label=label, values=values, average=average, best=none)


def study_table(
    statistic: str,
    title: Message,
    labels: Mapping[str, str],
    by_campaign: Sequence[Mapping[str, Any]],
) -> Table:
    """Return one statistic, an attribute of the rows by campaign and key, of all measures."""
    return Table(
        statistic,
        title,
        [
            line(key, label, [getattr(found.get(key), statistic, None) for found in by_campaign])
            for key, label in labels.items()
        ],
    )


# One table shows Pearson r at both levels, as Zhao et al. (2020) report it.
LEVELS = {
    "r_segment": message("levels.segments", "segments"),
    "r_system": message("levels.systems", "systems"),
}


@dataclass(frozen=True)
class Levels:
    """One measure at both levels: (value, is bold) of each by campaign, the averages last."""

    key: str
    label: str
    pairs: Sequence[Sequence[tuple[float | None, bool]]]


def both_levels(tables: Sequence[Table]) -> list[Levels]:
    """Return every measure at segment and system level."""
    by_level = [table.rows for level in LEVELS for table in tables if table.statistic == level]
    return [
        Levels(rows[0].key, rows[0].label, list(zip(*(row.cells for row in rows), strict=True)))
        for rows in zip(*by_level, strict=True)
    ]


def by_family(rows: Sequence[L], families: Mapping[str, str]) -> list[tuple[str, list[L]]]:
    """Group a table's rows under the names of their metrics' families."""
    order = list(families.values())
    ordered = sorted(rows, key=lambda row: order.index(families[row.key]))
    return [(family, list(same)) for family, same in groupby(ordered, lambda r: families[r.key])]


def levels_latex(columns: Sequence[Column], rows: Sequence[Levels]) -> latex.Table:
    """Return both levels by campaign as a table for a paper."""
    heads = [f"{direction_name(each.direction)} {each.percent}" for each in columns]
    first = [latex.Cell(text, span=len(LEVELS)) for text in [*heads, "Ave."]]
    return latex.Table(
        message(
            "averages.levels",
            "Pearson’s r of metrics with humans over segments and over systems.",
        ),
        "study-levels",
        "l" + "r" * len(LEVELS) * len(first),
        [[latex.Cell(""), *first], latex.texts("", *list(LEVELS.values()) * len(first))],
        [_cells(row.label, [cell for pair in row.pairs for cell in pair]) for row in rows],
    )


def bold(correction: Message) -> Message:
    """Return the note on bold values in a table of several campaigns.

    The rule is that of a campaign's own page (`dashboards.trust.marks`).
    """
    return message(
        "averages.bold",
        "Bold in a column: the metrics that cannot be distinguished from the best of the column "
        "(p > .05, {correction}), or only the best where these are more than half. Averages are "
        "never bold.",
        correction=correction,
    )


def mark(rows: Sequence[L], best: Sequence[Collection[str]]) -> list[L]:
    """Return rows with those values bold whose key is in their column's `best`.

    Averages are never bold, because they have no interval.
    """
    return [replace(row, best=[*(row.key in keys for keys in best), False]) for row in rows]


def columns_of(campaigns: Sequence[Campaign]) -> list[Column]:
    """Return the heads of the columns of a study's tables, in their order."""
    return [Column(each.slug, each.test_set.direction, each.percent) for each in campaigns]


def warnings_of(documents: Sequence[CampaignDocument]) -> list[Message]:
    """Return the warnings of several documents, with the names of their campaigns."""
    return [
        message("warning.of-campaign", "{campaign}: {warning}", campaign=each.name, warning=warning)
        for each in documents
        for warning in grouped(each.warnings)
    ]


def latex_table(
    caption: latex.Caption,
    label: str,
    columns: Sequence[Column],
    groups: Sequence[tuple[Message | str, Sequence[Line]]],
) -> latex.Table:
    """Return a study's table in the shape of tables 6, 7 and 11 to 14 of Cheng et al. 2023.

    Language pairs span their length ratios; a group has a bold heading unless it is empty.
    """
    first, second = direction_heads([(each.direction, each.percent) for each in columns])
    body: list[Sequence[latex.Cell]] = []
    for heading, rows in groups:
        if heading:
            body.append([latex.Cell(str(heading), is_bold=True)])
        body += [_cells(row.label, row.cells) for row in rows]
    return latex.Table(
        caption,
        label,
        "l" + "r" * (len(columns) + 1),
        [[*first, latex.Cell("Ave.")], [*second, latex.Cell("")]],
        body,
    )


def direction_heads(columns: Sequence[tuple[str, str]]) -> list[list[latex.Cell]]:
    """Return two rows of heads: language pairs over length ratios, the first cell empty."""
    spans = [(key, len(list(same))) for key, same in groupby(key for key, _ in columns)]
    first = [latex.Cell(direction_name(direction), span=span) for direction, span in spans]
    return [[latex.Cell(""), *first], latex.texts("", *(percent for _, percent in columns))]


def _cells(label: str, cells: Sequence[tuple[float | None, bool]]) -> list[latex.Cell]:
    return [
        latex.Cell(label),
        *(latex.number(value, 4, is_bold=is_best) for value, is_best in cells),
    ]


def direction_name(direction: str) -> str:
    """Return `en-zh` as in papers: En-Zh."""
    return "-".join(part.capitalize() for part in direction.split("-"))
