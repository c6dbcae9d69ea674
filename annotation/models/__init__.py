"""Tables from upload to judgment, in the order in which data flows."""

from annotation.models.adjudication import Adjudication, Disagreement
from annotation.models.assignment import Assignment, ContextOpening
from annotation.models.campaign import Campaign, Item, OriginalFile, SampledSegment, SkippedRows
from annotation.models.corpus import Output, Reference, Segment, System, TestSet, TestSetShare
from annotation.models.imports import FileImport, SiteMark
from annotation.models.judgment import ErrorSpan, Judgment, Playback, PublishedPart, PublishedScore
from annotation.models.lifecycle import Archived, ChangeEntry, is_archived, listed
from annotation.models.notification import Letter, Notification
from annotation.models.people import (
    AccessLink,
    AccountLink,
    Annotator,
    AuditEntry,
    DataRule,
    GuessCount,
    Instructions,
    Membership,
    SignIn,
)
from annotation.models.prefill import OutputSuggestions, Prefill, SuggestionFate
from annotation.models.programs import ApiToken, RepeatableAnswer
from annotation.models.projects import Project, ProjectMember, ProjectStart
from annotation.models.qualification import Stop, TestAttempt

__all__ = [
    "AccessLink",
    "AccountLink",
    "Adjudication",
    "Annotator",
    "ApiToken",
    "Archived",
    "Assignment",
    "AuditEntry",
    "Campaign",
    "ChangeEntry",
    "ContextOpening",
    "DataRule",
    "Disagreement",
    "ErrorSpan",
    "FileImport",
    "GuessCount",
    "Instructions",
    "Item",
    "Judgment",
    "Letter",
    "Membership",
    "Notification",
    "OriginalFile",
    "Output",
    "OutputSuggestions",
    "Playback",
    "Prefill",
    "Project",
    "ProjectMember",
    "ProjectStart",
    "PublishedPart",
    "PublishedScore",
    "Reference",
    "RepeatableAnswer",
    "SampledSegment",
    "Segment",
    "SignIn",
    "SiteMark",
    "SkippedRows",
    "Stop",
    "SuggestionFate",
    "System",
    "TestAttempt",
    "TestSet",
    "TestSetShare",
    "is_archived",
    "listed",
]
