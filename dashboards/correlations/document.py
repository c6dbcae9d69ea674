"""The table of metrics against humans as a document: values only, which are there in a second.

Intervals and the tests behind ranks take longer: `analyses.significance` has them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.correlations.agreement import table
from dashboards.documents.kinds import about
from dashboards.pages import statistics
from dashboards.pages.statistics import Question
from dashboards.panel.panel import read_panel
from dashboards.significance.document import asked_fields, measure_rows
from metaeval.replication import questions

VERSION = 7
DEFAULT = "tau-b"


@dataclass(frozen=True)
class Asked:
    """The table with one statistic beside those that it always has."""

    question: Question
    VERSION: int = VERSION

    def compute(self, campaign: Campaign, filters: Filters) -> dict[str, Any]:
        """Return the table with everything needed to quote it."""
        filters = filters.of(campaign)
        panel = read_panel(campaign, filters)
        found = table(panel, filters.scores)
        values, notes = questions.values_of(panel.scored, self.question)
        metrics = measure_rows(panel, values)
        chosen = {metric["key"]: metric["value"] for metric in metrics}
        said = {"campaign": campaign.slug, "scores": filters.scores}
        return {
            **about(campaign),
            "human_scores": found.source,
            "n_outputs": found.n_outputs,
            "n_judged": found.n_judged,
            "n_hybrids": found.n_hybrids,
            "n_segments": found.n_segments,
            "n_informative": found.n_informative,
            "n_systems": found.n_systems,
            "seed": found.seed,
            "segment_grouping": "none",
            "warnings": once(found.warnings, notes),
            **asked_fields(self.question),
            "metrics": metrics,
            "rows": [said | row.values() | {"value": chosen[row.key]} for row in found.rows],
        }


def once(told: Sequence[str], notes: Iterable[str]) -> list[str]:
    """Join sentences, without those of `notes` that are told already with the metric's name."""
    new = (note for note in notes if not any(each.endswith(f": {note}") for each in told))
    return list(dict.fromkeys([*told, *new]))


def asked(question: str) -> Asked:
    """Return the analysis of a question; FilterError where there is no such."""
    return Asked(statistics.parse(question))


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Answer the default question."""
    return asked(DEFAULT).compute(campaign, filters)
