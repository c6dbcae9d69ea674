"""The page: what became of suggestions, effects with intervals, and what they are good for."""

from dashboards.pages.page import Page
from dashboards.trial.document import Trial

TRIAL: Page[Trial] = Page(
    name="trial",
    title="Suggestions and trial",
    kind="trial",
    template="dashboards/trial.html",
    columns=("name", "estimate", "low", "high", "p", "n", "n_annotators", "treated", "blank"),
    has_scores=False,
)
