"""Show a study's tables of metrics: its campaigns side by side, and averages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.comparisons import selection, statistics
from dashboards.correlations.document import CEILING, DEFAULT, FLOOR, METRIC, Correlations
from dashboards.correlations.page import CORRELATIONS, choose, present, task_of
from dashboards.papers import latex
from dashboards.papers.averages import (
    LEVELS,
    STATISTICS,
    Table,
    bold,
    both_levels,
    by_family,
    columns_of,
    latex_table,
    levels_latex,
    mark,
    study_table,
    warnings_of,
)
from dashboards.papers.wmt import wmt_table
from dashboards.trust import marks
from dashboards.trust.amount import MIN_SYSTEMS
from dashboards.trust.shown import worst_of
from extensions.studies.document import FIGURES, CorrelationsOfStudy, Named
from extensions.studies.headline import Asked, answer
from extensions.studies.headline import Column as Answering
from extensions.studies.headline import Named as Averaged
from extensions.studies.matrix import Group, Matrix, groups_of, heads_of, matrix_of, trend_of
from extensions.studies.published import beside_of, titles
from metaeval.messages import Message, message
from metaeval.replication.questions.statistics import SEGMENT, SYSTEM
from metrics.catalogue import infos

# The table of the chosen statistic, which has intervals and groups; the others have values only.
CHOSEN = "value"
# Families of the rows that are not metrics.
BOUNDS = {FLOOR: "Baselines", CEILING: "Human ceiling"}
UNKNOWN = message("study.statistic", "Statistic")


def combine(
    campaigns: Sequence[Campaign], documents: Sequence[Correlations]
) -> CorrelationsOfStudy:
    """Put the documents of a study's campaigns side by side."""
    labels = {row.key: str(row.label) for document in documents for row in document.rows}
    every = {metric.key: metric for document in documents for metric in document.metrics}
    metrics = {row.key: row.metric for document in documents for row in document.rows}
    known = infos(retired=True)
    by_campaign = [{row.key: row for row in document.rows} for document in documents]
    chosen = documents[0].statistic_label if documents else None
    heading = message("study.chosen", "Chosen statistic: {statistic}", statistic=chosen or UNKNOWN)
    headings = {CHOSEN: heading, **STATISTICS}
    notes = [
        message(
            "study.intervals-of-campaign",
            "{campaign}: {note}",
            campaign=each.name,
            note=each.intervals_note,
        )
        for each in documents
        if each.intervals_note
    ]
    return CorrelationsOfStudy(
        study=campaigns[0].study if campaigns else "",
        columns=columns_of(campaigns),
        heads=heads_of(campaigns),
        campaigns=documents,
        statistic=documents[0].statistic if documents else "",
        statistic_label=chosen,
        families={
            key: known[name].family_label if name in known else "" for key, name in metrics.items()
        },
        tables=[
            study_table(statistic, title, labels, by_campaign)
            for statistic, title in headings.items()
        ],
        warnings=warnings_of(documents),
        intervals_notes=notes,
        all_metrics=[
            Named(key, label, every[key].family, every[key].is_leading)
            for key, label in labels.items()
        ],
        averages={},
    )


def choose_of_study(document: CorrelationsOfStudy, query: QueryDict) -> CorrelationsOfStudy:
    """Select the metrics of the address, and find the best cluster of each campaign."""
    correction = selection.one_of(query, "correction", list(selection.CORRECTIONS))
    campaigns = [choose(one, present(one, query)) for one in document.campaigns]
    shown = frozenset(metric.key for one in campaigns for metric in one.metrics)
    # A campaign without any of the named metrics has its usual ones.
    wanted = shown & frozenset(query.getlist("metric")) or shown
    groups = groups_of(campaigns, query, wanted)
    bounds = [{row.key: row for row in one.rows if row.kind in BOUNDS} for one in campaigns]
    labels = {
        key: (BOUNDS[CEILING] if row.kind == CEILING else str(row.label))
        for own in bounds
        for key, row in own.items()
    }
    first, *others = [
        replace(
            table,
            rows=[
                *(row for row in table.rows if row.key in wanted),
                *study_table(table.statistic, table.title, labels, bounds).rows,
            ],
        )
        for table in document.tables
    ]
    tables = [replace(first, rows=mark(first.rows, [each.bold for each in groups])), *others]
    found = replace(
        document,
        heads=[replace(h, group=group) for h, group in zip(document.heads, groups, strict=True)],
        campaigns=campaigns,
        tables=tables,
        correction_label=selection.CORRECTIONS[correction],
        bold=bold(marks.corrected(correction)),
        trust=worst_of([one.trust for one in campaigns]),
        rows=[
            replace(row, is_best=row.key in group.bold)
            for one, group in zip(campaigns, groups, strict=True)
            for row in one.rows
        ],
        averages={each.statistic: {row.key: row.average for row in each.rows} for each in tables},
        families={
            **document.families,
            **{key: BOUNDS[row.kind] for own in bounds for key, row in own.items()},
        },
    )
    return with_matrix(found, query)


