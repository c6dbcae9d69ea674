"""Show a study's heat maps side by side: figures 1, 2, 4 and 5 of Cheng et al. 2023."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.charts.style import Spec, figure
from dashboards.comparisons.document import Comparison, Pair, Shown
from dashboards.documents.head import StudyDocument
from dashboards.papers import latex
from dashboards.papers.averages import warnings_of
from dashboards.significance.figures import LABELS, QUESTION, darker, outlined, panel
from dashboards.significance.page import SIGNIFICANCE, grid, lines, tables
from dashboards.significance.pairs import choose
from dashboards.trust.shown import worst_of
from metaeval.messages import Message

# The most pairs of all campaigns, and metrics of each, on a page (of 100 KiB).
PAIRS, MOST = 2_000, 30


@dataclass(frozen=True, kw_only=True)
class SignificanceOfStudy(StudyDocument):
    """The comparisons of the campaigns; `rows` are the pairs of all campaigns."""

    campaigns: Sequence[Comparison | Shown]
    statistic: str = ""
    statistic_label: Message | None = None
    test_label: Message | None = None
    correction_label: Message | str | None = None
    rows: Sequence[Pair] = ()


def combine(campaigns: Sequence[Campaign], documents: Sequence[Comparison]) -> SignificanceOfStudy:
    """Combine the comparisons."""
    return SignificanceOfStudy(
        study=campaigns[0].study if campaigns else "",
        campaigns=documents,
        statistic=documents[0].statistic if documents else "",
        statistic_label=documents[0].statistic_label if documents else None,
        warnings=warnings_of(documents),
    )


def choose_of_study(document: SignificanceOfStudy, query: QueryDict) -> SignificanceOfStudy:
    """Apply the choices of the address to every campaign."""
    shown = [choose(each, query) for each in document.campaigns if isinstance(each, Comparison)]
    compared = [each for each in shown if each.rows]
    return replace(
        document,
        campaigns=shown,
        test_label=compared[0].test_label if compared else None,
        correction_label=shown[0].correction_label if shown else None,
        trust=worst_of([each.trust for each in shown]),
        rows=[row for each in shown for row in lines(each)],
    )


def context(request: HttpRequest, study: str, document: SignificanceOfStudy) -> dict[str, Any]:
    """Return a heat map per campaign, with as many metrics as fit the page."""
    shown = [each for each in document.campaigns if isinstance(each, Shown)]
    most = most_of(len(shown))
    maps = []
    for each in shown:
        rows = enumerate(grid(each)[:most], 1)
        maps.append((each, [(metric, cells[: most - n]) for n, (metric, cells) in rows]))
    return {
        "maps": maps,
        "most": most,
        "is_cut": any(len(each.metrics) > most for each in shown),
        "step_labels": LABELS,
    }


def most_of(n: int) -> int:
    """Return how many metrics of each of `n` campaigns fit the page."""
    fitting = (size for size in range(MOST, 2, -1) if n * size * (size - 1) <= 2 * PAIRS)
    return next(fitting, 2)


def study_tables(document: SignificanceOfStudy) -> list[latex.Table]:
    """Return a table of p per campaign."""
    return [
        table
        for each in document.campaigns
        if isinstance(each, Shown) and each.rows
        for table in tables(each)
    ]


def _rows(document: SignificanceOfStudy) -> Sequence[Pair]:
    """Return the pairs of all campaigns, with metrics against the baselines where shown."""
    return document.rows


def heat_maps(document: SignificanceOfStudy) -> Spec | None:
    """Draw the campaigns of a study in two columns."""
    shown = [each for each in document.campaigns if isinstance(each, Shown) and each.rows]
    if not shown or document.statistic_label is None:
        return None
    outlines = outlined(document.correction_label) if document.correction_label else None
    return figure(
        document.statistic_label,
        [QUESTION, darker(document.test_label), outlines, document.over],
        concat=[{"title": each.name, **panel(each)} for each in shown],
        columns=2,
    )


STUDY_SIGNIFICANCE = SIGNIFICANCE.of_study(
    figures={"heatmaps": heat_maps},
    template="studies/significance.html",
    context=context,
    choose=choose_of_study,
    tables=study_tables,
    takes=("statistic", "grouping", "test", "correction", "scope", "bounds"),
    rows=_rows,
    on_page=(),
    combine=combine,
)
