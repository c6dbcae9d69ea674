"""Claim rows: each change is one conditional UPDATE, and its row count tells who succeeded.

A row is changed under the claim with which it was taken, so whoever was thought dead, or whose row
was cancelled, changes nothing.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from core.work import processes, sending
from core.work.models import Now, Work, kind_of
from metaeval.messages import Message

Row = TypeVar("Row", bound=Work)
Status = Work.Status


def after(seconds: float) -> Any:
    """Return the database's time plus a number of seconds."""
    return Now() + timedelta(seconds=seconds) if seconds else Now()


def table(row: Row) -> QuerySet[Row]:
    """Return all rows of the model of a row."""
    return type(row)._default_manager.all()


def held(row: Row) -> QuerySet[Row]:
    """Return the row if its claim is still held by the process that took it."""
    return table(row).filter(pk=row.pk, owner=row.owner, status=Status.RUNNING)


def ask(rows: Iterable[Row], *, seconds: float = 0) -> int:
    """Let rows wait for a worker, also those that have ended; return their number.

    One that is running is left alone. Workers hear of it when the transaction commits.
    """
    asked = [row for row in rows if _ask(row, seconds)]
    if not seconds:
        sending.send_on_commit(asked)
    return len(asked)


def _ask(row: Work, seconds: float) -> bool:
    found = table(row).filter(pk=row.pk).exclude(status=Status.RUNNING)
    fresh = {"attempts": 0, "owner": "", "message": "", "expires_at": None, "sent_at": None}
    return bool(found.update(status=Status.QUEUED, not_before=after(seconds), **fresh))


def cancel(rows: QuerySet[Row]) -> int:
    """Cancel waiting and running rows; return their number."""
    return rows.filter(status__in=Work.ACTIVE).update(status=Status.CANCELLED, expires_at=None)


def claim(row: Row) -> bool:
    """Take a waiting row; False if another process was faster."""
    owner = processes.new_owner()
    found = table(row).filter(pk=row.pk, status=Status.QUEUED, not_before__lte=Now())
    expires = after(settings.RUN_STALE_SECONDS)
    if not found.update(status=Status.RUNNING, owner=owner, expires_at=expires):
        return False
    row.status, row.owner = Status.RUNNING, owner
    return True


def hold(row: Work, **fields: Any) -> bool:
    """Report progress and write fields of the row; False if the claim was lost."""
    return bool(held(row).update(expires_at=after(settings.RUN_STALE_SECONDS), **fields))


def finish(row: Work, **fields: Any) -> bool:
    """End the work in the transaction that stores its results; False if the claim was lost."""
    return _end(row, Status.DONE, **fields)


def fail(row: Work, message: Message | str, **fields: Any) -> bool:
    """End the work without a result; `message` gives the reason."""
    with transaction.atomic():
        is_ours = _end(row, Status.FAILED, message=message, **fields)
        if is_ours:
            kind_of(type(row)).ended(row)
    return is_ours


def _end(row: Work, status: Status, **fields: Any) -> bool:
    if not held(row).update(status=status, owner="", expires_at=None, **fields):
        return False
    vars(row).update(
        status=status, **{k: v for k, v in fields.items() if isinstance(v, str | int | Message)}
    )
    return True


def give_back(row: Work, *, seconds: float = 0, message: Message | str = "", **fields: Any) -> bool:
    """Release a row whose worker must stop or cannot process it. No attempt is counted."""
    back = {"status": Status.QUEUED, "owner": "", "expires_at": None, "sent_at": None}
    given = held(row).update(**back, not_before=after(seconds), message=message, **fields)
    if given and not seconds:
        sending.send_on_commit([row])
    return bool(given)


def retry(row: Work, message: Message | str, *, seconds: float = 0) -> bool:
    """Count an attempt and let any worker try again; after the last attempt the row fails."""
    if row.attempts + 1 >= kind_of(type(row)).max_attempts:
        return fail(row, message, attempts=F("attempts") + 1)
    return give_back(row, seconds=seconds, message=message, attempts=F("attempts") + 1)
