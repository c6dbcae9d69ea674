"""Uploads that wait for confirmation: the files as they were sent, and the result of their check.

The checked draft is kept, so that exactly what was previewed is stored; the files and answers are
kept, so that a person can change something without sending everything again.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, BinaryIO

from annotation.uploads import waiting
from annotation.uploads.changes import Changes
from annotation.uploads.drafts import TestSetDraft, from_json, to_json
from annotation.uploads.files import InputFile
from annotation.uploads.previews import Checked
from annotation.uploads.problems import Report, Seen, problem_from_json
from annotation.uploads.tables.meanings import Meaning
from annotation.uploads.waiting import ExpiredError

PURPOSE = "annotation.uploads.pending"
DRAFT = "draft"

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
class Pending:
    """An upload as read back. `preview` holds the values of `previews.Preview`.

    `head` is the draft without segments and systems, `counts` the rows with a problem of each kind.
    """

    token: str
    user_id: int
    sent: Sent
    head: TestSetDraft
    report: Report
    changes: Changes
    preview: dict[str, Any]
    meanings: list[Meaning]
    counts: Mapping[str, int]
    sha256: str

    @cached_property
    def draft(self) -> TestSetDraft:
        """The draft that was previewed. Raises ExpiredError."""
        path = waiting.attachment(self.token, DRAFT, user_id=self.user_id, purpose=PURPOSE)
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise ExpiredError
        return from_json(json.loads(content))


def keep(checked: Checked | None, sent: Sent, user_id: int) -> str:
    """Keep an upload and return its token, for this user alone.

    A refused upload is kept with its errors and files, without the texts that were read.
    """
    draft = b""
    if checked and not checked.report.errors:
        draft = json.dumps(to_json(checked.draft)).encode()
    values = {
        "words": dict(sent.words),
        "files": [[role, file.name, file.size] for role, file in sent.files],
        "columns": sent.columns,
        "decode": sent.decode,
        "skip": sorted(sent.skip),
        "checked": _values(checked) if checked else None,
        "sha256": hashlib.sha256(draft).hexdigest(),
    }
    with ExitStack() as stack:
        attached: dict[str, BinaryIO] = {DRAFT: io.BytesIO(draft)}
        for number, (_, file) in enumerate(sent.files):
            attached[f"file{number}"] = stack.enter_context(file.open())
        return waiting.keep(values, user_id=user_id, purpose=PURPOSE, attached=attached)


def recall_sent(token: str, user_id: int) -> Sent:
    """Read back what was sent, whether or not it could be checked. Raises ExpiredError."""
    return _sent(token, waiting.recall(token, user_id=user_id, purpose=PURPOSE), user_id)


def recall(token: str, user_id: int) -> Pending:
    """Read a checked upload back. Raises ExpiredError."""
    values = waiting.recall(token, user_id=user_id, purpose=PURPOSE)
    checked = values["checked"]
    if checked is None:
        raise ExpiredError
    changes = checked["changes"]
    for key in ("systems_added", "systems_unchanged"):
        changes[key] = tuple(changes[key])
    problems = [problem_from_json(values) for values in checked["problems"]]
    return Pending(
        token=token,
        user_id=user_id,
        sent=_sent(token, values, user_id),
        head=TestSetDraft(**checked["head"]),
        report=Report(problems, files={each["file"]: Seen(**each) for each in checked["files"]}),
        changes=Changes(**changes),
        preview=checked["preview"],
        meanings=[Meaning(**meaning) for meaning in checked["meanings"]],
        counts=checked["counts"],
        sha256=values["sha256"],
    )


def _sent(token: str, values: Mapping[str, Any], user_id: int) -> Sent:
    files = [
        (role, _file(token, number, name, size, user_id))
        for number, (role, name, size) in enumerate(values["files"])
    ]
    skip = frozenset(values["skip"])
    return Sent(values["words"], files, values["columns"], values["decode"], skip)


def forget(token: str, user_id: int) -> None:
    """Delete an upload, after it was stored or abandoned."""
    waiting.forget(token, user_id=user_id, purpose=PURPOSE)


def _file(token: str, number: int, name: str, size: int, user_id: int) -> InputFile:
    path = waiting.attachment(token, f"file{number}", user_id=user_id, purpose=PURPOSE)
    return InputFile(name, size, lambda: path.open("rb"))


def _values(checked: Checked) -> dict[str, Any]:
    return {
        "head": checked.draft.head(),
        "changes": asdict(checked.changes),
        "preview": checked.preview.as_json(),
        "problems": [problem.as_json() for problem in checked.report.problems],
        "meanings": [meaning.as_json() for meaning in checked.meanings],
        "files": [asdict(each) for each in checked.report.files.values()],
        "counts": dict(checked.report.skips.counts) if checked.report.skips else {},
    }
