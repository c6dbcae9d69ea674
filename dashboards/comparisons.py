"""Every metric of a campaign against the humans and every other metric (`metaeval.questions`)."""

from dashboards.scored import Scored
from metaeval.questions import Comparison, Question, answer

__all__ = ["Comparison", "compare"]


def compare(scored: Scored, question: Question) -> Comparison:
    """Answer a question with all measures of a campaign, on the cells that all of them have."""
    return answer(scored.panel, question)
