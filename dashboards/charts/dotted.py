"""Draw dots with intervals, best on top: the form of all figures that compare metrics or systems.

The position is the value, a line the interval, and a band the cluster. The best are dark, the rest
gray. Values are next to the marks, so there is no legend.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.numbers import short
from dashboards.charts.style import ACCENT, ENDS, INK, NAME, Spec, number
from metaeval.messages import Message, message

BAND, REST = "#eef1f5", "#5d6a7a"
ROW = 20


@dataclass(frozen=True)
class Dotted:
    """One line of a figure; `group` numbers its cluster, None where there is none."""

    label: Message | str
    value: float | None
    low: float | None = None
    high: float | None = None
    group: int | None = None
    is_best: bool = False
    note: Message | None = None


def panel(
    rows: Sequence[Dotted],
    title: Message | str,
    *,
    width: int,
    has_names: bool = True,
    from_zero: bool = False,
) -> Spec:
    """Return a panel of a figure: one line per row, in the order given."""
    order = [row.label for row in rows]
    labels = {} if has_names else {"axis": None}
    y = {"field": "label", "type": "nominal", "sort": order, "title": None,
         "scale": {"domain": order}, **labels}  # fmt: skip
    colour = {"condition": {"test": "datum.best", "value": ACCENT}, "value": REST}
    scale = {"zero": from_zero, "nice": False, "padding": 8}

    def x(name: str) -> Spec:
        axis = {"tickCount": 4, "format": "~g", "grid": True}
        return {"field": name, "type": "quantitative", "title": title, "scale": scale, "axis": axis}

    tooltip = [
        {"field": "label", "title": NAME},
        number("value", title),
        *(number(field, end) for field, end in ENDS.items()),
    ]
    return {
        "width": width,
        "height": {"step": ROW},
        "data": {"values": [_value(row) for row in rows]},
        "encoding": {"y": y},
        "layer": [
            {"transform": [{"filter": "datum.band"}],
             "mark": {"type": "rect", "color": BAND, "height": {"band": 1}},
             "encoding": {"x": {"value": 0}, "x2": {"value": width}}},
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"x": x("low"), "x2": {"field": "high"}, "color": colour,
                          "tooltip": tooltip}},
            {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
             "encoding": {"x": x("value"), "color": colour, "tooltip": tooltip}},
            {"mark": {"type": "text", "align": "left", "dx": 7, "fontSize": 11, "color": INK},
             "encoding": {"x": x("after"), "text": {"field": "text", "type": "nominal"}}},
        ],
    }  # fmt: skip


def _value(row: Dotted) -> Spec:
    text: Message | str = "" if row.value is None else short(row.value)
    if row.note:
        text = message("figure.noted", "{value} {note}", value=text, note=row.note)
    return {
        "label": row.label,
        "value": row.value,
        "low": row.low,
        "high": row.high,
        "after": row.value if row.high is None else row.high,
        "text": text,
        "band": row.group is not None and row.group % 2 == 0,
        "best": row.is_best,
    }
