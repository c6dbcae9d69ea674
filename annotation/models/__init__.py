"""Tables from upload to judgment, in the order in which data flows."""

from annotation.models.campaign import Annotator, Assignment, Campaign, Item
from annotation.models.corpus import Output, Reference, Segment, System, TestSet
from annotation.models.judgment import Judgment, PublishedScore

__all__ = [
    "Annotator",
    "Assignment",
    "Campaign",
    "Item",
    "Judgment",
    "Output",
    "PublishedScore",
    "Reference",
    "Segment",
    "System",
    "TestSet",
]
