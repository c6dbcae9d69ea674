"""Results of `metaeval` as parts of documents: what they rest on, and None for nan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from metaeval import Result, StatisticsWarning
from metaeval.messages import Message

Number = float | None
C = TypeVar("C", bound="Counted")


@dataclass(frozen=True)
class Warned:
    """A `StatisticsWarning`."""

    code: str
    message: Message


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What every result carries; a subclass names what else documents have of one."""

    n: int
    n_excluded: int
    reasons: Mapping[str, int]
    warnings: Sequence[Warned]

    @classmethod
    def of(cls: type[C], result: Result, **more: str) -> C:
        """Return the fields of this class that a result has, and `more`."""
        return msgspec.convert(result.to_dict() | more, cls)


def warned(warnings: Sequence[StatisticsWarning]) -> list[Warned]:
    """Return warnings as documents have them."""
    return [Warned(each.code, each.message) for each in warnings]
