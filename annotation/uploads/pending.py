"""Uploads that wait for confirmation: the files as they were sent, and the result of their check.

The checked draft is kept, so that exactly what was previewed is stored; the files and answers are
kept, so that a person can change something without sending everything again.
"""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from annotation.uploads import waiting
from annotation.uploads.changes import Changes
from annotation.uploads.drafts import TestSetDraft, from_json, to_json
from annotation.uploads.files import InputFile
from annotation.uploads.previews import Checked, Preview
from annotation.uploads.problems import Report
from annotation.uploads.tables.meanings import Meaning
from annotation.uploads.tables.pairs import Pair
from annotation.uploads.waiting import ExpiredError

PURPOSE = "annotation.uploads.pending"
DRAFT, CHECKED = "draft", "checked"

__all__ = ["ExpiredError", "Pending", "Sent", "forget", "keep", "recall", "recall_sent"]


@dataclass(frozen=True)
class Sent:
    """What a person sent: the words of the form as typed, and the files with their roles.

    `columns`, `decode` and `skip` are the choices made on the preview (see `Submission`).
    """

    words: Mapping[str, str]
    files: list[tuple[str, InputFile]]
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    decode: bool = False
    skip: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Part:
    """One of the test sets of an upload: what describes it, and what storing it changes."""

    head: dict[str, str]
    changes: Changes
    preview: Preview


@dataclass(frozen=True)
class Look:
    """What a page shows of an upload; `pairs` are the language pairs of the tables."""

    parts: list[Part]
    report: Report
    meanings: list[Meaning]
    pairs: list[Pair]
    sha256: str


@dataclass(frozen=True)
class Pending:
    """An upload as read back."""

    token: str
    user_id: int
    sent: Sent
    look: Look

    @property
    def report(self) -> Report:
        """Every problem."""
        return self.look.report

    @cached_property
    def drafts(self) -> list[TestSetDraft]:
        """The drafts that were previewed, one for each part. Raises ExpiredError."""
        content = _attached(self.token, DRAFT, self.user_id)
        if hashlib.sha256(content).hexdigest() != self.look.sha256:
            raise ExpiredError
        return [from_json(each) for each in json.loads(content)]


def keep(found: Sequence[Checked], sent: Sent, user_id: int) -> str:
    """Keep an upload and return its token, for this user alone.

    `found` is empty where the files could not be checked. A refused upload is kept with its errors
    and files, without the texts that were read.
    """
    draft = look = b""
    if found and not found[0].report.errors:
        draft = json.dumps([to_json(each.draft) for each in found]).encode()
    if found:
        parts = [Part(each.draft.head(), each.changes, each.preview) for each in found]
        first, sha256 = found[0], hashlib.sha256(draft).hexdigest()
        look = waiting.encoded(Look(parts, first.report, first.meanings, first.pairs, sha256))
    values = {
        "words": dict(sent.words),
        "roles": [role for role, _ in sent.files],
        "columns": sent.columns,
        "decode": sent.decode,
        "skip": sorted(sent.skip),
        "sha256": hashlib.sha256(look).hexdigest(),
    }
    files = {f"file{number}": file for number, (_, file) in enumerate(sent.files)}
    attached = {DRAFT: io.BytesIO(draft), CHECKED: io.BytesIO(look)}
    return waiting.keep_files(values, files, user_id=user_id, purpose=PURPOSE, attached=attached)


def recall_sent(token: str, user_id: int) -> Sent:
    """Read back what was sent, whether or not it could be checked. Raises ExpiredError."""
    values, files = waiting.recall_files(token, user_id=user_id, purpose=PURPOSE)
    if "roles" not in values:  # kept by an earlier version
        raise ExpiredError
    named = list(zip(values["roles"], files.values(), strict=True))
    skip = frozenset(values["skip"])
    return Sent(values["words"], named, values["columns"], values["decode"], skip)


def recall(token: str, user_id: int) -> Pending:
    """Read a checked upload back. Raises ExpiredError."""
    sent, values = (
        recall_sent(token, user_id),
        waiting.recall(token, user_id=user_id, purpose=PURPOSE),
    )
    content = _attached(token, CHECKED, user_id)
    if not content or hashlib.sha256(content).hexdigest() != values["sha256"]:
        raise ExpiredError
    return Pending(token, user_id, sent, waiting.decoded(content, Look))


def forget(token: str, user_id: int) -> None:
    """Delete an upload, after it was stored or abandoned."""
    waiting.forget(token, user_id=user_id, purpose=PURPOSE)


def _attached(token: str, name: str, user_id: int) -> bytes:
    return waiting.attachment(token, name, user_id=user_id, purpose=PURPOSE).read_bytes()
