"""Tables from upload to judgment, in the order in which data flows."""

from annotation.models.accounts import AccountLink
from annotation.models.assignment import Assignment
from annotation.models.campaign import Campaign, Item, OriginalFile
from annotation.models.corpus import Output, Reference, Segment, System, TestSet, TestSetShare
from annotation.models.guesses import GuessCount
from annotation.models.judgment import ErrorSpan, Judgment, PublishedScore
from annotation.models.lifecycle import Archived, ChangeEntry, is_archived, listed
from annotation.models.notification import Notification
from annotation.models.people import (
    AccessLink,
    Annotator,
    AuditEntry,
    Instructions,
    Membership,
)

__all__ = [
    "AccessLink",
    "AccountLink",
    "Annotator",
    "Archived",
    "Assignment",
    "AuditEntry",
    "Campaign",
    "ChangeEntry",
    "ErrorSpan",
    "GuessCount",
    "Instructions",
    "Item",
    "Judgment",
    "Membership",
    "Notification",
    "OriginalFile",
    "Output",
    "PublishedScore",
    "Reference",
    "Segment",
    "System",
    "TestSet",
    "TestSetShare",
    "is_archived",
    "listed",
]