def with_matrix(document: CorrelationsOfStudy, query: QueryDict) -> CorrelationsOfStudy:
    """Add the matrix, with the published table of the address, and the answer."""
    statistic = document.statistic or statistics.from_query(query, DEFAULT).statistic.key
    directions = {head.direction for head in document.heads}
    beside = beside_of(query.get("beside", ""), statistic, directions)
    found = [{row.key: row for row in one.rows} for one in document.campaigns]
    matrix = matrix_of(document.heads, document.tables[0].rows, found, beside)
    return replace(document, matrix=matrix, answer=answer(_asked(document, matrix)))


def _asked(document: CorrelationsOfStudy, matrix: Matrix) -> Asked:
    own = [row for row in matrix.rows if row.cells and row.kind == METRIC]
    metrics = {row.key for row in own}
    return Asked(
        statistic=document.statistic,
        metrics=[Averaged(row.key, str(row.label), row.average) for row in own],
        columns=[
            Answering(h.label, h.group.case, h.group.leader, h.group.keys, h.group.why)
            for h in document.heads
        ],
        trend=trend_of(
            document.heads, [row for row in document.tables[0].rows if row.key in metrics]
        ),
    )


@dataclass(frozen=True)
class Level:
    """One side of the switch of levels."""

    label: Message
    href: str
    is_chosen: bool


def context_of_study(
    request: HttpRequest, study: str, document: CorrelationsOfStudy
) -> dict[str, Any]:
    """Return the switch of levels, the query of links, and the published tables to choose from."""
    asked = statistics.from_query(request.GET, DEFAULT)
    return {
        "levels": _levels(request, document, asked.statistic.level),
        "opened": _opened(request),
        "offered": [(key, title) for key, title in titles().items()],
        "beside": request.GET.get("beside", ""),
    }


def _levels(request: HttpRequest, document: CorrelationsOfStudy, level: Message) -> list[Level]:
    """Return segments by τ, and systems by r, or by the limit of hybrids with few systems."""
    enough = all(one.n_systems >= MIN_SYSTEMS for one in document.campaigns)
    choices = {
        SEGMENT: (message("study.level-segment", "segment"), DEFAULT),
        SYSTEM: (message("study.level-system", "system"), "systems" if enough else "limit"),
    }
    return [
        Level(label, _with(request, statistic), name == level)
        for name, (label, statistic) in choices.items()
    ]


def _with(request: HttpRequest, statistic: str) -> str:
    query = request.GET.copy()
    for name in ("statistic", "grouping", "test"):
        query.pop(name, None)
    if statistic != DEFAULT:
        query["statistic"] = statistic
    return f"?{query.urlencode()}" if query else "?"


def _opened(request: HttpRequest) -> str:
    """Return the parameters of the address that a campaign's page takes."""
    query = request.GET.copy()
    for name in ("beside", "campaign", "metric"):
        query.pop(name, None)
    return f"?{query.urlencode()}" if query else ""


def study_tables(document: CorrelationsOfStudy) -> list[latex.Table]:
    """Return tables 6 and 7 of Cheng et al. 2023, the others, and that of the WMT metrics tasks."""
    return [
        levels_latex(document.columns, both_levels(document.tables)),
        *(printed(document, table) for table in document.tables),
        wmt_table(
            [
                task_of(each, head.label)
                for each, head in zip(document.campaigns, document.heads, strict=True)
            ],
            "study-wmt",
        ),
    ]


def printed(document: CorrelationsOfStudy, table: Table) -> latex.Table:
    """Return one statistic in the shape of tables 6 and 7; the chosen one explains bold."""
    caption: list[Message | str | None] = [f"{table.title}: agreement of metrics with humans."]
    if table.statistic == CHOSEN:
        counts = [f"{h.label}: {_bold(h.group)}" for h in document.heads]
        caption += [document.bold, f"{'; '.join(counts)}."]
    return latex_table(
        caption,
        f"study-{table.statistic}",
        document.columns,
        by_family(table.rows, {key: str(name) for key, name in document.families.items()}),
    )


def _bold(group: Group) -> str:
    """Return how many metrics of a campaign are in the best cluster, or why none is bold."""
    if not group.bold:
        return f"none ({group.why or 'the metrics cannot be distinguished'})"
    n = len(group.keys)
    return f"{n}" if len(group.bold) == n else f"the best of {n} that cannot be distinguished"


STUDY = CORRELATIONS.of_study(
    figures=FIGURES,
    title=message("page.study-metrics", "Metrics"),
    takes=(*CORRELATIONS.takes, "beside"),
    template="studies/metrics.html",
    context=context_of_study,
    choose=choose_of_study,
    tables=study_tables,
    combine=combine,
)


def context_of_printed(
    request: HttpRequest, study: str, document: CorrelationsOfStudy
) -> dict[str, Any]:
    """Return the chosen statistic in the printed shape, and both levels side by side."""
    return {
        "printed": printed(document, document.tables[0]),
        "levels": list(LEVELS.values()),
        "both_levels": both_levels(document.tables),
    }


PRINTED = replace(
    STUDY,
    name="printed",
    title=message("page.study-printed", "As printed"),
    template="studies/printed.html",
    context=context_of_printed,
    takes=CORRELATIONS.takes,
    tables=lambda document: [printed(document, document.tables[0])],
)
