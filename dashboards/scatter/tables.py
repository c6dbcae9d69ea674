"""Write tables for a paper: correlations within systems, and the largest disagreements."""

from core.numbers import bare
from dashboards.papers.latex import Cell, Table, number, texts
from dashboards.scatter.document import Scatter, Statistics
from dashboards.scatter.points import HIGHER, LOWER, Side

SIDES = {HIGHER: "{metric} above {against}", LOWER: "{metric} below {against}"}
GAPS = {"z": "z − z", "rank": "rank − rank"}


def tables(document: Scatter) -> list[Table]:
    """Return the tables; empty without points."""
    if not document.n or not (document.metric and document.against and document.statistics):
        return []
    names = _name(document.metric), _name(document.against)
    found = [_by_system(document, document.statistics, *names)]
    found += [_bounds(document, names[1])] if document.bounds else []
    return found + ([_disagreements(document, *names)] if document.rows else [])


def _name(axis: Side) -> str:
    return f"{axis.label} ↓" if axis.is_turned else str(axis.label)


def _by_system(document: Scatter, found: Statistics, metric: str, against: str) -> Table:
    body = [
        [
            *texts(row.system, row.n),
            *(number(value) for value in (row.mean_x, row.mean_y, row.r, row.tau)),
        ]
        for row in document.by_system
    ]
    caption = (
        f"{metric} against {against}, {document.human_scores}. Over all {document.n} "
        f"points: r {bare(found.r)}, τ-b {bare(found.tau)}."
    )
    head = texts("System", "Outputs", f"Mean, {against}", f"Mean, {metric}", "r", "τ-b")
    return Table(caption, f"{document.campaign}-scatter", "lrrrrr", [head], body)


def _bounds(document: Scatter, against: str) -> Table:
    """Return baselines, and annotators against the others, on the same points."""
    body = [
        [*texts(row.label, row.n), *(number(value) for value in (row.r, row.tau, row.r_within))]
        for row in document.bounds
    ]
    caption = (
        f"Baselines and human ceiling on the points against {against}, {document.human_scores}."
    )
    head = texts("", "n", "r", "τ-b", "r within systems")
    return Table(caption, f"{document.campaign}-scatter-bounds", "lrrrr", [head], body)


def _disagreements(document: Scatter, metric: str, against: str) -> Table:
    body: list[list[Cell]] = []
    for side, heading in SIDES.items():
        rows = [row for row in document.rows if row.side == side]
        if rows:
            body.append([Cell(heading.format(metric=metric, against=against), is_bold=True)])
        body += [
            [
                *texts(row.system, row.document, row.segment),
                *(number(value) for value in (row.x, row.y, row.gap)),
            ]
            for row in rows
        ]
    caption = f"Outputs on which {metric} and {against} disagree most."
    head = texts("System", "Document", "Segment", against, metric, GAPS[document.order])
    return Table(caption, f"{document.campaign}-disagreements", "lllrrr", [head], body)
