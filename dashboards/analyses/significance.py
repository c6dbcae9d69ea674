"""Every metric against every other by one statistic: values, differences, intervals and p."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign
from dashboards import statistics
from dashboards.comparisons import Comparison, compare
from dashboards.filters import Filters
from dashboards.scored import Scored, read
from dashboards.selectors import Floats
from dashboards.statistics import Question

VERSION = 2
DEFAULT = "tau-b"


@dataclass(frozen=True)
class Asked:
    """The analysis of one question."""

    question: Question
    VERSION: int = VERSION

    def compute(self, campaign: Campaign, filters: Filters) -> dict[str, Any]:
        """Return matrices with metrics in the order of the registry."""
        scored = read(campaign, filters)
        return {
            "campaign": campaign.slug,
            "name": campaign.name,
            "direction": campaign.test_set.direction,
            "length_ratio": str(campaign.length_ratio),
            "origin": campaign.origin,
            "human_scores": scored.human.source,
            "n_outputs": scored.measures[0].n_outputs if scored.measures else 0,
            "n_judged": scored.human.n,
            "seed": scored.seed,
            **comparison_document(scored, self.question),
        }


def asked(question: str) -> Asked:
    """Return the analysis of a question; FilterError where there is no such."""
    return Asked(statistics.parse(question))


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Answer the default question."""
    return asked(DEFAULT).compute(campaign, filters)


def comparison_document(scored: Scored, question: Question) -> dict[str, Any]:
    """Return a comparison as plain values; without any metrics where nothing can be compared."""
    return {
        "statistic": question.statistic.key,
        "statistic_label": question.label,
        "level": question.statistic.level,
        "grouping": question.grouping,
        "test": question.test,
        **(_found(scored, compare(scored, question)) if scored.measures and scored.n else _none()),
    }


def _none() -> dict[str, Any]:
    names = ("differences", "difference_lows", "difference_highs", "pvalues")
    return {
        "n": 0,
        "interval": "",
        "test_label": "",
        "n_permutations": None,
        "comparison_warnings": [],
        "metrics": [],
        **{name: [] for name in names},
    }


def _found(scored: Scored, found: Comparison) -> dict[str, Any]:
    values, lows, highs = (plain(row) for row in (found.values, found.lows, found.highs))
    metrics = [
        {
            "key": measure.key,
            "label": measure.label,
            "metric": measure.metric,
            "signature": measure.signature,
            "is_turned": not measure.higher_is_better,
            "value": values[index],
            "low": lows[index],
            "high": highs[index],
        }
        for index, measure in enumerate(scored.measures)
    ]
    return {
        "n": found.n,
        "interval": found.interval,
        "test_label": found.test,
        "n_permutations": found.n_permutations,
        "comparison_warnings": list(found.warnings),
        "metrics": metrics,
        "differences": plain(found.differences),
        "difference_lows": plain(found.difference_lows),
        "difference_highs": plain(found.difference_highs),
        "pvalues": plain(found.pvalues),
    }


def plain(values: Floats) -> list[Any]:
    """Return an array as lists, with None for what is not finite."""
    plain_values = values.astype(object)
    plain_values[~np.isfinite(values)] = None
    listed: list[Any] = plain_values.tolist()
    return listed
