"""Draw how annotators use the scale, and how their scores and times drift."""

from collections.abc import Iterable, Sequence
from typing import Any

from dashboards.charts.style import ACCENT, INK, Spec, figure
from dashboards.overview.annotators import Row
from dashboards.overview.document import Overview, Series
from metaeval.messages import Message, message, plural

BAR = "#9db8d9"
CHARTED = 16
ROW, PANEL = 22, 300


def annotator_distributions(document: Overview) -> Spec | None:
    """Draw one box per annotator, raw and z: middle half, median, and middle nine tenths as a line.

    Shows the `CHARTED` annotators with the most judgments; the page's table has all of them.
    """
    people = _busiest(document.rows)
    if not people:
        return None
    spreads = {
        "raw": message("figure.raw-scores", "Raw scores"),
        "z": message("figure.z-scores", "z-scores"),
    }
    order = [row.annotator for row in people]
    return figure(
        message("figure.scale", "How annotators use the scale"),
        [
            message(
                "figure.scale-described",
                "Boxes show the middle half of an annotator’s scores, lines the middle nine "
                "tenths, and ticks the median.",
            ),
            _shown(document, len(people)),
        ],
        data={"values": [_box(row, spreads) for row in people]},
        hconcat=[_boxes(name, title, order) for name, title in spreads.items()],
    )


def drift_of_scores(document: Overview) -> Spec | None:
    """Draw small multiples: rolling mean of z by position in the annotator's own order."""
    title = message("figure.drift-z", "Mean z-score over each annotator’s work")
    described = message(
        "figure.drift-z-described",
        "Mean z-score in windows of ten or more items, by position in the annotator’s own order.",
    )
    return _small_multiples(document, "z", title, described, zero=True)


def drift_of_seconds(document: Overview) -> Spec | None:
    """Draw small multiples: rolling mean of the seconds per item."""
    title = message("figure.drift-seconds", "Mean seconds per item over each annotator’s work")
    described = message(
        "figure.drift-seconds-described",
        "Mean seconds per item in windows of ten or more items, by position in the annotator’s own "
        "order.",
    )
    return _small_multiples(document, "seconds", title, described, zero=False)


def _shown(document: Overview, n: int) -> Message:
    if n == sum(not row.is_excluded for row in document.rows):
        return message("figure.all-annotators", "All annotators are shown.")
    return plural(
        "figure.some-annotators",
        "The {n} annotator with the most judgments is shown.",
        "The {n} annotators with the most judgments are shown.",
        n=n,
    )


def _busiest(rows: Sequence[Row]) -> list[Row]:
    known = [row for row in rows if row.raw_median is not None and not row.is_excluded]
    busiest = sorted(known, key=lambda row: (-row.n, row.annotator))[:CHARTED]
    chosen = {row.annotator for row in busiest}
    return [row for row in known if row.annotator in chosen]


def _box(row: Row, names: Iterable[str]) -> dict[str, Any]:
    parts = ("q05", "q25", "median", "q75", "q95")
    columns = [f"{name}_{part}" for name in names for part in parts]
    return {"annotator": row.annotator} | {name: _short(getattr(row, name)) for name in columns}


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _boxes(name: str, title: Message, order: Sequence[str]) -> dict[str, Any]:
    y = {"field": "annotator", "type": "nominal", "sort": list(order), "title": None}

    def span(low: str, high: str) -> dict[str, Any]:
        x = {"field": f"{name}_{low}", "type": "quantitative", "title": title}
        return {"x": x, "x2": {"field": f"{name}_{high}"}, "y": y}

    median = {"x": {"field": f"{name}_median", "type": "quantitative", "title": title}, "y": y}
    return {
        "width": PANEL,
        "height": {"step": ROW},
        "layer": [
            {"mark": {"type": "rule", "color": INK}, "encoding": span("q05", "q95")},
            {"mark": {"type": "bar", "color": BAR, "height": 10}, "encoding": span("q25", "q75")},
            {"mark": {"type": "tick", "color": INK, "thickness": 3}, "encoding": median},
        ],
    }


def _small_multiples(
    document: Overview, value: str, title: Message, described: Message, *, zero: bool
) -> Spec | None:
    chosen = [one for one in document.series if one.value == value][:CHARTED]
    if not chosen:
        return None
    x = {
        "field": "place",
        "type": "quantitative",
        "title": message("figure.position", "Position in order"),
    }
    # A small multiple has no room for a longer title.
    short = "z" if zero else message("figure.seconds", "Seconds")
    y = {"field": "mean", "type": "quantitative", "title": short, "scale": {"zero": not zero}}
    lines: list[dict[str, Any]] = [
        {"mark": {"type": "line", "color": ACCENT}, "encoding": {"x": x, "y": y}}
    ]
    if zero:
        rule = {"type": "rule", "color": INK, "strokeDash": [3, 3]}
        lines.insert(0, {"mark": rule, "encoding": {"y": {"datum": 0}}})
    order = [one.annotator for one in chosen]
    header = {"title": None, "labelFontWeight": "bold"}
    return figure(
        title,
        [described, _shown(document, len(chosen))],
        data={"values": _points(chosen)},
        facet={"field": "annotator", "type": "nominal", "sort": order, "header": header},
        columns=4,
        spec={"width": 140, "height": 90, "layer": lines},
    )


def _points(series: Sequence[Series]) -> list[dict[str, Any]]:
    return [
        {"annotator": one.annotator, "place": round(place, 1), "mean": round(mean, 3)}
        for one in series
        for place, mean in one.points
    ]


FIGURES = {
    "scores": annotator_distributions,
    "drift": drift_of_scores,
    "pace": drift_of_seconds,
}
