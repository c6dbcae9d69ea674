"""Tables from upload to judgment, in the order in which data flows."""

from annotation.models.assignment import Assignment
from annotation.models.campaign import Campaign, Item
from annotation.models.corpus import Output, Reference, Segment, System, TestSet, TestSetShare
from annotation.models.guesses import GuessCount
from annotation.models.judgment import ErrorSpan, Judgment, PublishedScore
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
    "Annotator",
    "Assignment",
    "AuditEntry",
    "Campaign",
    "ErrorSpan",
    "GuessCount",
    "Instructions",
    "Item",
    "Judgment",
    "Membership",
    "Notification",
    "Output",
    "PublishedScore",
    "Reference",
    "Segment",
    "System",
    "TestSet",
    "TestSetShare",
]
