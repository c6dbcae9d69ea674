"""Report whether higher or lower scores are better, or ask for it."""

from annotation.uploads.problems import Report
from metaeval.messages import Message, message
from metaeval.scores.directions import (
    STATED_HIGHER,
    STATED_LOWER,
    Direction,
    infer_direction,
)

USUAL = infer_direction("", ())


def say_direction(name: str, direction: Direction, report: Report) -> None:
    """Note an unusual direction of some scores; ask for it if it is unclear."""
    if direction.is_lower is None:
        text = message(
            "direction.column-unclear",
            "“{name}”: it is unclear whether higher or lower is better: {reason}. State the "
            "direction (command line: --lower-is-better or --higher-is-better; API: "
            "lower_is_better or higher_is_better).",
            name=name,
            reason=direction.reason,
        )
        report.error(text)
    elif direction == USUAL:
        return
    elif direction.is_lower:
        text = message(
            "direction.column-lower",
            "“{name}”: lower is better: {reason}.",
            name=name,
            reason=direction.reason,
        )
        report.note(text)
    else:
        text = message(
            "direction.column-higher",
            "“{name}”: higher is better: {reason}.",
            name=name,
            reason=direction.reason,
        )
        report.note(text)


def direction_message(direction: Direction) -> Message | None:
    """Return the message that is stored with scores; None if nothing unusual was inferred."""
    if direction in (USUAL, STATED_LOWER, STATED_HIGHER):
        return None
    if direction.is_lower:
        return message(
            "direction.stored-lower", "Lower is better: {reason}.", reason=direction.reason
        )
    return message(
        "direction.stored-higher", "Higher is better: {reason}.", reason=direction.reason
    )
