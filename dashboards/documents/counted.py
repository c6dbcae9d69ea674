"""Turn measures and results of `metaeval` into parts of documents, with None for nan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from metaeval import Result, StatisticsWarning
from metaeval.messages import Message
from metrics.scores import MeasureScores

# Describe a measure of a metric in a document.


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


Number = float | None
C = TypeVar("C", bound="Counted")


@dataclass(frozen=True)
class Warned:
    """A `StatisticsWarning` of a document."""

    code: str
    message: Message


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Fields of every `Result`; a subclass names the others that documents have."""

    n: int
    n_excluded: int
    reasons: Mapping[str, int]
    warnings: Sequence[Warned]

    @classmethod
    def of(cls: type[C], result: Result, **more: str) -> C:
        """Return the fields of this class that a result has, and `more`."""
        return msgspec.convert(result.to_dict() | more, cls)


def warned(warnings: Sequence[StatisticsWarning]) -> list[Warned]:
    """Return the warnings of a result for a document."""
    return [Warned(each.code, each.message) for each in warnings]
