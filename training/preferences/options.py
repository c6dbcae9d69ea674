"""What an analysis is told. Neither Django nor torch: pages and workers read it."""

from metrics.options import Option

KIND = "preferences"
OPTIONS = (
    Option("test_set", "Test set", "text", help="Its slug."),
    Option("metrics", "Metrics", "text", help="Names, separated by commas."),
    Option(
        "conditions",
        "Conditions",
        "text",
        "reorder",
        help="Separated by commas: reorder, shuffle, repeat, clauses, source-order; "
        "word-by-word and texts need a file, which the page and manage.py preferences take.",
    ),
    Option("seed", "Seed", "integer", 0, minimum=0, maximum=2**31 - 1, help="Of random orders."),
    Option("queue", "Queue", "choice", "gpu", choices=("cpu", "gpu"), help="Whose workers do it."),
)


def listed(text: str) -> list[str]:
    """Return the names in an option that lists several."""
    return [name for part in text.split(",") if (name := part.strip())]
