"""Arrange all columns side by side, and the lines of the tables of the comparison page."""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.documents.head import OfSeveral, units_among
from dashboards.documents.stored import settled
from dashboards.trust.shown import worst_of
from extensions.comparison.differences import Column, Row, rows_of
from extensions.comparison.document import Side
from metaeval.messages import Message, message


@dataclass(frozen=True)
class Head:
    """Description of a column: the source of a published one, or the data of a campaign."""

    key: str
    label: str
    source: str
    licence: str
    note: str
    human_scores: Message | None
    n_samples: int | None
    test_set: str


@dataclass(frozen=True, kw_only=True)
class Comparison(OfSeveral):
    """All columns side by side."""

    columns: Sequence[Head] = ()
    rows: Sequence[Row] = ()


@dataclass(frozen=True)
class Across:
    """A line of a table: a number's cell in every column, shown with `places` decimals."""

    label: Message | str
    places: int
    cells: Sequence[Row]


def side_by_side(columns: Sequence[Column], documents: Sequence[Side]) -> Comparison:
    """Return the comparison of columns, those of campaigns with their documents."""
    labels = {one.document.campaign: one.label for one in columns if one.document}
    return settled(
        Comparison(
            columns=[_head(column) for column in columns],
            rows=rows_of(columns),
            trust=worst_of([document.trust for document in documents]),
            units=units_among(documents),
            warnings=[
                message(
                    "compare.of-campaign",
                    "{campaign}: {warning}",
                    campaign=labels[document.campaign],
                    warning=warning,
                )
                for document in documents
                for warning in document.warnings
            ],
        )
    )


def _head(column: Column) -> Head:
    table, own = column.published, column.document
    return Head(
        column.key,
        column.label,
        source=table.source if table else "",
        licence=table.licence if table else "",
        note=table.note if table else "",
        human_scores=own.human_scores if own else None,
        n_samples=own.n_samples if own else None,
        test_set=own.test_set if own else "",
    )


def sections(rows: Sequence[Row], of: str) -> dict[str, list[Across]]:
    """Return the lines of each table; correlations of the statistic `of` only."""
    lines: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        lines.setdefault((row.section, row.statistic, row.key), []).append(row)
    return {
        name: [
            Across(cells[0].label, _places(statistic), cells)
            for (section, statistic, _), cells in lines.items()
            if section == name and (section != "correlations" or statistic == of)
        ]
        for name in ("quality", "correlations", "systems")
    }


def _places(statistic: str) -> int:
    """Return the number of decimals of a statistic."""
    if statistic.startswith(("n_", "traps_")):
        return 0
    return 2 if statistic.startswith("seconds_") else 3
