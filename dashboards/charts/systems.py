"""MT systems in the human order, with their clusters."""

from dashboards.charts.dotted import Dotted, panel
from dashboards.charts.style import Spec, figure
from dashboards.systems.document import Systems

WIDTH = 620


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
        f"Mean human scores in their order: {order}.",
        **panel(rows, f"Human score ({document.human_scores})", width=WIDTH),
    )
