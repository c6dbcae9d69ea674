"""The kinds of work by their names.

`settings.WORK_KINDS` maps names to paths of instances. The web process loads them, too, to ask for
work: what only workers need a kind imports when it does the work.
"""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.module_loading import import_string

from core.work.models import Work

if TYPE_CHECKING:
    from core.work.kinds import Kind


@cache
def get(name: str) -> "Kind[Any]":
    """Return a kind by its name."""
    kind: Kind[Any] = import_string(settings.WORK_KINDS[name])
    return kind


def every() -> Iterator["Kind[Any]"]:
    """All kinds of work."""
    return map(get, settings.WORK_KINDS)


def of(model: type[Work]) -> "Kind[Any]":
    """Return the kind that the rows of a model belong to."""
    return next(kind for kind in every() if kind.model is model)
