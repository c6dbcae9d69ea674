"""Draw the human scores of MT systems, and the metric scores of systems that were not judged."""

from collections.abc import Sequence

from dashboards.charts.dots import Dotted, panel
from dashboards.charts.style import INK, NAME, SOFT, Spec, figure, number
from dashboards.systems.columns import Column, Row
from dashboards.systems.document import Systems
from metaeval.messages import Message, message, truncated

WIDE, NARROW, ALONE = 340, 250, 620
HUMAN = message("systems.human-label", "Human")
RANGE = message("systems.range", "From lowest to highest score")
SYSTEM, SCORE = message("figure.system-name", "system"), message("figure.score", "score")
UNJUDGED = message("systems.not-judged", "Not judged")


def ranking(document: Systems) -> Spec | None:
    """Draw human scores, highest on top; None without any. Bands are clusters."""
    if not document.human:
        return None
    rows = [
        Dotted(
            row.system, row.score, group=row.cluster, is_best=row.cluster == 1,
            note=cluster_note(row),
        )
        for row in document.human
    ]  # fmt: skip
    scores = [
        message("systems.score", "{system} ({score:r})", system=row.system, score=row.score)
        for row in document.human
    ]
    described = message("systems.ranking", "Mean human scores: {scores}.", scores=scores)
    return figure(
        message("systems.ranking-title", "Human scores of the MT systems"),
        [described, document.over],
        **panel(rows, _human_score(document), width=ALONE),
    )


def cluster_note(row: Row) -> Message | None:
    """Return the cluster of a system; None without one."""
    if not row.cluster:
        return None
    return message("systems.cluster", "cluster {cluster}", cluster=row.cluster)


def _human_score(document: Systems) -> Message:
    return message("systems.human-score", "Human score ({scores})", scores=document.human_scores)


def strips(document: Systems) -> Spec | None:
    """Draw a strip per metric with the scores of judged systems and of those not judged.

    Each strip covers the lowest to the highest score, reversed where lower is better. A second
    panel has the humans' range on its own scale. None where all were judged. (MSLC, Lo et al. 2023)
    """
    points = [point for column in document.columns for point in _strip(document, column)]
    if not points:
        return None
    names = list(dict.fromkeys(point["label"] for point in points))
    scale, axis = {"domain": [-0.03, 1.03]}, {"values": [0, 1], "labels": False}
    panels = [_strips(points, "share", names, RANGE, scale, axis)]
    if people := [{"label": HUMAN, "score": row.score} for row in document.human]:
        title = _human_score(document)
        panels.append(_strips(people, "score", [HUMAN], title, {"nice": True}, {"tickCount": 4}))
    described = message(
        "systems.strips",
        "Bars cover the range of judged systems, ticks are judged systems, and symbols are systems "
        "that were not judged.",
    )
    return figure(
        message("systems.strips-title", "Judged systems and systems that were not judged"),
        [described, _position(document)],
        hconcat=panels,
    )


def _position(document: Systems) -> Message:
    """Return the position of systems that were not judged, among the judged ones."""
    above = [
        message(
            "systems.above-by",
            "{system} above {n} ({metric})",
            system=row.system,
            n=row.above,
            metric=_label(document, row.measure),
        )
        for row in document.outside
        if row.above
    ]
    if above:
        return message(
            "systems.above-judged",
            "Systems that metrics rank above judged systems: {systems}.",
            systems=truncated(above),
        )
    if all(row.against for row in document.outside):
        return message("systems.all-below", "All systems that were not judged are below.")
    return message(
        "systems.none-above",
        "On shared segments, no system that was not judged is above a judged one.",
    )


def _strip(document: Systems, column: Column) -> list[Spec]:
    """Return the points of a metric, as shares of its range of scores."""
    others = [row for row in document.outside if row.measure == column.key]
    rows = [row for row in (*column.rows, *others) if row.score is not None]
    sign = -1 if column.is_turned else 1
    scores = [sign * row.score for row in rows if row.score is not None]
    if not others or min(scores) == max(scores):
        return []
    low, width = min(scores), max(scores) - min(scores)
    return [
        {"label": column.label, "system": row.system, "score": row.score,
         "share": (score - low) / width, "out": row in others}
        for row, score in zip(rows, scores, strict=True)
    ]  # fmt: skip


def _label(document: Systems, key: str) -> str:
    return next(column.label for column in document.columns if column.key == key)


def _strips(
    points: Sequence[Spec],
    field: str,
    names: Sequence[Message | str],
    title: Message,
    scale: Spec,
    axis: Spec,
) -> Spec:
    """Return a panel of strips: a bar over the range of judged systems, and the points."""
    x = {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}
    y = {"field": "label", "type": "nominal", "sort": list(names), "title": None}
    ends = {"x": x | {"aggregate": "min"}, "x2": {"field": field, "aggregate": "max"}}
    marked = {"field": "system", "type": "nominal", "title": UNJUDGED}
    tooltip = [
        {"field": "label", "title": NAME},
        {"field": "system", "title": SYSTEM},
        number("score", SCORE),
    ]
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
