"""What a study's pages of metrics rest on: its campaigns side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dashboards.correlations.document import Correlations, Row
from dashboards.documents.head import StudyDocument
from dashboards.papers.averages import Column, Table
from dashboards.results.answer import Answer
from extensions.studies.matrix import Head, Matrix


@dataclass(frozen=True)
class Named:
    """A metric that the rail offers."""

    key: str
    label: str


@dataclass(frozen=True, kw_only=True)
class CorrelationsOfStudy(StudyDocument):
    """The documents of the campaigns, and tables over them, that of the chosen statistic first.

    `rows` are those of the campaigns; `averages` are by statistic and metric, `families` by metric.
    `heads` are what heads the columns of `matrix`, the first page's; `answer` says it in words,
    `bold` what is bold in a column.
    """

    columns: Sequence[Column]
    heads: Sequence[Head]
    campaigns: Sequence[Correlations]
    statistic: str
    statistic_label: str
    families: Mapping[str, str]
    tables: Sequence[Table]
    intervals_note: str
    all_metrics: Sequence[Named]
    matrix: Matrix | None = None
    answer: Answer | None = None
    correction_label: str = ""
    bold: str = ""
    rows: Sequence[Row] = ()
    averages: Mapping[str, Mapping[str, float | None]]
