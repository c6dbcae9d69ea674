"""A study's table: the same measure over its campaigns, and the average."""

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from annotation.models import Campaign
from dashboards.papers import latex

Document = dict[str, Any]
Row = dict[str, Any]

STATISTICS = {
    "tau": "Segment level, Kendall τ-b",
    "r_hybrid": "System level, Pearson r over hybrids",
    "r_segment": "Segment level, Pearson r",
    "r_system": "System level, Pearson r over systems",
}


def study_table(
    statistic: str, title: str, labels: Mapping[str, str], by_campaign: Sequence[Mapping[str, Any]]
) -> Document:
    """Return one statistic of all measures: a value per campaign (None where undefined) and mean.

    `best` of a row says which of its values, the average last, are bold: none, until `mark`.
    """
    rows: list[Row] = []
    for key, label in labels.items():
        values = [getattr(found.get(key), statistic, None) for found in by_campaign]
        rows.append({"key": key, "label": label, "values": values, "average": average(values)})
    return {"statistic": statistic, "title": title, "rows": mark(rows, [])}


# What stands beside each other in one table: Pearson r at both levels, as Zhao et al. 2020 report.
LEVELS = {"r_segment": "segments", "r_system": "systems"}


def both_levels(tables: Sequence[Document]) -> list[Row]:
    """Return every measure with pairs of (value, is best), segment and system, per campaign.

    The last pair is the averages.
    """
    by_level = [
        {row["key"]: row for row in table["rows"]}
        for level in LEVELS
        for table in tables
        if table["statistic"] == level
    ]
    return [
        {
            "key": key,
            "label": row["label"],
            "pairs": list(zip(*(_marked(found[key]) for found in by_level), strict=True)),
        }
        for key, row in by_level[0].items()
    ]


def with_cells(table: Document) -> Document:
    """Add to each row (value, is best) of every campaign and of the average."""
    return table | {"rows": [row | {"cells": _marked(row)} for row in table["rows"]]}


def by_family(rows: Sequence[Row], families: Mapping[str, str]) -> list[tuple[str, list[Row]]]:
    """Group a table's rows under the names of their metrics' families."""
    order = list(families.values())
    ordered = sorted(rows, key=lambda row: order.index(families[row["key"]]))
    return [(family, list(same)) for family, same in groupby(ordered, lambda r: families[r["key"]])]


def _marked(row: Row) -> list[tuple[float | None, bool]]:
    return list(zip([*row["values"], row["average"]], row["best"], strict=True))


def levels_latex(columns: Sequence[Document], rows: Sequence[Row]) -> latex.Table:
    """Return both levels by campaign as a table for a paper."""
    heads = [f"{_direction(each['direction'])} {each['percent']}" for each in columns]
    first = [latex.Cell(text, span=len(LEVELS)) for text in [*heads, "Ave."]]
    body = [
        [
            latex.Cell(row["label"]),
            *(
                latex.number(value, is_bold=is_best)
                for pair in row["pairs"]
                for value, is_best in pair
            ),
        ]
        for row in rows
    ]
    return latex.Table(
        "Pearson's r of metrics with humans over segments and over systems.",
        "study-levels",
        "l" + "r" * len(LEVELS) * len(first),
        [[latex.Cell(""), *first], latex.texts("", *list(LEVELS.values()) * len(first))],
        body,
    )


def average(values: Sequence[float | None]) -> float | None:
    """Return the mean, or None where a value is missing.

    A mean over the campaigns that happen to be defined would compare unlike things.
    """
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None


def mark(rows: Sequence[Row], best: Sequence[Collection[str]]) -> list[Row]:
    """Add to each row which of its values are bold: those whose key is in their column's `best`.

    Columns without such keys have nothing bold, and averages, which no interval bears, never.
    """
    return [
        row | {"best": [*_in_each(row["key"], best, len(row["values"])), False]} for row in rows
    ]


def _in_each(key: str, best: Sequence[Collection[str]], size: int) -> list[bool]:
    return [place < len(best) and key in best[place] for place in range(size)]


def columns_of(campaigns: Sequence[Campaign]) -> list[Document]:
    """Return what heads the columns of a study's tables, in their order."""
    return [
        {
            "campaign": campaign.slug,
            "direction": campaign.test_set.direction,
            "percent": campaign.percent,
        }
        for campaign in campaigns
    ]


def latex_table(
    caption: str,
    label: str,
    columns: Sequence[Document],
    groups: Sequence[tuple[str, Sequence[Row]]],
    *,
    average_label: str = "Ave.",
) -> latex.Table:
    """Return a study's table in the shape of tables 6, 7 and 11 to 14 of Cheng et al. 2023.

    Directions span their length ratios; a group has a bold heading, or none where it is empty.
    """
    first, second = direction_heads(columns)
    body: list[Sequence[latex.Cell]] = []
    for heading, rows in groups:
        if heading:
            body.append([latex.Cell(heading, is_bold=True)])
        body += [_cells(row) for row in rows]
    return latex.Table(
        caption,
        label,
        "l" + "r" * (len(columns) + 1),
        [[*first, latex.Cell(average_label)], [*second, latex.Cell("")]],
        body,
    )


def direction_heads(columns: Sequence[Document]) -> list[list[latex.Cell]]:
    """Return two rows of heads: directions over their length ratios, the first cell empty."""
    spans = [
        (direction, len(list(same)))
        for direction, same in groupby(columns, key=lambda column: column["direction"])
    ]
    first = [latex.Cell(_direction(direction), span=span) for direction, span in spans]
    return [[latex.Cell(""), *first], latex.texts("", *(column["percent"] for column in columns))]


def _cells(row: Row) -> list[latex.Cell]:
    values = [*row["values"], row["average"]]
    return [
        latex.Cell(row["label"]),
        *(
            latex.number(value, is_bold=is_best)
            for value, is_best in zip(values, row["best"], strict=True)
        ),
    ]


def _direction(direction: str) -> str:
    """`en-zh` as the paper heads it: En-Zh."""
    return "-".join(part.capitalize() for part in direction.split("-"))
