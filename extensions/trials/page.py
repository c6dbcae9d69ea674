"""The page: what became of suggestions, effects with intervals, and what they are good for."""

from dashboards.pages.page import Page
from extensions.trials.document import Trial

TRIAL: Page[Trial] = Page(
    name="trial",
    title="Suggestions and trial",
    kind="trial",
    template="trials/page.html",
    columns=("name", "estimate", "low", "high", "p", "n", "n_annotators", "treated", "blank"),
    has_scores=False,
)
