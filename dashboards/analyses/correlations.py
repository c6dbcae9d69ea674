"""The table of metrics against humans as a document: values only, which are there in a second.

Intervals and the tests behind ranks take longer: `analyses.significance` has them.
"""

from dataclasses import dataclass
from typing import Any

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards import statistics
from dashboards.analyses import about
from dashboards.analyses.significance import asked_fields, measure_rows
from dashboards.comparisons import values_of
from dashboards.correlations import table
from dashboards.scored import read
from dashboards.statistics import Question

VERSION = 6
DEFAULT = "tau-b"


@dataclass(frozen=True)
class Asked:
    """The table with one statistic beside those that it always has."""

    question: Question
    VERSION: int = VERSION

    def compute(self, campaign: Campaign, filters: Filters) -> dict[str, Any]:
        """Return the table with everything needed to quote it."""
        filters = filters.of(campaign)
        scored = read(campaign, filters)
        found = table(scored, filters.scores)
        values, notes = values_of(scored, self.question)
        metrics = measure_rows(scored, values)
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
            "warnings": list(dict.fromkeys([*found.warnings, *notes])),
            **asked_fields(self.question),
            "metrics": metrics,
            "rows": [said | row.values() | {"value": chosen[row.key]} for row in found.rows],
        }


def asked(question: str) -> Asked:
    """Return the analysis of a question; FilterError where there is no such."""
    return Asked(statistics.parse(question))


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Answer the default question."""
    return asked(DEFAULT).compute(campaign, filters)
