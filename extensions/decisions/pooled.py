"""Show score differences over all campaigns of a study: pairs of systems of each are pooled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from annotation.filters import Filters
from annotation.filters.chosen import fitted
from annotation.models import Campaign
from dashboards.documents.head import StudyDocument
from dashboards.panel.choice import PooledChoice, general, others
from dashboards.panel.panel import each_on_its_own, read_panel
from extensions.decisions.chosen import Problem, by_problem
from extensions.decisions.differences import DIFFERENCES, Row, context, row_fields
from metaeval.messages import Message, message

VERSION = 1


@dataclass(frozen=True, kw_only=True)
class PooledRow(Row):
    """A metric's curve over the `n_campaigns` campaigns in which it has scores."""

    n_campaigns: int


@dataclass(frozen=True, kw_only=True)
class PooledDifferences(StudyDocument):
    """The document; `rows` as in `Differences`, metrics of all `campaigns` (their names) first."""

    campaigns: Sequence[str]
    n_judged: int
    rows: Sequence[PooledRow]
    all_metrics: Sequence[PooledRow] = ()
    difference: float | None = None

    @property
    def name(self) -> str:
        """The study, in titles and captions."""
        return self.study

    @property
    def campaign(self) -> str:
        """The study, in labels of tables."""
        return self.study


DOCUMENT, FILTERS = PooledDifferences, PooledChoice


def compute(campaign: Campaign, filters: Filters) -> PooledDifferences:
    """Return the curve of every metric over pairs of systems of the same campaign."""
    campaigns = [campaign, *others(campaign, filters)]
    own = general(filters)
    panels = {each: read_panel(each, fitted(each, campaigns, own)) for each in campaigns}
    measures = {
        key: each for panel in reversed(panels.values()) for key, each in panel.measures.items()
    }
    rows, problems = list[PooledRow](), list[Problem]()
    for key, measure in measures.items():
        scores = {
            each.slug: panel.scored.system_level(key)
            for each, panel in panels.items()
            if key in panel.measures
        }
        rows.append(PooledRow(**row_fields(measure, scores, problems), n_campaigns=len(scores)))
    rows.sort(key=lambda row: (-row.n_campaigns, -row.agreeing / max(row.n, 1)))
    notes = [
        message("warning.of-campaign", "{campaign}: {warning}", campaign=each.name, warning=note)
        for each, panel in panels.items()
        for note in [*panel.human.warnings, *each_on_its_own(panel)]
    ]
    return PooledDifferences(
        study=campaign.study,
        campaigns=[each.name for each in campaigns],
        n_judged=sum(panel.human.n for panel in panels.values()),
        rows=rows,
        warnings=[
            *dict.fromkeys(notes),
            *by_problem(problems, len(rows)),
            *by_problem(list(_partly(rows, len(campaigns))), len(rows)),
        ],
    )


def _partly(rows: Sequence[PooledRow], n: int) -> list[Problem]:
    return [
        (
            row.label,
            message(
                "differences.partly",
                "Only {n_campaigns} of {n} campaigns have scores. Do not compare this with metrics "
                "of all campaigns.",
                n_campaigns=row.n_campaigns,
                n=n,
            ),
        )
        for row in rows
        if row.n_campaigns < n
    ]


def study_context(request: HttpRequest, study: str, document: PooledDifferences) -> dict[str, Any]:
    """Return the sentences that answer, and what is pooled."""
    pooled: Message = message(
        "differences.pooled",
        "Pooled over {n} campaigns: {campaigns}. Only systems of the same campaign are compared, "
        "and a system of several campaigns counts as several.",
        n=len(document.campaigns),
        campaigns=document.campaigns,
    )
    return context(request, study, document) | {"pooled": pooled}


STUDY_DIFFERENCES = DIFFERENCES.of_study(
    kind="pooled",
    template="decisions/study_differences.html",
    figures=DIFFERENCES.figures,
    columns=(*DIFFERENCES.columns, "n_campaigns"),
    context=study_context,
    is_pooled=True,
    without=("others",),
)
