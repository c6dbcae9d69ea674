"""Compute differences of campaigns and published columns from the first one, with intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dashboards.comparisons.selection import array
from dashboards.documents.computing import settled
from dashboards.documents.head import OfSeveral, units_among
from dashboards.documents.reasons import Number
from dashboards.published import Published
from dashboards.trust.shown import worst_of
from extensions.comparison.document import FEWEST_SAMPLES, QUALITY, Known, Line, Side
from metaeval.messages import Message, message
from metaeval.resampling import percentile_interval
from metaeval.sensitivity import LEVELS

CORRELATIONS: dict[str, Message] = {
    "tau": LEVELS["tau"],
    "r_hybrid": message("compare.r-hybrid", "System level, Pearson r over hybrids"),
    "r_segment": LEVELS["r_segment"],
    "r_system": LEVELS["r_system"],
    # Only published tables have it: campaigns rate outputs, not pairs of outputs.
    "darr": message("compare.darr", "Segment level, WMT’s τ over pairs (published)"),
}
SECTIONS = {"correlations": [*CORRELATIONS], "systems": ["mean"]}
Place = tuple[str, str, str]


@dataclass(frozen=True)
class Column:
    """One side of a comparison: a campaign's, None while it is not known, or a published one."""

    key: str
    label: str
    document: Side | None = None
    published: Published | None = None

    @cached_property
    def numbers(self) -> dict[Place, Known]:
        """The numbers of this side by section, statistic and key, in its order."""
        known = [*_of_table(self.published)] if self.published else []
        known += self.document.numbers if self.document else ()
        return {(one.section, one.statistic, one.key): one for one in known}


@dataclass(frozen=True, kw_only=True)
class Row(Line):
    """A number in its `column`, with its interval and its difference to the first column."""

    column: str
    value: Number
    low: Number
    high: Number
    difference: Number = None
    difference_low: Number = None
    difference_high: Number = None


def _of_table(table: Published) -> Iterator[Known]:
    for (statistic, key), value in table.values.items():
        section = "correlations" if key else "quality"
        label = table.measures.get(key, "")
        yield Known(section=section, statistic=statistic, key=key, label=label, value=value)


def rows_of(columns: Sequence[Column]) -> list[Row]:
    """Return a row for every number of every column, also where it has none.

    A difference has an interval where both sides have samples: paired where the campaigns share
    their test set, independent otherwise.
    """
    return [
        row
        for section, statistic, key, label in _lines(columns)
        for row in _row(columns, Line(section=section, statistic=statistic, key=key, label=label))
    ]


def _lines(columns: Sequence[Column]) -> Iterator[tuple[str, str, str, Message | str]]:
    """Yield section, statistic, key and label of every line that some column may have."""
    for statistic, label in QUALITY.items():
        yield "quality", statistic, "", label
    for section, statistics in SECTIONS.items():
        labels: dict[str, Message | str] = {}
        for column in columns:
            for one in column.numbers.values():
                if one.section == section:
                    labels.setdefault(one.key, one.label)
        for statistic in statistics:
            for key, name in labels.items():
                yield section, statistic, key, name


def _row(columns: Sequence[Column], line: Line) -> Iterator[Row]:
    place = (line.section, line.statistic, line.key)
    nothing = Known(**vars(line), value=None)
    found = [column.numbers.get(place, nothing) for column in columns]
    if all(one.value is None for one in found):
        return
    for at, (column, one) in enumerate(zip(columns, found, strict=True)):
        ends: dict[str, Any] = {"value": one.value, "low": one.low, "high": one.high}
        change = _change(found[0], one) if at else {}
        yield Row(**vars(line), column=column.key, **ends, **change)


def _change(base: Known, other: Known) -> dict[str, Any]:
    if base.value is None or other.value is None:
        return {}
    first, second = array(base.samples), array(other.samples)
    n = min(len(first), len(second))
    found = percentile_interval(second[:n] - first[:n], fewest=FEWEST_SAMPLES // 2)
    return {
        "difference": other.value - base.value,
        "difference_low": found.low,
        "difference_high": found.high,
    }


# Arrange all columns side by side, and the lines of the tables of the comparison page.


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
