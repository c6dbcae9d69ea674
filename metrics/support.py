"""Support of a family around its scorer: refusals, budgets, and objects attached for a run.

A family whose metrics call a server, or cost something, names a :class:`Support`
(`metrics.options.Family.support`). All others have the default, which does nothing.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.utils.module_loading import import_string

from annotation.models import TestSet
from metaeval.messages import Message, message
from metrics import registry
from metrics.base import Metric, MetricInfo
from metrics.models import MetricRun
from metrics.options import Option

T = TypeVar("T")
NO_BUDGET = message("budget.positive", "Enter a budget of more than 0.")


@contextmanager
def binding(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Give a context variable a value for as long as the context lasts."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


@dataclass(frozen=True)
class Budget:
    """The most that each paid metric of a start may spend: money, tokens, or both."""

    money: float | None = None
    tokens: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was limited."""
        return self.money is None and self.tokens is None

    def check(self) -> None:
        """Raise ValidationError for a budget of nothing."""
        if any(limit is not None and limit <= 0 for limit in (self.money, self.tokens)):
            raise ValidationError([NO_BUDGET])


NO_LIMIT = Budget()


class Support:
    """What a family can do around its scorer; `has_budget` if its runs can cost something."""

    has_budget = False

    def known(self) -> AbstractContextManager[None]:
        """Give descriptions and scorers what is declared and stored here."""
        return nullcontext()

    def choices(self, option: Option) -> list[tuple[str, Message | str]]:
        """Return values and labels to choose an option from; none if it is typed."""
        return []

    def lacking(self, info: MetricInfo) -> list[Message]:
        """Return what this host lacks besides packages, checkpoints and files."""
        return []

    def estimate(self, info: MetricInfo, test_set: TestSet) -> Any:
        """Estimate the cost of a metric over a test set; None if it is free."""
        return None

    def refusal(self, info: MetricInfo, budget: Budget) -> Message | None:
        """Return why a metric cannot start, or None."""
        return None

    def started(self, run: MetricRun, info: MetricInfo, budget: Budget) -> None:
        """Store what a new run needs, in the transaction that creates it."""

    def attach(self, metric: Metric, run: int | None) -> None:
        """Give a scorer what it needs for its run; raise InputError if that is missing."""

    def end_seconds(self, info: MetricInfo) -> float:
        """Return how many seconds longer than usual a worker that is stopping waits for it."""
        return 0.0


NONE = Support()


def support_of(info: MetricInfo | None) -> Support:
    """Return the support of a metric's family."""
    return NONE if info is None else of_family(info.family)


def of_family(key: str) -> Support:
    """Return the support of a family; that of plug-ins and of unknown families does nothing."""
    path = registry.get_family(key).support if key in registry.FAMILIES else ""
    found: Support = import_string(path) if path else NONE
    return found
