"""Write tables of several campaigns for a paper."""

from collections.abc import Mapping, Sequence

from core import numbers
from dashboards.papers.latex import Cell, Table, estimate, number, texts
from extensions.comparison.differences import Across, Head, Row
from metaeval.messages import Message

SECTIONS = {
    "correlations": ("Metric", "{statistic}, with 95% intervals."),
    "systems": ("System", "Mean human score of each system, with 95% intervals."),
    "quality": ("Statistic", "Judgments, times, traps and agreement, with 95% intervals."),
}


def tables(
    columns: Sequence[Head], lines: Mapping[str, Sequence[Across]], statistic: Message
) -> list[Table]:
    """Return one table per section with lines; Δ is the difference from the first column."""
    return [
        _table(section, columns, found, statistic)
        for section in SECTIONS
        if (found := lines[section])
    ]


def _table(
    section: str, columns: Sequence[Head], lines: Sequence[Across], statistic: Message
) -> Table:
    first, caption = SECTIONS[section]
    heads = [Cell(columns[0].label), *(Cell(one.label, span=2) for one in columns[1:])]
    under = ["", *(name for _ in columns[1:] for name in ("", "Δ"))]
    sources = [f"{one.label}: {one.source}" for one in columns if one.source]
    return Table(
        [caption.format(statistic=statistic), "Δ: difference from the first column."],
        f"compare-{section}",
        "lr" + "rr" * (len(columns) - 1),
        [[Cell(""), *heads], texts(first, *under)],
        [_line(line) for line in lines],
        sources,
    )


def _line(line: Across) -> list[Cell]:
    base, *others = line.cells
    cells = [Cell(str(line.label)), _value(base, line.places)]
    for one in others:
        cells += [_value(one, line.places), _change(one, line.places)]
    return cells


def _value(one: Row, places: int) -> Cell:
    return estimate(one.value, one.low, one.high, places)


def _change(one: Row, places: int) -> Cell:
    if one.difference is None:
        return Cell("–")
    text = number(one.difference, places).text
    sign = "" if text.startswith("−") else "+"
    ends = numbers.interval((one.difference_low, one.difference_high), places)
    return Cell(f"{sign}{text} {ends}".rstrip())
