"""Stage 1: parse, check and store a submission.

A `Submission` holds files, `check_submission` turns them into a checked draft without storing
anything (the dry run), and `store` writes a draft: all of it or nothing.
"""

from annotation.uploads.changes import Changes
from annotation.uploads.drafts import SegmentDraft, SystemDraft, TestSetDraft
from annotation.uploads.files import InputFile, Submission, SystemFile, label_of_file
from annotation.uploads.previews import (
    Checked,
    check_draft,
    check_pairs,
    check_submission,
    store_all,
)
from annotation.uploads.problems import Place, Problem, Report
from annotation.uploads.store import ImportResult, OutdatedError, examine, note_skipped, store

__all__ = [
    "Changes",
    "Checked",
    "ImportResult",
    "InputFile",
    "OutdatedError",
    "Place",
    "Problem",
    "Report",
    "SegmentDraft",
    "Submission",
    "SystemDraft",
    "SystemFile",
    "TestSetDraft",
    "check_draft",
    "check_pairs",
    "check_submission",
    "examine",
    "label_of_file",
    "note_skipped",
    "store",
    "store_all",
]
