"""Whether higher or lower scores are better, as imports say it and ask for it."""

from annotation.uploads.problems import Report
from metaeval.scores.directions import (
    STATED_HIGHER,
    STATED_LOWER,
    Direction,
    infer_direction,
)

USUAL = infer_direction("", ())


def say_direction(name: str, direction: Direction, report: Report) -> None:
    """Note the direction of some scores, unless it is the usual one; ask where it is not clear."""
    if direction.is_lower is None:
        report.error(
            f"“{name}”: {direction}. State the direction (command line: --lower-is-better or "
            "--higher-is-better; API: lower_is_better or higher_is_better)"
        )
    elif direction != USUAL:
        report.note(f"“{name}”: {direction}")


def direction_text(direction: Direction) -> str:
    """Return the sentence that is stored with scores; empty where nothing unusual was inferred."""
    if direction in (USUAL, STATED_LOWER, STATED_HIGHER):
        return ""
    return (
        f"Lower is better: {direction.reason}."
        if direction.is_lower
        else (f"Higher is better: {direction.reason}.")
    )
