"""The table of metrics against humans as a document."""

from dataclasses import dataclass
from typing import Any

from annotation.models import Campaign
from dashboards import statistics
from dashboards.analyses.significance import comparison_document
from dashboards.correlations import table
from dashboards.filters import Filters
from dashboards.scored import read
from dashboards.statistics import Question

VERSION = 3
DEFAULT = "tau-b"


@dataclass(frozen=True)
class Asked:
    """The table with one statistic in full: its intervals, and the tests behind its ranks."""

    question: Question
    VERSION: int = VERSION

    def compute(self, campaign: Campaign, filters: Filters) -> dict[str, Any]:
        """Return the table with everything needed to quote it."""
        scored = read(campaign, filters)
        found = table(scored, filters.scores)
        compared = comparison_document(scored, self.question)
        ends = {row["key"]: row for row in compared["metrics"]}
        rows = [
            {
                "campaign": campaign.slug,
                "scores": filters.scores,
                **row.values(),
                **{name: ends.get(row.key, {}).get(name) for name in ("value", "low", "high")},
            }
            for row in found.rows
        ]
        return {
            "campaign": campaign.slug,
            "name": campaign.name,
            "direction": campaign.test_set.direction,
            "length_ratio": str(campaign.length_ratio),
            "origin": campaign.origin,
            "human_scores": found.source,
            "n_outputs": found.n_outputs,
            "n_judged": found.n_judged,
            "n_hybrids": found.n_hybrids,
            "seed": found.seed,
            "segment_grouping": "none",
            "warnings": [*found.warnings, *compared.pop("comparison_warnings")],
            **compared,
            "rows": rows,
        }


def asked(question: str) -> Asked:
    """Return the analysis of a question; FilterError where there is no such."""
    return Asked(statistics.parse(question))


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Answer the default question."""
    return asked(DEFAULT).compute(campaign, filters)
