"""What the documents of pages have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Campaign


@dataclass(frozen=True, kw_only=True)
class Document:
    """What a page, its files and programs may use.

    Fields are public: they are the names in the JSON. `trust` is the verdict on the numbers, which
    a page adds; None while it is not known.
    """

    warnings: Sequence[str] = ()
    trust: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class CampaignDocument(Document):
    """A document of one campaign; `human_scores` says in words what its human scores are."""

    campaign: str
    name: str
    direction: str
    length_ratio: str
    origin: str
    human_scores: str


def head(campaign: Campaign, human_scores: str) -> dict[str, str]:
    """Return what a document says of its campaign."""
    return {
        "campaign": campaign.slug,
        "name": campaign.name,
        "direction": campaign.test_set.direction,
        "length_ratio": str(campaign.length_ratio),
        "origin": campaign.origin,
        "human_scores": human_scores,
    }
