"""Uploads that wait for confirmation: the files as they were sent, and the result of their check.

The checked draft is kept, so that exactly what was previewed is stored; the files and answers are
kept, so that a person can change something without sending everything again.
"""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
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
class Part:
    """One of the test sets of an upload: its draft without segments and systems, what storing it
    changes, and the values of its `previews.Preview`."""

    head: TestSetDraft
    changes: Changes
    preview: dict[str, Any]


@dataclass(frozen=True)
class Pending:
    """An upload as read back.

    `counts` are the rows with a problem of each kind, `pairs` the language pairs of the tables.
    """

    token: str
    user_id: int
    sent: Sent
    parts: list[Part]
    report: Report
    meanings: list[Meaning]
    counts: Mapping[str, int]
    pairs: list[tuple[str, str]]
    sha256: str

    @cached_property
    def drafts(self) -> list[TestSetDraft]:
        """The drafts that were previewed, one for each part. Raises ExpiredError."""
        path = waiting.attachment(self.token, DRAFT, user_id=self.user_id, purpose=PURPOSE)
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise ExpiredError
        return [from_json(each) for each in json.loads(content)]


def keep(found: Sequence[Checked], sent: Sent, user_id: int) -> str:
    """Keep an upload and return its token, for this user alone.

    `found` is empty where the files could not be checked. A refused upload is kept with its errors
    and files, without the texts that were read.
    """
    draft = b""
    if found and not found[0].report.errors:
        draft = json.dumps([to_json(each.draft) for each in found]).encode()
    values = {
        "words": dict(sent.words),
        "files": [[role, file.name, file.size] for role, file in sent.files],
        "columns": sent.columns,
        "decode": sent.decode,
        "skip": sorted(sent.skip),
        "checked": _values(found) if found else None,
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
    problems = [problem_from_json(values) for values in checked["problems"]]
    return Pending(
        token=token,
        user_id=user_id,
        sent=_sent(token, values, user_id),
        parts=[_part(each) for each in checked["parts"]],
        report=Report(problems, files={each["file"]: Seen(**each) for each in checked["files"]}),
        meanings=[Meaning(**meaning) for meaning in checked["meanings"]],
        counts=checked["counts"],
        pairs=[(source, target) for source, target in checked["pairs"]],
        sha256=values["sha256"],
    )


def _part(values: dict[str, Any]) -> Part:
    changes = values["changes"]
    for key in ("systems_added", "systems_unchanged"):
        changes[key] = tuple(changes[key])
    return Part(TestSetDraft(**values["head"]), Changes(**changes), values["preview"])


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


def _values(found: Sequence[Checked]) -> dict[str, Any]:
    first, report = found[0], found[0].report
    return {
        "parts": [
            {
                "head": each.draft.head(),
                "changes": asdict(each.changes),
                "preview": each.preview.as_json(),
            }
            for each in found
        ],
        "problems": [problem.as_json() for problem in report.problems],
        "meanings": [meaning.as_json() for meaning in first.meanings],
        "files": [asdict(each) for each in report.files.values()],
        "counts": dict(report.skips.counts) if report.skips else {},
        "pairs": first.pairs,
    }
