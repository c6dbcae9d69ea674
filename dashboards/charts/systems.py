"""MT systems in the human order, with their clusters."""

from dashboards.charts.style import Spec, figure
from dashboards.systems.document import Systems


def ranking(document: Systems) -> Spec | None:
    """Human scores, highest on top; None without any.

    Clusters differ in shape as well as in colour; the label tells the range of ranks.
    """
    if not document.human:
        return None
    names = [row.system for row in document.human]
    values = [
        {"system": row.system, "score": row.score, "cluster": str(row.cluster or "none")}
        for row in document.human
    ]
    cluster = {"field": "cluster", "type": "nominal", "title": "Cluster"}
    order = ", ".join(f"{row.system} {row.score:.3f}" for row in document.human)
    return figure(
        "Human scores of the MT systems",
        f"Mean human scores in their order: {order}.",
        width=420,
        height={"step": 22},
        data={"values": values},
        mark={"type": "point", "filled": True, "size": 90},
        encoding={
            "y": {"field": "system", "type": "nominal", "sort": names, "title": None},
            "x": {
                "field": "score",
                "type": "quantitative",
                "title": "Human score",
                "scale": {"zero": False},
            },
            "color": cluster,
            "shape": cluster,
        },
    )
