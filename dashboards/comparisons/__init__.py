"""Every metric against the humans and against every other metric, by one statistic.

What correlates how, with intervals, and which differences are significant: one computation behind
the table of metrics, its ranks and the heat maps.
"""

from dashboards.comparisons.base import Comparison
from dashboards.comparisons.dependent import compare_hybrids, compare_systems
from dashboards.comparisons.resampled import compare_limits, compare_resampled
from dashboards.comparisons.values import values_of
from dashboards.scored import Scored
from dashboards.statistics import Question

__all__ = ["Comparison", "compare", "values_of"]


def compare(scored: Scored, question: Question) -> Comparison:
    """Answer a question with all measures of a campaign, on the cells that all of them have."""
    if question.statistic.key == "hybrids":
        return compare_hybrids(scored, question)
    if question.statistic.key == "limit":
        return compare_limits(scored)
    if question.statistic.is_of_systems:
        return compare_systems(scored, question)
    return compare_resampled(scored, question)
