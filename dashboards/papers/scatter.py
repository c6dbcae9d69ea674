"""Metric against human for a paper: correlations within systems, the worst disagreements."""

from typing import Any

from dashboards.papers.latex import Cell, Table, number, texts

Document = dict[str, Any]
SIDES = {
    "metric higher": "{metric} above {against}",
    "metric lower": "{metric} below {against}",
}
GAPS = {"z": "z − z", "rank": "rank − rank"}


def tables(document: Document) -> list[Table]:
    """Nothing where nothing can be shown; without disagreements only the systems."""
    if not document.get("n"):
        return []
    found = [_by_system(document)]
    return found + ([_disagreements(document)] if document["rows"] else [])


def _names(document: Document) -> tuple[str, str]:
    metric, against = document["metric"], document["against"]
    return _name(metric), _name(against)


def _name(axis: Document) -> str:
    return f"{axis['label']} ↓" if axis["is_turned"] else str(axis["label"])


def _by_system(document: Document) -> Table:
    metric, against = _names(document)
    found = document["statistics"]
    body = [
        [
            *texts(row["system"], row["n"]),
            *(number(row[name], 3) for name in ("mean_x", "mean_y", "r", "tau")),
        ]
        for row in document["by_system"]
    ]
    caption = (
        f"{metric} against {against}, {document['human_scores']}. Over all {document['n']} "
        f"points: r {number(found['r'], 3).text}, τ-b {number(found['tau'], 3).text}."
    )
    head = texts("System", "Outputs", f"Mean, {against}", f"Mean, {metric}", "r", "τ-b")
    return Table(caption, f"{document['campaign']}-scatter", "lrrrrr", [head], body)


def _disagreements(document: Document) -> Table:
    metric, against = _names(document)
    body: list[list[Cell]] = []
    for side, heading in SIDES.items():
        rows = [row for row in document["rows"] if row["side"] == side]
        if rows:
            body.append([Cell(heading.format(metric=metric, against=against), is_bold=True)])
        body += [
            [
                *texts(row["system"], row["document"], row["segment"]),
                *(number(row[name], 3) for name in ("x", "y", "gap")),
            ]
            for row in rows
        ]
    caption = f"Outputs on which {metric} and {against} disagree most."
    head = texts("System", "Document", "Segment", against, metric, GAPS[document["order"]])
    return Table(caption, f"{document['campaign']}-disagreements", "lllrrr", [head], body)
