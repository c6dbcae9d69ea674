"""Describe a measure of a metric in a document."""

from dataclasses import dataclass
from typing import Any

from metrics.scores import MeasureScores


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A measure; `origin` says whether its scores were computed here or imported.

    `is_turned`: lower is better, and the sign was reversed, so that a larger correlation always
    means better agreement.
    """

    key: str
    label: str
    signature: str
    origin: str
    is_turned: bool


def about(measure: MeasureScores) -> dict[str, Any]:
    """Return the fields of `Measured`."""
    return {
        "key": measure.key,
        "label": measure.label,
        "signature": measure.signature,
        "origin": measure.origin,
        "is_turned": not measure.higher_is_better,
    }
