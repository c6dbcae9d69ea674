"""Frozen results and typed warnings: the one shape of every statistic.

Each public function validates, computes and returns a frozen dataclass derived from `Result`.
An undefined statistic is nan, and then the result carries a `StatisticsWarning` that says why;
the same warning also goes through `warnings.warn`.
"""

from __future__ import annotations

import dataclasses
import math
import warnings as python_warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from metaeval.messages import Message

# Entries of an array or a tuple that a repr writes out.
SHOWN = 4


class StatisticsWarning(UserWarning):
    """A statistic is undefined, or is based on less data than it seems to be.

    ``code`` names the kind of warning, ``message`` says what happened.
    """

    code: ClassVar[str] = "statistics"

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


class ConstantInputWarning(StatisticsWarning):
    """All values are equal, so neither a correlation nor a standardised value is defined."""

    code = "constant_input"


class SingleJudgmentWarning(StatisticsWarning):
    """There is only one judgment, so neither spread nor agreement is defined."""

    code = "single_judgment"


class TooFewWarning(StatisticsWarning):
    """There are fewer observations than the statistic needs, or than make it meaningful."""

    code = "too_few"


class MissingDataWarning(StatisticsWarning):
    """Cells, segments or systems were excluded because a value is missing."""

    code = "missing_data"


class DependentDataWarning(StatisticsWarning):
    """Observations depend on each other, but the statistic assumes independence."""

    code = "dependent_data"


class UndefinedGroupWarning(StatisticsWarning):
    """Some groups (segments or systems) were excluded: their correlation is undefined."""

    code = "undefined_group"


class ResolutionWarning(StatisticsWarning):
    """There are too few resamples for any corrected p-value to be significant."""

    code = "resolution"


class IdenticalInputWarning(StatisticsWarning):
    """The two inputs are identical, so no difference can be significant."""

    code = "identical_input"


class DirectionWarning(StatisticsWarning):
    """A correlation is negative although the method assumes that higher is better."""

    code = "direction"


class ApproximationWarning(StatisticsWarning):
    """An asymptotic formula is used where it is known to be inaccurate."""

    code = "approximation"


class AdaptiveDrawWarning(StatisticsWarning):
    """Earlier scores decided what was judged next, so plain means are biased."""

    code = "adaptive_draw"


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float
    confidence: float


class ShortRepr:
    """Base of dataclasses with a short repr: large arrays are printed as dtype and shape."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Set before `dataclass` runs, which would generate a repr of every number of every array.
        cls.__repr__ = ShortRepr.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        entries: Any = dataclasses.fields(self)  # type: ignore[arg-type]
        shown = [(entry.name, _short(getattr(self, entry.name))) for entry in entries]
        inner = ", ".join(f"{name}={text}" for name, text in shown if text)
        return f"{type(self).__name__}({inner})"


@dataclass(frozen=True, kw_only=True, eq=False)
class Result(ShortRepr):
    """Base of all results.

    Attributes
    ----------
    n
        Number of observations used; each function's docstring says what an observation is.
    reasons
        Why observations were excluded: code of the reason -> count.
    warnings
        What the reader must know before quoting the number.
    """

    n: int
    reasons: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    warnings: tuple[StatisticsWarning, ...] = ()

    @property
    def n_excluded(self) -> int:
        """Number of excluded observations, over all reasons."""
        return sum(self.reasons.values())

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values for JSON: nan becomes None, arrays become lists."""
        names = [entry.name for entry in dataclasses.fields(self)]
        values = {name: plain(getattr(self, name)) for name in names}
        return values | {"n_excluded": self.n_excluded}


@dataclass(frozen=True, kw_only=True, eq=False)
class StatisticResult(Result):
    """A result with one number: statistic, interval, p-value, method and seed.

    ``interval`` and ``pvalue`` are None where the method has none. ``method`` is a name (str) or a
    description, None where nothing was computed. Passing ``seed`` as ``rng`` repeats the resampling
    exactly.
    """

    statistic: float
    method: Message | str | None
    interval: Interval | None = None
    pvalue: float | None = None
    alternative: str | None = None
    n_resamples: int | None = None
    seed: int | None = None


class Notes:
    """Collect warnings and exclusions while a statistic is computed."""

    def __init__(self) -> None:
        self._warnings: list[StatisticsWarning] = []
        self._reasons: dict[str, int] = {}

    def warn(self, warning: StatisticsWarning) -> None:
        """Add a warning to the result, and send it through `warnings.warn`."""
        self._warnings.append(warning)
        python_warnings.warn(warning, stacklevel=4)

    def exclude(self, reason: str, count: int) -> None:
        """Add a count of exclusions, by a code for the reason; a count of 0 adds nothing."""
        if count:
            self._reasons[reason] = self._reasons.get(reason, 0) + int(count)

    def absorb(self, result: Result) -> None:
        """Add the warnings of a partial result, which have been sent, without its exclusions."""
        self._warnings.extend(result.warnings)

    def exclude_missing(self, warning: Message) -> None:
        """Count observations excluded because data is missing, and warn of them.

        The message's parameter ``n`` is the count; its code is the reason.
        """
        self.exclude(warning.code, warning.count)
        if warning.count:
            self.warn(MissingDataWarning(warning))

    @property
    def warnings(self) -> tuple[StatisticsWarning, ...]:
        """Warnings so far, in order."""
        return tuple(self._warnings)

    @property
    def reasons(self) -> Mapping[str, int]:
        """Exclusions so far, by reason; read-only."""
        return MappingProxyType(dict(self._reasons))

    @property
    def fields(self) -> dict[str, Any]:
        """Reasons and warnings, as keyword arguments of a `Result`."""
        return {"reasons": self.reasons, "warnings": self.warnings}


def _short(value: Any) -> str:
    """Return a value in about ten characters, or its type and size; empty values as ""."""
    if value is None or (isinstance(value, (tuple, Mapping)) and not value):
        return ""
    if isinstance(value, np.ndarray):
        if value.size > SHOWN:
            return f"{value.dtype}[{' x '.join(map(str, value.shape))}]"
        return str([_short(entry) for entry in value.tolist()]).replace("'", "")
    if isinstance(value, Interval):
        return f"({value.low:.4g}, {value.high:.4g})"
    if isinstance(value, Message):
        return repr(value.text)
    if isinstance(value, StatisticsWarning):
        return value.code
    if isinstance(value, (tuple, list)) and len(value) <= SHOWN:
        return f"({', '.join(_short(entry) for entry in value)})"
    if isinstance(value, (tuple, list, Mapping)):
        return f"<{len(value)}>"
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: lists for arrays, None for nan."""
    if type(value) in (str, int, bool):
        return value
    if isinstance(value, StatisticsWarning):
        return {"code": value.code, "message": plain(value.message)}
    if isinstance(value, Message):
        return {name: plain(each) for name, each in vars(value).items()}
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
