"""A piece of background work as a row, the database's clock, and the kinds of work by name.

`settings.WORK_KINDS` maps names to paths of instances. The web process loads them too, to ask for
work: what only workers need a kind imports when it does the work.
"""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import functions
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _

from core.messages import MessageField

if TYPE_CHECKING:
    from core.work.kinds import WorkKind


class Now(functions.Now):
    """The time of the statement, written as stored times are.

    SQLite compares times as text. Django's own `Now` has three decimals there and its datetimes
    have six, so that within one millisecond the earlier of two could count as the later.
    """

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Add the decimals that SQLite's clock does not have."""
        template = "STRFTIME('%%%%Y-%%%%m-%%%%d %%%%H:%%%%M:%%%%f000', 'NOW')"
        return self.as_sql(compiler, connection, template=template, **context)


class Work(models.Model):
    """What a worker is to do once. Times are the database's own.

    `owner` names the claim on a running row, which ends at `expires_at` unless its process beats.
    `requires` is what a worker must have (:meth:`core.work.kinds.WorkKind.serves`); a larger
    `priority` goes first. `sent_at` is when Celery last got a message for it.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    ACTIVE = (Status.QUEUED, Status.RUNNING)

    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    queue = models.CharField(max_length=60, default="cpu")
    priority = models.SmallIntegerField(default=0)
    requires = models.CharField(max_length=200, blank=True, default="")
    attempts = models.PositiveSmallIntegerField(default=0)
    owner = models.CharField(max_length=60, blank=True, default="")
    not_before = models.DateTimeField(db_default=functions.Now())
    expires_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    message = MessageField(blank=True, default="")

    class Meta:
        abstract = True

    @property
    def is_active(self) -> bool:
        """Whether a worker has or will have something to do here."""
        return self.status in self.ACTIVE


@cache
def kind_named(name: str) -> "WorkKind[Any]":
    """Return a kind by its name."""
    kind: WorkKind[Any] = import_string(settings.WORK_KINDS[name])
    return kind


def all_kinds() -> Iterator["WorkKind[Any]"]:
    """Return all kinds of work."""
    return map(kind_named, settings.WORK_KINDS)


def kind_of(model: type[Work]) -> "WorkKind[Any]":
    """Return the kind that the rows of a model belong to."""
    return next(kind for kind in all_kinds() if kind.model is model)
