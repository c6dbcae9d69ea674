"""Import large files in background jobs (`core.work`), so that no page waits for them.

What people confirm is checked first, and the page shows what was found. Files are stored in one
transaction with the end of the job: after a crash, another worker begins again with the same files.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from annotation.models import FileImport
from annotation.uploads import InputFile, Report, waiting
from annotation.uploads.files import hashes
from annotation.uploads.problems import Problem, problem_from_json
from annotation.uploads.waiting import Sent
from core.messages import messages_of
from core.work import claims, kinds, processes
from core.work.kinds import Lease, WorkKind
from core.work.sending import send_on_commit
from metaeval.messages import Message, message

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

State = FileImport.State
L = TypeVar("L", bound="DataclassInstance")
QUEUE = "slow"
SHOWN = "shown"
MOST_PROBLEMS = 1_000
CHUNK = 1024 * 1024
LONGEST = 200  # characters of a name
# What separates cells.
SIGNS = (b"\t", b",", b";")
EXPIRES = timedelta(seconds=waiting.HELD_SECONDS)
FAILED = message("imports.failed", "The import failed. The log of the worker has the reason.")
EXPIRED = message("imports.expired", "The files are no longer here. Send them again.")
OUTDATED = message(
    "imports.outdated", "What is stored changed after the preview. Send the files again."
)


class RefusedError(Exception):
    """Files cannot be stored, for the errors of the report."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


class StoppedError(Exception):
    """The import was cancelled, or its worker has to stop."""


@dataclass(frozen=True)
class Found:
    """What was read from files.

    `shown` is what a page shows of it, without the rows; `drafts` is what storing takes. `answer`
    is for programs.
    """

    report: Report
    shown: Any = None
    drafts: Any = None
    answer: Mapping[str, Any] = field(default_factory=dict)


class Door(ABC):
    """How files of one kind are checked and stored.

    `look` is the type of what pages show of files that were checked; without `has_preview`, no page
    asks for a confirmation.
    """

    has_preview = True
    look: type = type(None)

    @abstractmethod
    def check(self, row: FileImport, sent: Sent) -> Found:
        """Read and check files, before they are shown and again before they are stored."""

    @abstractmethod
    def store(self, row: FileImport, found: Found) -> dict[str, Any]:
        """Store what was found, in a transaction, and say what: plain values. Raises
        ValidationError or RefusedError.

        `sentences` are messages as JSON, `test_sets` has the slugs, `results` what became of each
        campaign, and `links` its new personal links, encrypted (`annotation.web.fresh_links`).
        """

    @abstractmethod
    def page(self, row: FileImport) -> str:
        """Return the address of the page that takes these files; with `?check=` the preview's."""


def door_named(name: str) -> Door:
    """Return a door by its name."""
    door: Door = import_string(settings.IMPORT_DOORS[name])
    return door


class FileImports(WorkKind[FileImport]):
    """Check files, and store them if that was asked for, all or nothing."""

    name = "file-import"
    model = FileImport
    soft_seconds, hard_seconds = 3600.0, 3660.0
    is_long = ends_at_once = True

    def do(self, row: FileImport, lease: Lease) -> None:
        """Read files; problems are reported."""
        try:
            with kinds.heard(partial(_hear, lease)):
                _work(row)
        except waiting.ExpiredError:
            _end(row, State.REFUSED, Report([Problem("error", EXPIRED)]))
        except RefusedError as error:
            _end(row, State.REFUSED, error.report)
        except ValidationError as error:
            problems = [Problem("error", text) for text in messages_of(error)]
            _end(row, State.REFUSED, Report(problems))
        except StoppedError:
            claims.give_back(row)
        if row.state not in FileImport.OPEN:
            waiting.release(row.held)

    def ended(self, row: FileImport) -> None:
        """Report the failure."""
        text = row.message if isinstance(row.message, Message) else FAILED
        report = [Problem("error", text).to_json()]
        FileImport.objects.filter(pk=row.pk).update(state=State.REFUSED, report=report)
        waiting.release(row.held)


file_imports = FileImports()


def _hear(lease: Lease, stage: str, done: int, total: int) -> None:
    if lease.should_stop or processes.is_stopping():
        raise StoppedError
    lease.progress(stage=stage, done=done, total=total)


def _work(row: FileImport) -> None:
    door = door_named(row.door)
    token = waiting.token_of(row.held, user_id=row.created_by_id)
    found = door.check(row, waiting.recall(token, row.created_by_id))
    stores = row.state == State.STORING or row.choices.get("store", False)
    if not stores:
        _show(row, found)
        return
    if found.report.errors:
        _end(row, State.REFUSED, found.report)
    else:
        with transaction.atomic():
            stored = {**found.answer, **door.store(row, found)}
            if not _end(row, State.STORED, found.report, stored=stored):
                transaction.set_rollback(True)


def _show(row: FileImport, found: Found) -> None:
    """Store what a page will show."""
    held = dict(row.held)
    if found.shown is not None:
        content = waiting.encoded(found.shown)
        waiting.add(held, SHOWN, content)
        held[SHOWN] = hashlib.sha256(content).hexdigest()
    _end(row, State.CHECKED, found.report, held=held, stored=dict(found.answer))


def _end(row: FileImport, state: State, report: Report, **fields: Any) -> bool:
    """End this part of the work; return whether the row was still ours."""
    problems = listed(report)
    return claims.finish(row, state=state, report=problems, stage="", done=0, total=0, **fields)


