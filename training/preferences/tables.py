"""Tables of preference analyses, for pages and as LaTeX."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from dashboards.charts.files import Figure
from dashboards.papers import latex
from training.preferences.documents import Across, Condition, OfTestSet, Preferred, Row


@dataclass(frozen=True)
class Line:
    """A measure with its row per condition or language pair, and whether that is bold.

    A row is None if it was not computed.
    """

    label: str
    measure: str
    cells: Sequence[tuple[Preferred | None, bool]]


@dataclass(frozen=True)
class Part:
    """A condition with its rows and its figure."""

    condition: Condition
    rows: Sequence[Row]
    figure: Figure | None


def summary(document: OfTestSet) -> list[Line]:
    """Return a line per measure, with a cell per condition."""
    keys = [each.key for each in document.conditions]
    return _crossed(document.rows, attrgetter("condition"), keys)


def by_direction(document: Across) -> list[Line]:
    """Return a line per measure, with a cell per language pair."""
    return _crossed(document.rows, attrgetter("direction"), document.directions)


def _crossed(
    rows: Sequence[Preferred], column: Callable[[Preferred], str], keys: Sequence[str]
) -> list[Line]:
    lines: dict[tuple[str, str], dict[str, Preferred]] = {}
    for row in rows:
        lines.setdefault((row.label, row.measure), {})[column(row)] = row
    best = {key: _clear([row for row in rows if column(row) == key]) for key in keys}
    return [
        Line(label, measure, [(found.get(key), measure == best[key]) for key in keys])
        for (label, measure), found in sorted(lines.items())
    ]


def _clear(rows: Sequence[Preferred]) -> str | None:
    """Return the measure whose interval is below those of all others; None if there is none."""
    known = [row for row in rows if row.w2w is not None]
    if len(known) < 2:
        return None
    first, *others = sorted(known, key=lambda row: row.w2w or 0.0)
    if first.high is None:
        return None
    is_clear = all(row.low is not None and row.low > first.high for row in others)
    return first.measure if is_clear else None


def parts(document: OfTestSet, figures: Mapping[str, Figure]) -> list[Part]:
    """Return for each condition its rows and its figure."""
    return [
        Part(each, _of_condition(document, each), figures.get(each.key))
        for each in document.conditions
    ]


def _of_condition(document: OfTestSet, condition: Condition) -> list[Row]:
    return [row for row in document.rows if row.condition == condition.key]


def as_latex(document: OfTestSet) -> list[latex.Table]:
    """Return W2W of every measure by condition, then a table per condition."""
    keys = [each.label.text for each in document.conditions]
    title = f"W2W on {document.title}, {document.direction}"
    whole = _crossed_table(title, f"{document.name}-w2w", keys, summary(document))
    return [whole, *(_condition(document, each) for each in document.conditions)]


def across_as_latex(document: Across) -> latex.Table:
    """Return W2W of every measure by language pair."""
    title = f"W2W by language pair: {document.condition_label}"
    return _crossed_table(title, "w2w", document.directions, by_direction(document))


def _crossed_table(
    title: str, label: str, keys: Sequence[str], lines: Sequence[Line]
) -> latex.Table:
    def cell(row: Preferred | None, is_best: bool) -> latex.Cell:
        return latex.number(row.w2w if row else None, 3, is_bold=is_best)

    body = [[latex.Cell(line.label), *(cell(*each) for each in line.cells)] for line in lines]
    return latex.Table(title, label, "l" + "r" * len(keys), [latex.texts("Metric", *keys)], body)


def _condition(document: OfTestSet, condition: Condition) -> latex.Table:
    head = latex.texts("Metric", "n", "W2W", "low", "high", "mean d", "median d", "ties")
    body = [
        [
            *latex.texts(row.label, row.n),
            *(
                latex.number(value, 3)
                for value in (row.w2w, row.low, row.high, row.mean, row.median, row.ties)
            ),
        ]
        for row in _of_condition(document, condition)
    ]
    title = f"{condition.label}, {document.title}"
    return latex.Table(title, f"{document.name}-{condition.key}", "lrrrrrrr", [head], body)
