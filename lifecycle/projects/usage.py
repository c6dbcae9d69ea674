"""What a project holds, and what it uses of its limits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotation.models import Project
from annotation.projects import DAYS, starts
from annotation.uploads.files import size_of
from annotation.uploads.quota import stored
from lifecycle.resources import RESOURCE_TYPES, ResourceType
from metaeval.messages import Message, message, plural
from metrics.runs.allowance import spent

SHOWN = 50


@dataclass(frozen=True)
class Usage:
    """One limit of a project; `name` is its field. Without a limit, `limit` is None."""

    name: str
    label: Message
    used: float
    limit: float | None

    @property
    def as_text(self) -> tuple[Message | float, Message | float | None]:
        """What is used and the limit, as people read them."""
        if self.name != "max_bytes":
            return self.used, self.limit
        return size_of(int(self.used)), None if self.limit is None else size_of(int(self.limit))


def usage_of(project: Project) -> list[Usage]:
    """Return the limits of a project with what is used."""
    judges = spent(project)
    used = {
        "max_bytes": (message("project.bytes", "Texts, recordings and pictures"), stored(project)),
        "max_starts": (
            plural(
                "project.started",
                "Metric runs and trainings started within {n} day",
                "Metric runs and trainings started within {n} days",
                n=DAYS,
            ),
            starts(project),
        ),
        "max_tokens": (message("project.judge-tokens", "Tokens of judges"), judges.tokens),
        "max_money": (
            message("project.judge-money", "Cost of judges, in the currency of their endpoint"),
            round(judges.money, 2),
        ),
    }
    return [Usage(name, *found, getattr(project, name)) for name, found in used.items()]


@dataclass(frozen=True)
class Contents:
    """The resources of one type in a project that a user may see; `shown` are the first."""

    kind: ResourceType[Any]
    n: int
    shown: list[tuple[str, str]]


def contents(project: Project, user: Any) -> Iterator[Contents]:
    """Yield what a project holds, by type."""
    for kind in RESOURCE_TYPES.values():
        if kind.project:
            rows = kind.seen(user).filter(**{kind.project: project})
            shown = [(kind.called(row), kind.page(row)) for row in rows[:SHOWN]]
            yield Contents(kind, rows.count(), shown)
