"""ReFreeEval as a job: what the page and the workers start."""

from training.jobs.kinds import JobError, NewMetric, Outcome, Work
from training.refreeeval.recipe import Recipe
from training.refreeeval.train import make_metric


def run(work: Work) -> Outcome:
    """Train, and return the metric that came of it; raises JobError or StoppedError."""
    try:
        recipe = Recipe.from_options(work.options)
    except ValueError as error:
        raise JobError(str(error)) from error
    made = make_metric(recipe, work.corpora, work.folder, work.report)
    label = f"ReFreeEval {recipe.variant} (seed {recipe.seed})"
    # The layer stands in the checkpoint's meta.json.
    metric = NewMetric("refreeeval", label, {"checkpoint": str(made.folder)})
    return Outcome(made.manifest, metric)
