"""What the documents of pages have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.models import Campaign
from dashboards.trust.reasons import CampaignTrust, StudyTrust
from metaeval import Interval

if TYPE_CHECKING:
    from dashboards.panel.human import HumanScores

# An interval, and a number with its own; None where they are undefined.
Ends = tuple[float | None, float | None]
Estimate = tuple[float | None, Ends | None]


@dataclass(frozen=True, kw_only=True)
class Document:
    """What a page, its files and programs may use: fields are the names in the JSON."""

    warnings: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class OfCampaign(Document):
    """A document of one campaign.

    `trust` is the verdict on the numbers, which a page adds; None while it is not known.
    """

    campaign: str
    name: str
    direction: str
    length_ratio: str
    origin: str
    trust: CampaignTrust | None = None


@dataclass(frozen=True, kw_only=True)
class CampaignDocument(OfCampaign):
    """One that rests on human scores; `human_scores` says in words what they are.

    `human_systems` are the human translations that metrics are not compared on, `outlier_systems`
    the systems whose scores are far from the others'.
    """

    human_scores: str
    human_systems: Sequence[str] = ()
    outlier_systems: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class StudyDocument(Document):
    """The documents of a study's campaigns, combined."""

    study: str
    trust: StudyTrust | None = None


def ends(interval: Interval | None) -> Ends | None:
    """Return an interval as documents have it."""
    return interval and (interval.low, interval.high)


def head(campaign: Campaign, human: "HumanScores") -> dict[str, Any]:
    """Return what a document says of its campaign and of the human scores."""
    return about(campaign) | {
        "human_scores": human.source,
        "human_systems": list(human.humans),
        "outlier_systems": list(human.outliers),
    }


def about(campaign: Campaign) -> dict[str, Any]:
    """Return what a document says of its campaign."""
    return {
        "campaign": campaign.slug,
        "name": campaign.name,
        "direction": campaign.test_set.direction,
        "length_ratio": str(campaign.length_ratio),
        "origin": campaign.origin,
    }
