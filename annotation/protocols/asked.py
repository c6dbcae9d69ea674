"""What is asked of an output besides errors: scores on scales, a text, a choice."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise


class TextField(StrEnum):
    """Whether a text is asked for: none, one written from nothing, or the output post-edited."""

    NONE = ""
    EMPTY = "empty"
    PREFILLED = "prefilled"


@dataclass(frozen=True)
class Anchor:
    """A mark of a scale at `low`, and the words that stand there."""

    low: int
    label: str | Promise


@dataclass(frozen=True)
class Scale:
    """One score that is asked: `low`, `low + step`, … up to `high`, whole numbers.

    `key` is what is stored and exported; it is empty for the only scale of a protocol, whose
    question stands above it. `label` is what is shown of a scale whose words are translated.
    `anchors` say what values mean, from the lowest.
    """

    key: str = ""
    low: int = 0
    high: int = 100
    step: int = 1
    anchors: Sequence[Anchor] = ()
    label: str | Promise = ""

    @property
    def is_percent(self) -> bool:
        """Whether it is the usual one, from 0 to 100 by ones."""
        return (self.low, self.high, self.step) == (0, 100, 1)

    @property
    def name(self) -> str | Promise:
        """What is shown above it."""
        return self.label or self.key

    def holds(self, value: object) -> bool:
        """Return whether a value is a whole number on the scale."""
        return type(value) is int and value in range(self.low, self.high + 1, self.step)

    def at(self, share: float) -> float:
        """Return the place on the scale of a share: 0 is the lowest value, 1 the highest."""
        return self.low + share * (self.high - self.low)

    def range_at(self, low: float, high: float) -> tuple[int, int]:
        """Return the least and the greatest value between two shares, the ends included."""
        values = range(self.low, self.high + 1, self.step)
        found = [each for each in values if self.at(low) <= each <= self.at(high)]
        return (found[0], found[-1]) if found else (self.low, self.high)


@dataclass(frozen=True)
class Choice:
    """One of several words that is chosen, such as `yes` and `no`: stored as it is, no score."""

    key: str
    options: Sequence[str]
