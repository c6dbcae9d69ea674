"""Show the fates of suggestions, their effects with intervals, and a verdict."""

from dashboards.pages.page import Page
from extensions.trials.document import Trial
from metaeval.messages import message

TRIAL: Page[Trial] = Page(
    name="trial",
    title=message("page.trial", "Suggestions and trial"),
    kind="trial",
    template="trials/page.html",
    columns=("name", "estimate", "low", "high", "p", "n", "n_annotators", "treated", "blank"),
    has_scores=False,
)
