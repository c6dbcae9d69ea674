"""The document of a study's pages of metrics: its campaigns side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.numbers import bare
from dashboards.charts.style import INK, Spec, figure
from dashboards.correlations.document import Correlations, Row
from dashboards.documents.head import StudyDocument
from dashboards.papers.averages import Column, Table
from dashboards.results.answer import Answer
from extensions.studies.matrix import Head, Matrix
from extensions.studies.published import AVERAGE
from metaeval.messages import Message, message


@dataclass(frozen=True)
class Named:
    """A metric that can be selected, in the row of its `family`."""

    key: str
    label: str
    family: str
    is_leading: bool


@dataclass(frozen=True, kw_only=True)
class CorrelationsOfStudy(StudyDocument):
    """The documents of the campaigns, and tables over them, with the chosen statistic first.

    `rows` are the rows of all campaigns; `averages` are by statistic and metric, `families` by
    metric. `heads` are the heads of the columns of `matrix`; `answer` is its conclusion, and `bold`
    explains bold numbers.
    """

    columns: Sequence[Column]
    heads: Sequence[Head]
    campaigns: Sequence[Correlations]
    statistic: str
    statistic_label: Message | None
    families: Mapping[str, Message | str]
    tables: Sequence[Table]
    intervals_notes: Sequence[Message]
    all_metrics: Sequence[Named]
    matrix: Matrix | None = None
    answer: Answer | None = None
    correction_label: Message | str | None = None
    bold: Message | None = None
    rows: Sequence[Row] = ()
    averages: Mapping[str, Mapping[str, float | None]]


LIGHT, DARK = "#f3f6fb", "#7d9cc9"


def matrix(document: CorrelationsOfStudy) -> Spec | None:
    """Draw the metrics of the page; bold values of a column have a dot."""
    found = document.matrix
    if found is None or not any(row.cells for row in found.rows):
        return None
    columns = [head.label for head in found.heads]
    cells = [
        {
            "metric": row.label,
            "column": label,
            "value": cell.value,
            "text": bare(cell.value) + (" ●" if cell.is_best else ""),
            "is_best": cell.is_best,
        }
        for row in found.shown
        for label, cell in zip(columns, row.cells, strict=True)
        if cell.value is not None
    ]
    averages = [
        {"metric": row.label, "column": AVERAGE, "text": bare(row.average), "is_best": False}
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
    title = message(
        "study.matrix", "Agreement with the humans: {statistic}", statistic=document.statistic_label
    )
    return figure(
        title,
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


def _description(document: CorrelationsOfStudy, n: int) -> list[Message | None]:
    described = message(
        "study.matrix-described",
        "{statistic} of {metrics} metrics in {campaigns} campaigns, sorted by the average. Darker "
        "is higher, and a dot marks bold values.",
        statistic=document.statistic_label,
        metrics=n,
        campaigns=len(document.heads),
    )
    sentence = document.answer.sentence if document.answer else None
    return [described, document.bold, sentence, document.over]


FIGURES = {"matrix": matrix}
