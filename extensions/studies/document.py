"""The document of a study's pages of metrics: its campaigns side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dashboards.correlations.document import Correlations, Row
from dashboards.documents.head import StudyDocument
from dashboards.papers.averages import Column, Table
from dashboards.results.answer import Answer
from extensions.studies.matrix import Head, Matrix
from metaeval.messages import Message


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
