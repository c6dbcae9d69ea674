"""Checked uploads that wait for a confirmation.

The draft itself is kept, so that exactly what was previewed is stored.
"""

from dataclasses import asdict, dataclass
from typing import Any

from annotation.uploads import waiting
from annotation.uploads.changes import Changes
from annotation.uploads.drafts import TestSetDraft, from_json, to_json
from annotation.uploads.previews import Checked
from annotation.uploads.problems import Place, Problem, Report
from annotation.uploads.waiting import ExpiredError

PURPOSE = "annotation.uploads.pending"

__all__ = ["ExpiredError", "Pending", "forget", "keep", "recall"]


@dataclass(frozen=True)
class Pending:
    """A checked upload as read back. `preview` holds the values of `previews.Preview`."""

    token: str
    draft: TestSetDraft
    report: Report
    changes: Changes
    preview: dict[str, Any]


def keep(checked: Checked, user_id: int) -> str:
    """Keep a checked upload and return its token, for this user alone."""
    return waiting.keep(_values(checked), user_id=user_id, purpose=PURPOSE)


def recall(token: str, user_id: int) -> Pending:
    """Read a checked upload back. Raises ExpiredError."""
    values = waiting.recall(token, user_id=user_id, purpose=PURPOSE)
    changes = values["changes"]
    for key in ("systems_added", "systems_unchanged"):
        changes[key] = tuple(changes[key])
    problems = [Problem(s, m, Place(*place)) for s, m, place in values["problems"]]
    return Pending(
        token, from_json(values["draft"]), Report(problems), Changes(**changes), values["preview"]
    )


def forget(token: str, user_id: int) -> None:
    """Delete a checked upload, after it was stored or given up."""
    waiting.forget(token, user_id=user_id, purpose=PURPOSE)


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
