"""Settings of preference analyses. Imports neither Django nor torch, for pages and workers."""

from metaeval.messages import message
from metrics.options import Option
from training.contract import SEED

KIND = "preferences"
OPTIONS = (
    Option(
        "test_set",
        message("preferences.test-set", "Test set"),
        "text",
        help=message("preferences.test-set-help", "The short name of the test set."),
    ),
    Option(
        "metrics",
        message("preferences.metrics", "Metrics"),
        "text",
        help=message("preferences.metrics-help", "Names of metrics, separated by commas."),
    ),
    Option(
        "conditions",
        message("preferences.conditions", "Conditions"),
        "text",
        "reorder",
        help=message(
            "preferences.conditions-help",
            "Separated by commas: reorder, shuffle, repeat, clauses, source-order. word-by-word "
            "and texts need a file: use the page or manage.py preferences.",
        ),
    ),
    Option(
        "seed",
        SEED,
        "integer",
        0,
        minimum=0,
        maximum=2**31 - 1,
        help=message("preferences.seed-help", "The seed of random orders."),
    ),
    Option(
        "queue",
        message("preferences.queue", "Queue"),
        "choice",
        "gpu",
        choices=("cpu", "gpu"),
        help=message("preferences.queue-help", "The queue whose workers run the analysis."),
    ),
)


def listed(text: str) -> list[str]:
    """Return the names in an option that lists several."""
    return [name for part in text.split(",") if (name := part.strip())]
