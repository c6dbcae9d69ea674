"""What the documents of pages have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from annotation.models import Campaign
from core.text import pluralize
from dashboards.documents.reasons import CampaignTrust, StudyTrust
from metaeval import Interval
from metaeval.arrays import IntArray
from metaeval.documents import DOCUMENTS, SEGMENTS, effective_clusters, sizes_of, unit_of
from metaeval.messages import Message, untranslated

if TYPE_CHECKING:
    from dashboards.panel.human import HumanScores

# An interval, and a number with its own; None where they are undefined.
Ends = tuple[float | None, float | None]
Estimate = tuple[float | None, Ends | None]


@dataclass(frozen=True, kw_only=True)
class Document:
    """What a page, its files and programs may use: fields are the names in the JSON."""

    warnings: Sequence[Message] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "warnings", [untranslated(each) for each in self.warnings])


@dataclass(frozen=True, kw_only=True)
class OfCampaign(Document):
    """A document of one campaign.

    `trust` is the verdict on the numbers, which a page adds; None while it is not known. `failed`
    maps the parts that could not be computed, and that no earlier version has, to the error.
    """

    campaign: str
    name: str
    direction: str
    length_ratio: str
    origin: str
    trust: CampaignTrust | None = None
    failed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class WithUnits:
    """What intervals and tests are over: `n_units` of `unit`, which is documents or segments.

    `effective_units` are as many documents of equal size: (Σn)²/Σn². `unit` is empty where there
    are neither intervals nor tests.
    """

    unit: str = ""
    n_units: int = 0
    effective_units: float = 0.0

    @property
    def units(self) -> str:
        """The number of units with their name, and the effective number of unequal ones."""
        if not self.unit or not self.n_units:
            return ""
        n, effective = self.n_units, f"{self.effective_units:,.1f}"
        if effective != f"{n:,.1f}":
            return f"{n:,} documents, effective number {effective}"
        return {
            DOCUMENTS: pluralize(n, "document"),
            SEGMENTS: pluralize(n, "segment"),
            "systems": pluralize(n, "system"),
            "hybrids": pluralize(n, "hybrid"),
        }[self.unit]

    @property
    def over(self) -> str:
        """The sentence that names the unit; empty without one."""
        return f"95% intervals and tests are over {self.units}." if self.units else ""


@dataclass(frozen=True, kw_only=True)
class UnitsOf(WithUnits):
    """The units of one campaign among several."""

    campaign: str
    name: str


def units_among(documents: Sequence[Any]) -> list[UnitsOf]:
    """Return the units of the documents of several campaigns, of those that have any."""
    names = [each.name for each in fields(UnitsOf)]
    return [
        UnitsOf(**{name: getattr(document, name) for name in names})
        for document in documents
        if isinstance(document, WithUnits)
    ]


def units_of(clusters: IntArray) -> dict[str, Any]:
    """Return the fields of `WithUnits` of the documents of the judged segments, (segments,)."""
    sizes = sizes_of(clusters)
    return {
        "unit": unit_of(clusters),
        "n_units": len(sizes),
        "effective_units": effective_clusters(sizes),
    }


@dataclass(frozen=True, kw_only=True)
class CampaignDocument(WithUnits, OfCampaign):
    """One that rests on human scores; `human_scores` says in words what they are.

    `human_systems` are the human translations that metrics are not compared on, `outlier_systems`
    the systems whose scores are far from the others'.
    """

    human_scores: str
    human_systems: Sequence[str] = ()
    outlier_systems: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class OfSeveral(Document):
    """The documents of several campaigns, combined; `units` are those of each one's intervals."""

    trust: StudyTrust | None = None
    units: Sequence[UnitsOf] = ()

    @property
    def over(self) -> str:
        """The sentence that names the units; empty without any."""
        units = "; ".join(f"{each.name}: {each.units}" for each in self.units if each.units)
        return f"95% intervals and tests are over these units: {units}." if units else ""


@dataclass(frozen=True, kw_only=True)
class StudyDocument(OfSeveral):
    """The documents of a study's campaigns, combined."""

    study: str


def ends(interval: Interval | None) -> Ends | None:
    """Return an interval as documents have it."""
    return interval and (interval.low, interval.high)


def head(campaign: Campaign, human: "HumanScores") -> dict[str, Any]:
    """Return what a document says of its campaign, of the human scores and of their units."""
    return (
        about(campaign)
        | units_of(human.clusters)
        | {
            "human_scores": human.source,
            "human_systems": list(human.humans),
            "outlier_systems": list(human.outliers),
        }
    )


def about(campaign: Campaign) -> dict[str, Any]:
    """Return what a document says of its campaign."""
    return {
        "campaign": campaign.slug,
        "name": campaign.name,
        "direction": campaign.test_set.direction,
        "length_ratio": str(campaign.length_ratio),
        "origin": campaign.origin,
    }
