"""A study's matrix: metrics by campaigns, the value in every cell."""

from dashboards.charts.style import INK, Spec, figure
from dashboards.results.answer import number
from extensions.studies.document import CorrelationsOfStudy

LIGHT, DARK = "#f3f6fb", "#7d9cc9"
AVERAGE = "Average"


def matrix(document: CorrelationsOfStudy) -> Spec | None:
    """Draw the metrics of the page; what is bold in a column has a dot."""
    found = document.matrix
    if found is None or not any(row.cells for row in found.rows):
        return None
    columns = [head.label for head in found.heads]
    cells = [
        {
            "metric": row.label,
            "column": label,
            "value": cell.value,
            "text": number(cell.value) + (" ●" if cell.is_best else ""),
            "is_best": cell.is_best,
        }
        for row in found.shown
        for label, cell in zip(columns, row.cells, strict=True)
        if cell.value is not None
    ]
    averages = [
        {"metric": row.label, "column": AVERAGE, "text": number(row.average), "is_best": False}
        for row in found.shown
        if row.average is not None
    ]
    place = {
        "x": {
            "field": "column",
            "type": "nominal",
            "sort": [*columns, AVERAGE],
            "title": None,
            "axis": {"orient": "top", "labelAngle": 0, "domain": False, "ticks": False},
            "scale": {"domain": [*columns, AVERAGE], "padding": 0.04},
        },
        "y": {
            "field": "metric",
            "type": "nominal",
            "sort": [row.label for row in found.shown],
            "title": None,
            "axis": {"domain": False, "ticks": False},
            "scale": {"padding": 0.06},
        },
    }
    shade = {
        "field": "value",
        "type": "quantitative",
        "scale": {"range": [LIGHT, DARK], "zero": False},
        "legend": None,
    }
    weight = {"condition": {"test": "datum.is_best", "value": "bold"}, "value": "normal"}
    return figure(
        f"{document.statistic_label} with the humans",
        _description(document, len(found.shown)),
        data={"values": [*cells, *averages]},
        width={"step": 88},
        height={"step": 26},
        encoding=place,
        layer=[
            {
                "transform": [{"filter": "isValid(datum.value)"}],
                "mark": {"type": "rect", "cornerRadius": 3},
                "encoding": {"color": shade},
            },
            {
                "mark": {"type": "text", "color": INK, "fontSize": 12},
                "encoding": {"text": {"field": "text"}, "fontWeight": weight},
            },
        ],
    )


def _description(document: CorrelationsOfStudy, n: int) -> str:
    said = document.answer.text if document.answer else ""
    return (
        f"{document.statistic_label} of {n} metrics in {len(document.heads)} campaigns, sorted by "
        f"the average; darker is higher, a dot marks what is bold. {document.bold} {said} "
        f"{document.over}"
    )


FIGURES = {"matrix": matrix}
