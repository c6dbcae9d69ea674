"""Figures of MT systems: their human scores, and where metrics put those nobody judged."""

from collections.abc import Sequence

from dashboards.charts.dotted import Dotted, panel
from dashboards.charts.style import INK, SOFT, Spec, figure
from dashboards.systems.columns import Column
from dashboards.systems.document import Systems

WIDE, NARROW, ALONE = 340, 250, 620


def ranking(document: Systems) -> Spec | None:
    """Human scores, highest on top; None without any. Bands are clusters."""
    if not document.human:
        return None
    rows = [
        Dotted(
            row.system, row.score, group=row.cluster, is_best=row.cluster == 1,
            note=f"  cluster {row.cluster}" if row.cluster else "",
        )
        for row in document.human
    ]  # fmt: skip
    order = ", ".join(f"{row.system} {row.score:.3f}" for row in document.human)
    return figure(
        "Human scores of the MT systems",
        f"Mean human scores in their order: {order}. {document.over}",
        **panel(rows, f"Human score ({document.human_scores})", width=ALONE),
    )


def strips(document: Systems) -> Spec | None:
    """A strip per metric: where it puts systems that were not judged, beside the judged ones.

    Each runs from the lowest to the highest score, turned where lower is better; beside them the
    humans' range on its own scale. None where all were judged. (MSLC, Lo et al. 2023)
    """
    points = [point for column in document.columns for point in _strip(document, column)]
    if not points:
        return None
    above = [f"{row.system} {row.above} ({_label(document, row.measure)})"
             for row in document.outside if row.above]  # fmt: skip
    names = list(dict.fromkeys(point["label"] for point in points))
    scale, axis = {"domain": [-0.03, 1.03]}, {"values": [0, 1], "labels": False}
    panels = [_strips(points, "share", names, "From lowest to highest score", scale, axis)]
    if people := [{"label": "Human", "score": row.score} for row in document.human]:
        title = f"Human score ({document.human_scores})"
        panels.append(_strips(people, "score", ["Human"], title, {"nice": True}, {"tickCount": 4}))
    return figure(
        "Systems that were not judged, beside the judged ones",
        "Bars hold the judged systems, ticks are these, symbols those that were not judged. "
        + _standing_of(document, above),
        hconcat=panels,
    )


def _standing_of(document: Systems, above: Sequence[str]) -> str:
    """Where systems that were not judged stand, of those that share segments with judged ones."""
    if above:
        return f"Above judged systems: {', '.join(above)}."
    if all(row.against for row in document.outside):
        return "All are below."
    return "None is above a judged system on segments of both."


def _strip(document: Systems, column: Column) -> list[Spec]:
    """The points of a metric, as shares of the way from its lowest to its highest score."""
    left_out = [row for row in document.outside if row.measure == column.key]
    rows = [row for row in (*column.rows, *left_out) if row.score is not None]
    sign = -1 if column.is_turned else 1
    scores = [sign * row.score for row in rows if row.score is not None]
    if not left_out or min(scores) == max(scores):
        return []
    low, width = min(scores), max(scores) - min(scores)
    return [
        {"label": column.label, "system": row.system, "score": row.score,
         "share": (score - low) / width, "out": row in left_out}
        for row, score in zip(rows, scores, strict=True)
    ]  # fmt: skip


def _label(document: Systems, key: str) -> str:
    return next(column.label for column in document.columns if column.key == key)


def _strips(
    points: Sequence[Spec], field: str, names: Sequence[str], title: str, scale: Spec, axis: Spec
) -> Spec:
    """A panel of strips: a bar over the range of what is not left out, and the points."""
    x = {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}
    y = {"field": "label", "type": "nominal", "sort": list(names), "title": None}
    ends = {"x": x | {"aggregate": "min"}, "x2": {"field": field, "aggregate": "max"}}
    marked = {"field": "system", "type": "nominal", "title": "Not judged"}
    tooltip = [{"field": "label"}, {"field": "system"}, {"field": "score", "format": ".3f"}]
    own, others = {"filter": "!datum.out"}, {"filter": "datum.out"}
    layers: list[Spec] = [
        {"transform": [own], "mark": {"type": "bar", "color": "#c9d6e8", "height": 12},
         "encoding": ends},
        {"transform": [own], "mark": {"type": "tick", "color": SOFT, "thickness": 2, "size": 12},
         "encoding": {"x": x, "tooltip": tooltip}},
    ]  # fmt: skip
    if any(point.get("out") for point in points):
        layers.append(
            {"transform": [others],
             "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "stroke": INK},
             "encoding": {"x": x, "color": marked, "shape": marked, "tooltip": tooltip}}
        )  # fmt: skip
    return {"width": WIDE if field == "share" else NARROW, "height": {"step": 24},
            "data": {"values": list(points)}, "encoding": {"y": y}, "layer": layers}  # fmt: skip


FIGURES = {"ranking": ranking, "strips": strips}
