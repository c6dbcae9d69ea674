"""The tables of metrics of a study: its campaigns side by side, and averages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.correlations.document import DEFAULT, Correlations, Row
from dashboards.correlations.page import CORRELATIONS, choose, present
from dashboards.documents.head import StudyDocument
from dashboards.pages.question_form import question_form
from dashboards.papers import latex
from dashboards.studies.averages import (
    LEVELS,
    STATISTICS,
    Column,
    Table,
    both_levels,
    by_family,
    columns_of,
    latex_table,
    levels_latex,
    mark,
    study_table,
    told,
)
from dashboards.trust.shown import worst_of
from metrics.catalogue import infos

# The table of a study with intervals and ranks; the others show values alone.
CHOSEN = "value"


@dataclass(frozen=True)
class Named:
    """A metric that the form offers."""

    key: str
    label: str


@dataclass(frozen=True, kw_only=True)
class CorrelationsOfStudy(StudyDocument):
    """The documents of the campaigns, and tables over them, that of the chosen statistic first.

    `rows` are those of the campaigns; `averages` are by statistic and metric, `families` by metric.
    """

    columns: Sequence[Column]
    campaigns: Sequence[Correlations]
    statistic_label: str
    families: Mapping[str, str]
    tables: Sequence[Table]
    intervals_note: str
    all_metrics: Sequence[Named]
    marks: Sequence[str] = ()
    rows: Sequence[Row] = ()
    averages: Mapping[str, Mapping[str, float | None]]


def combine(
    campaigns: Sequence[Campaign], documents: Sequence[Correlations]
) -> CorrelationsOfStudy:
    """Put the documents of a study's campaigns side by side."""
    labels = {row.key: row.label for document in documents for row in document.rows}
    metrics = {row.key: row.metric for document in documents for row in document.rows}
    known = infos(retired=True)
    by_campaign = [{row.key: row for row in document.rows} for document in documents]
    chosen = documents[0].statistic_label if documents else ""
    titles = {CHOSEN: f"Chosen: {chosen}", **STATISTICS}
    notes = [f"{d.name}: {d.intervals_note}" for d in documents if d.intervals_note]
    return CorrelationsOfStudy(
        study=campaigns[0].study if campaigns else "",
        columns=columns_of(campaigns),
        campaigns=documents,
        statistic_label=chosen,
        families={
            key: known[name].family_label if name in known else "" for key, name in metrics.items()
        },
        tables=[
            study_table(statistic, title, labels, by_campaign)
            for statistic, title in titles.items()
        ],
        warnings=told(documents),
        intervals_note=" ".join(notes),
        all_metrics=[Named(key, label) for key, label in labels.items()],
        averages={},
    )


def choose_of_study(document: CorrelationsOfStudy, query: QueryDict) -> CorrelationsOfStudy:
    """Keep the metrics of the address; rank and mark within each campaign, averages never."""
    wanted = set(query.getlist("metric"))
    campaigns = [choose(one, present(one, query)) for one in document.campaigns]
    best = [{row.key for row in one.rows if row.is_best} for one in campaigns]
    first, *others = [
        replace(table, rows=[row for row in table.rows if not wanted or row.key in wanted])
        for table in document.tables
    ]
    tables = [replace(first, rows=mark(first.rows, best)), *others]
    return replace(
        document,
        campaigns=campaigns,
        tables=tables,
        marks=[f"{one.name}: {one.marks}" for one in campaigns if one.marks],
        trust=worst_of([one.trust for one in campaigns]),
        rows=[row for one in campaigns for row in one.rows],
        averages={each.statistic: {row.key: row.average for row in each.rows} for each in tables},
    )


def context_of_study(
    request: HttpRequest, study: str, document: CorrelationsOfStudy
) -> dict[str, Any]:
    """The form, and intervals and ranks of the chosen statistic by campaign."""
    found = [{row.key: row for row in one.rows} for one in document.campaigns]
    first, *others = document.tables
    metrics = {each.key: each.label for each in document.all_metrics}
    return {
        "form": question_form(request.GET, DEFAULT, metrics),
        "chosen": [(row, [own.get(row.key) for own in found]) for row in first.rows],
        "levels": list(LEVELS.values()),
        "both_levels": both_levels(document.tables),
        "others": others,
    }


def study_tables(document: CorrelationsOfStudy) -> list[latex.Table]:
    """Tables 6 and 7 of Cheng et al. 2023 with the study's own numbers, and the others."""
    return [
        levels_latex(document.columns, both_levels(document.tables)),
        *(
            latex_table(
                f"{table.title}: agreement of metrics with humans.",
                f"study-{table.statistic}",
                document.columns,
                by_family(table.rows, document.families),
            )
            for table in document.tables
        ),
    ]


STUDY = CORRELATIONS.of_study(
    template="dashboards/study.html",
    context=context_of_study,
    choose=choose_of_study,
    tables=study_tables,
    combine=combine,
)