def listed(report: Report) -> list[dict[str, Any]]:
    """Return the problems that are stored of a report, the errors first."""
    found = sorted(report.problems, key=lambda problem: problem.severity != "error")
    return [problem.to_json() for problem in found[:MOST_PROBLEMS]]


def is_large(files: Iterable[InputFile]) -> bool:
    """Return whether files are too large to be read while a browser waits.

    Wide tables may become rows of a cell each, so ten cells count as a row.
    """
    files, limit = list(files), settings.IMPORT_IN_REQUEST_ROWS
    if sum(file.size for file in files) > settings.IMPORT_IN_REQUEST_BYTES:
        return True
    return _times(b"\n", files) > limit or any(_times(s, files) > 10 * limit for s in SIGNS)


def _times(sign: bytes, files: Iterable[InputFile]) -> int:
    found = 0
    for file in files:
        with file.open() as stream:
            found += sum(chunk.count(sign) for chunk in iter(partial(stream.read, CHUNK), b""))
    return found


def begin(
    user: Any, token: str, choices: Mapping[str, Any] | None = None, *, name: str = ""
) -> FileImport:
    """Let a worker check files that wait, and store them if the choices have `store`.

    The import has the names of its files, or `name` where there are none. Where the same person
    imports the same files in the same way, that import is returned. Raises ExpiredError.
    """
    _expire()
    sent, chosen = waiting.recall(token, user.pk), dict(choices or {})
    key = {"created_by": user, "door": sent.door, "digest": _digest(sent, chosen)}
    held = waiting.hold(token, user.pk)
    named = ", ".join(file.name for file in sent.files.values()) or name
    if len(named) > LONGEST:  # ends with a whole name
        named = f"{named[: LONGEST - 1].rpartition(', ')[0] or named[: LONGEST - 1]}…"
    try:
        with transaction.atomic():
            row = FileImport.objects.create(
                **key, name=named, held=held, choices=chosen, queue=QUEUE
            )
            send_on_commit([row])
    except IntegrityError:
        waiting.release(held)
        return FileImport.objects.get(**key, state__in=FileImport.OPEN)
    row.refresh_from_db()
    return row


def _expire() -> None:
    """Delete imports that nobody confirmed, and links that nobody fetched in time."""
    old = FileImport.objects.filter(created_at__lt=timezone.now() - EXPIRES)
    old.filter(state=State.CHECKED).delete()
    for row in old.filter(stored__has_key="links"):
        del row.stored["links"]
        row.save(update_fields=["stored"])


def _digest(sent: Sent, choices: Mapping[str, Any]) -> str:
    parts = [dict(sent.words), list(sent.files), hashes(sent.files.values()), choices]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def of_files(
    user: Any, token: str, sent: Sent, choices: Mapping[str, Any] | None = None
) -> FileImport | None:
    """Return the import of files that wait, which begins if it is new; None if they are small.

    Raises ExpiredError.
    """
    if (row := find(user, token)) is not None:
        return row
    return begin(user, token, choices) if is_large(sent.files.values()) else None


def find(user: Any, token: str) -> FileImport | None:
    """Return the import of files that wait, if it has not ended. Raises ExpiredError."""
    name = waiting.name_of(token, user.pk)
    rows = FileImport.objects.filter(created_by=user, held__name=name)
    return rows.filter(state__in=FileImport.OPEN).first()


def shown(row: FileImport) -> Any:
    """Return what the check of files kept for their page.

    Raises ExpiredError if it is not there, or of an earlier version. The import is then cancelled,
    so that the same files can be sent again.
    """
    try:
        content = waiting.added(row.held, SHOWN)
        if hashlib.sha256(content).hexdigest() != row.held.get(SHOWN):
            raise waiting.ExpiredError
        return waiting.decoded(content, door_named(row.door).look)
    except (FileNotFoundError, waiting.ExpiredError) as error:
        cancel(row)
        raise waiting.ExpiredError from error


def look_of(checked: L, look: type[L]) -> L:
    """Return the part of what was read that a page shows: the fields of a base class."""
    return look(**{each.name: getattr(checked, each.name) for each in fields(look)})


def confirm(row: FileImport, choices: Mapping[str, Any] | None = None) -> FileImport:
    """Let a worker store what was checked."""
    return _ask(row, State.STORING, choices)


def check_again(row: FileImport, choices: Mapping[str, Any]) -> FileImport:
    """Let a worker check files with other choices."""
    return _ask(row, State.CHECKING, choices)


def _ask(row: FileImport, state: State, choices: Mapping[str, Any] | None) -> FileImport:
    fields = {} if choices is None else {"choices": dict(choices)}
    with transaction.atomic():
        rows = FileImport.objects.filter(pk=row.pk, state=State.CHECKED)
        if rows.update(state=state, **fields):
            claims.ask([row])
    row.refresh_from_db()
    return row


def cancel(row: FileImport) -> bool:
    """Cancel an import that has not ended; nothing of it remains."""
    rows = FileImport.objects.filter(pk=row.pk, state__in=FileImport.OPEN)
    cancelled = rows.update(
        state=State.CANCELLED, status=FileImport.Status.CANCELLED, expires_at=None
    )
    if cancelled:
        waiting.release(row.held)
    return bool(cancelled)


def preview_of(row: FileImport) -> str:
    """Return the address of the preview of files that were checked."""
    door = door_named(row.door)
    token = waiting.token_of(row.held, user_id=row.created_by_id)
    page = door.page(row)
    return f"{page}{'&' if '?' in page else '?'}check={token}"


def report_of(row: Any) -> Report:
    """Return the stored problems."""
    return Report([problem_from_json(values) for values in row.report])
