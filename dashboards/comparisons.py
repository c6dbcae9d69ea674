"""Every metric of a campaign against the humans and every other metric (`metaeval.questions`)."""

from dashboards.scored import Scored
from dashboards.selectors import Floats
from metaeval import questions
from metaeval.questions import Comparison, Question, answer

__all__ = ["Comparison", "compare", "values_of"]


def compare(scored: Scored, question: Question) -> Comparison:
    """Answer a question with all measures of a campaign, on the cells that all of them have."""
    return answer(scored.panel, question)


def values_of(scored: Scored, question: Question) -> tuple[Floats, dict[str, None]]:
    """Return the statistic of each measure alone, and what to know; nan where it is undefined."""
    return questions.values_of(scored.panel, question)
