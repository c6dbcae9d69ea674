"""Draw figures 1, 2, 4 and 5 of Cheng et al. (2023): heat maps of all pairs of metrics, for print.

Widths and letters are in points, as they are in the PDF: a column of the paper is 218 pt wide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http.request import QueryDict

from dashboards.charts.style import INK, SCHEMA, Spec
from dashboards.comparisons.document import Pair, Shown
from dashboards.significance.pairs import COLOURS, LABELS, choose, step
from extensions.paper.choices import SCORED
from extensions.paper.gather import OF_SYSTEMS, Paper, encoder_name, names, place_of

WIDTH, LETTERS, MARGIN, ROW = 218, 7, 2, 9.5
# Capitals of 7 pt and other letters are at most about this wide, and names get at most this width.
CAPITAL, LETTER, WIDEST = 5.2, 4.0, 112
# System level by Zou's interval: two colours, as an interval excludes zero or does not.
WINS, NO_WIN = "interval above zero", "interval includes zero"
WIN_COLOURS = (COLOURS[1], COLOURS[-1])
CORRECTION = "bonferroni"
CONFIG: Spec = {
    "aria": False,
    "background": "white",
    "font": "Liberation Sans, Arial, sans-serif",
    "axis": {
        "labelColor": INK,
        "labelFontSize": LETTERS,
        "labelPadding": 2,
        "ticks": False,
        "domain": False,
        "title": None,
    },
    "legend": {
        "labelColor": INK,
        "labelFontSize": LETTERS,
        "labelOffset": 2,
        "symbolSize": 40,
        "symbolStrokeWidth": 0.25,
        "columnPadding": 4,
        "direction": "horizontal",
        "title": None,
        "padding": 0,
    },
    "title": {"color": INK, "fontSize": LETTERS, "fontWeight": "bold", "anchor": "middle",
              "offset": 4},
    "view": {"stroke": None},
    "concat": {"spacing": 6},
}  # fmt: skip


@dataclass(frozen=True)
class NumberedFigure:
    """A figure with its number, caption and drawing."""

    name: str
    caption: str
    spec: Spec


def figures(paper: Paper) -> list[NumberedFigure]:
    """Return a figure of systems and one of segments for each language pair.

    They are figures 1 and 2 of the first pair, 4 and 5 of the second, and so on.
    """
    found = []
    for at, (name, places) in enumerate(paper.directions):
        for part, number, what in (
            ("zou", 1, "System-level Pearson r; dark: Zou’s 95% interval of the difference is "
             "above zero"),
            ("perm", 2, "Segment-level Kendall τ-b; darker: smaller one-sided p (PERM-BOTH)"),
        ):  # fmt: skip
            shown = [_shown(paper, part, place) for place in places]
            maps = [
                _map(
                    paper.campaigns[place].percent,
                    each,
                    part,
                    is_last=n == len(places) - 1,
                    is_bare=paper.refused(place) is not None,
                )
                for n, (place, each) in enumerate(zip(places, shown, strict=True))
                if each.rows
            ]
            if not maps:
                continue
            caption = (
                f"{name}: does the metric of the row agree better with the humans than that of the "
                f"column? {what}. Outlined: significant at .05 after Bonferroni’s correction."
            )
            if paper.choices.layers != SCORED and paper.of("layers-system"):
                caption += " BERTScore as scored, not with the layers of table 8."
            found.append(NumberedFigure(str(number + 3 * at), caption, _figure(caption, maps)))
    return found


def _shown(paper: Paper, part: str, place: int) -> Shown:
    """Return the pairs of a campaign among the metrics of the tables."""
    document = paper.of(part)[place]
    query = QueryDict(mutable=True)
    query["correction"] = CORRECTION
    query.setlist("metric", _metrics(paper, part, document))
    return choose(document, query)


def _metrics(paper: Paper, part: str, document: Any) -> list[str]:
    known = {metric.key for metric in document.metrics}
    wanted = [key for key in paper.choices.metrics if key in known or key == "*"]
    printed = names("r_hybrid" if part == "zou" else "tau")
    usual = [key for key in printed if key in known]
    if wanted or usual:
        return wanted or usual
    is_systems = part == "zou"
    labels = {metric.key: str(metric.label) for metric in document.metrics}
    return [k for k, label in labels.items() if is_systems or not {k, label} & OF_SYSTEMS]


def _figure(caption: str, maps: Sequence[Spec]) -> Spec:
    return {
        "$schema": SCHEMA,
        "description": caption,
        "config": CONFIG,
        "padding": MARGIN,
        "vconcat": list(maps),
        "spacing": 6,
        "resolve": {"scale": {"color": "independent"}},
    }


def _map(title: str, shown: Shown, part: str, *, is_last: bool, is_bare: bool) -> Spec:
    """Return a heat map as wide as a column, with the rows in the order of the tables."""
    printed = names("r_hybrid" if part == "zou" else "tau")
    label = {
        each.key: encoder_name(printed.get(each.key, str(each.label))) for each in shown.metrics
    }
    order = list(printed.values())
    ordered = sorted(label.values(), key=lambda name: place_of(name, order))
    numbered = {name: f"{n} {name}" for n, name in enumerate(ordered, 1)}
    rows = [numbered[name] for name in ordered]
    columns = [str(n) for n in range(1, len(rows) + 1)]
    extent = min(WIDEST, max(map(_width, rows)))
    steps, colours = ([WINS, NO_WIN], WIN_COLOURS) if part == "zou" else (list(LABELS), COLOURS)
    values = [
        {
            "row": numbered[label[pair.metric]],
            "column": columns[ordered.index(label[pair.other])],
            "step": _step(pair, part),
            "outlined": not is_bare and pair.adjusted is not None and pair.adjusted <= 0.05,
        }
        for pair in shown.rows
        if pair.pvalue is not None or pair.low is not None
    ]
    # From the left edge of the figure: beside the names it would be wider than a column.
    legend = {"orient": "none", "legendX": -extent, "legendY": len(rows) * ROW + 4}
    axis = {"labelLimit": extent, "minExtent": extent, "maxExtent": extent}
    return {
        "title": title,
        "data": {"values": values},
        "width": WIDTH - 2 * MARGIN - extent - 2,
        "height": {"step": ROW},
        "encoding": {
            "y": {"field": "row", "type": "nominal", "scale": {"domain": rows}, "axis": axis},
            "x": {
                "field": "column",
                "type": "nominal",
                "scale": {"domain": columns},
                "axis": {"orient": "top", "labelAngle": 0 if len(rows) < 9 else -90},
            },
        },
        "layer": [
            {
                "mark": {"type": "rect", "stroke": "white", "strokeWidth": 0.25},
                "encoding": {
                    "color": {
                        "field": "step",
                        "type": "ordinal",
                        "scale": {"domain": steps, "range": list(colours)},
                        "legend": legend if is_last else None,
                    }
                },
            },
            {
                "transform": [{"filter": "datum.outlined"}],
                "mark": {"type": "rect", "fill": None, "stroke": "black", "strokeWidth": 0.75},
            },
        ],
    }


def _width(text: str) -> float:
    return sum(CAPITAL if letter.isupper() else LETTER for letter in text)


def _step(pair: Pair, part: str) -> str:
    if part == "zou":
        return WINS if pair.low is not None and pair.low > 0 else NO_WIN
    return LABELS[step(1.0 if pair.pvalue is None else pair.pvalue)]
