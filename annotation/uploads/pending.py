"""Checked uploads that wait for a confirmation, as files in VAR_DIR/uploads.

A file keeps the draft itself, so that exactly what was previewed is stored. Its name is random;
the browser gets a signed token with that name, the user and the SHA-256 of the file, valid for
`MAX_AGE`. Several web processes need no more than the shared folder.
"""

import hashlib
import json
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import signing

from annotation.uploads.changes import Changes
from annotation.uploads.drafts import TestSetDraft, from_json, to_json
from annotation.uploads.previews import Checked
from annotation.uploads.problems import Place, Problem, Report

MAX_AGE = 2 * 60 * 60  # seconds
SALT = "annotation.uploads.pending"


class ExpiredError(Exception):
    """The token is not valid: altered, somebody else's, too old, or used already."""


@dataclass(frozen=True)
class Pending:
    """A checked upload as read back. `preview` holds the values of `previews.Preview`."""

    token: str
    draft: TestSetDraft
    report: Report
    changes: Changes
    preview: dict[str, Any]


def keep(checked: Checked, user_id: int) -> str:
    """Write a checked upload and return its token, for this user alone."""
    remove_old()
    content = json.dumps(_values(checked), ensure_ascii=True).encode()
    name = secrets.token_hex(16)
    path = _folder() / f"{name}.json"
    path.touch(mode=0o600)
    path.write_bytes(content)
    token = {"name": name, "user": user_id, "sha256": hashlib.sha256(content).hexdigest()}
    return signing.dumps(token, salt=SALT)


def recall(token: str, user_id: int) -> Pending:
    """Read a checked upload back. Raises ExpiredError."""
    path, sha256 = _open(token, user_id)
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ExpiredError from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ExpiredError
    values = json.loads(content)
    changes = values["changes"]
    for key in ("systems_added", "systems_unchanged"):
        changes[key] = tuple(changes[key])
    problems = [Problem(s, m, Place(*place)) for s, m, place in values["problems"]]
    return Pending(
        token, from_json(values["draft"]), Report(problems), Changes(**changes), values["preview"]
    )


def forget(token: str, user_id: int) -> None:
    """Delete a checked upload, after it was stored or given up."""
    _open(token, user_id)[0].unlink(missing_ok=True)


def remove_old() -> None:
    """Delete what nobody confirmed in time."""
    limit = time.time() - MAX_AGE
    for path in _folder().glob("*.json"):
        try:
            if path.stat().st_mtime < limit:
                path.unlink()
        except FileNotFoundError:  # another process was faster
            continue


def _values(checked: Checked) -> dict[str, Any]:
    """A refused upload is kept for its list of errors only, without the texts."""
    refused = bool(checked.report.errors)
    draft = (
        TestSetDraft(**{**vars(checked.draft), "segments": [], "systems": []})
        if refused
        else checked.draft
    )
    return {
        "draft": to_json(draft),
        "changes": asdict(checked.changes),
        "preview": checked.preview.as_json(),
        "problems": [[p.severity, p.message, list(p.place)] for p in checked.report.problems],
    }


def _open(token: str, user_id: int) -> tuple[Path, str]:
    try:
        values = signing.loads(token, salt=SALT, max_age=MAX_AGE)
    except signing.BadSignature as error:
        raise ExpiredError from error
    if values["user"] != user_id:
        raise ExpiredError
    return _folder() / f"{values['name']}.json", values["sha256"]


def _folder() -> Path:
    folder: Path = settings.VAR_DIR / "uploads"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
