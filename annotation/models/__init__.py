"""Tables from upload to judgment, in the order in which data flows."""

from annotation.models.accounts import AccountLink
from annotation.models.assignment import Assignment, ContextOpening
from annotation.models.campaign import Campaign, Item, OriginalFile
from annotation.models.corpus import Output, Reference, Segment, System, TestSet, TestSetShare
from annotation.models.guesses import GuessCount
from annotation.models.judgment import ErrorSpan, Judgment, Playback, PublishedScore
from annotation.models.lifecycle import Archived, ChangeEntry, is_archived, listed
from annotation.models.notification import Letter, Notification
from annotation.models.people import (
    AccessLink,
    Annotator,
    AuditEntry,
    Instructions,
    Membership,
)
from annotation.models.prefill import OutputSuggestions, Prefill, SuggestionFate

__all__ = [
    "AccessLink",
    "AccountLink",
    "Annotator",
    "Archived",
    "Assignment",
    "AuditEntry",
    "Campaign",
    "ChangeEntry",
    "ContextOpening",
    "ErrorSpan",
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
    "PublishedScore",
    "Reference",
    "Segment",
    "SuggestionFate",
    "System",
    "TestSet",
    "TestSetShare",
    "is_archived",
    "listed",
]
