"""Tables of preference analyses, for pages and as LaTeX."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

from dashboards.charts.files import Figure
from dashboards.charts.style import ACCENT, CATEGORY, INK, SOFT, Spec, figure
from dashboards.papers import latex
from metaeval.messages import Message, message, plural
from training.preferences.altering import CONDITIONS
from training.preferences.documents import Across, Condition, OfTestSet, Preferred, Row

CHARTED = 24
WIDTH, HEIGHT, COLUMNS = 250, 90, 2
SIDES = {
    "lower": message("d.lower", "reference preferred"),
    "equal": message("d.equal", "no difference"),
    "higher": message("d.higher", "altered text preferred"),
}
SEGMENTS = message("d.segments", "segments")
COLOURS = [ACCENT, SOFT, CATEGORY[1]]


def histograms(document: OfTestSet, condition: str) -> Spec | None:
    """Draw d of the `CHARTED` measures with the lowest W2W; the table of the page has all."""
    found = [row for row in document.rows if row.condition == condition]
    rows = [row for row in found if row.histogram][:CHARTED]
    if not rows:
        return None
    return figure(
        message(
            "d.title",
            "{condition}: d by metric, {test_set}",
            condition=rows[0].condition_label,
            test_set=document.title,
        ),
        [_shown(len(rows), len(found)), ABOUT],
        data={"values": [bar for row in rows for bar in _bars(row)]},
        facet={
            "field": "label",
            "type": "nominal",
            "title": None,
            "sort": [row.label for row in rows],
            "header": {"labelColor": INK, "labelFontSize": 12, "labelLimit": WIDTH},
        },
        columns=min(COLUMNS, len(rows)),
        spec=_panel(),
        resolve={"scale": {"x": "independent", "y": "independent"}},
    )


ABOUT = message(
    "d.about",
    "d is the score of the altered text minus that of the reference. To the right of 0, the metric "
    "prefers the altered text. Each metric has its own scale.",
)


def _shown(n: int, n_all: int) -> Message:
    if n == n_all:
        return message("d.all", "Segments by d, for all metrics.")
    return plural(
        "d.lowest",
        "Segments by d, for the metric with the lowest W2W.",
        "Segments by d, for the {n} metrics with the lowest W2W.",
        n=n,
    )


def _bars(row: Row) -> list[dict[str, Any]]:
    edges = row.histogram["edges"]
    return [
        {
            "label": row.label,
            "low": _short(low),
            "high": _short(high),
            "segments": count,
            "side": label,
        }
        for side, label in SIDES.items()
        for count, low, high in zip(row.histogram[side], edges, edges[1:], strict=False)
        if count
    ]


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _panel() -> dict[str, Any]:
    x = {"field": "low", "type": "quantitative", "title": "d", "bin": {"binned": True}}
    colour = {
        "field": "side",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(SIDES.values()), "range": COLOURS},
        "legend": {"orient": "bottom"},
    }
    tooltip = [
        {"field": "label", "title": message("d.metric", "metric")},
        {"field": "low", "title": message("d.from", "d from")},
        {"field": "high", "title": message("d.to", "d to")},
        {"field": "segments", "title": SEGMENTS},
        {"field": "side", "title": message("d.side", "preference")},
    ]
    bars = {
        "mark": {"type": "bar", "stroke": "white", "strokeWidth": 0.5},
        "encoding": {
            "x": x,
            "x2": {"field": "high"},
            "y": {
                "field": "segments",
                "type": "quantitative",
                "title": SEGMENTS,
                "axis": {"tickMinStep": 1, "format": "d", "tickCount": 4},
            },
            "color": colour,
            "tooltip": tooltip,
        },
    }
    zero = {
        "mark": {"type": "rule", "color": INK, "strokeDash": [3, 3]},
        "encoding": {"x": {"datum": 0, "type": "quantitative"}},
    }
    return {"width": WIDTH, "height": HEIGHT, "layer": [bars, zero]}


FIGURES = {name: partial(histograms, condition=name) for name in CONDITIONS}


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
