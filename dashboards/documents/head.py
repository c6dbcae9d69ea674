"""Fields that the documents of pages share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from annotation.models import Campaign
from dashboards.documents.reasons import CampaignTrust, StudyTrust
from metaeval import Interval
from metaeval.arrays import IntArray
from metaeval.documents import effective_clusters, sizes_of, unit_of
from metaeval.messages import Message, message, plural

if TYPE_CHECKING:
    from dashboards.panel.human import HumanScores

# An interval, and a number with its own; None where they are undefined.
Ends = tuple[float | None, float | None]
Estimate = tuple[float | None, Ends | None]


@dataclass(frozen=True, kw_only=True)
class Document:
    """Base of all documents: what pages, files and programs read; fields are names in the JSON."""

    warnings: Sequence[Message] = ()


@dataclass(frozen=True, kw_only=True)
class OfCampaign(Document):
    """A document of one campaign.

    `direction` is the language pair, `origin` a key such as `imported`. `trust` is the verdict on
    the numbers, which a page adds; None while it is not known. `failed` maps the names of parts
    that could not be computed, and of which there is no earlier version, to the error.
    """

    campaign: str
    name: str
    direction: str
    length_ratio: str
    origin: str
    trust: CampaignTrust | None = None
    failed: Mapping[str, Message] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class WithUnits:
    """The unit of intervals and tests: `n_units` of `unit`, which is documents or segments.

    `effective_units` is the equivalent number of documents of equal size, (Σn)²/Σn². `unit` is
    empty where there are neither intervals nor tests.
    """

    unit: str = ""
    n_units: int = 0
    effective_units: float = 0.0

    @property
    def units(self) -> Message | None:
        """The number of units with their name, and the effective number of unequal ones."""
        if not self.unit or not self.n_units:
            return None
        n, effective = self.n_units, round(self.effective_units, 1)
        if effective != n:
            return message(
                "units.unequal",
                "{n} documents, effective number {effective:.1f}",
                n=n,
                effective=effective,
            )
        return counted(self.unit, n)

    @property
    def over(self) -> Message | None:
        """The sentence that names the unit; None without one."""
        if self.units is None:
            return None
        return message("units.over", "95% intervals and tests are over {units}.", units=self.units)


def counted(unit: str, n: int) -> Message:
    """Return a number of units with their name."""
    match unit:
        case "documents":
            return plural("units.documents", "{n} document", "{n} documents", n=n)
        case "systems":
            return plural("units.systems", "{n} system", "{n} systems", n=n)
        case "hybrids":
            return plural("units.hybrids", "{n} hybrid", "{n} hybrids", n=n)
    return plural("units.segments", "{n} segment", "{n} segments", n=n)


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
    """A document that uses human scores; `human_scores` names their form.

    `human_systems` are the human translations that are excluded from comparisons of metrics,
    `outlier_systems` the systems whose scores are far from the others'.
    """

    human_scores: Message
    human_systems: Sequence[str] = ()
    outlier_systems: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class OfSeveral(Document):
    """The documents of several campaigns, combined; `units` are those of each one's intervals."""

    trust: StudyTrust | None = None
    units: Sequence[UnitsOf] = ()

    @property
    def over(self) -> Message | None:
        """The sentence that names the units; None without any."""
        units = [
            message("units.of-campaign", "{units} in {campaign}", campaign=each.name, units=units)
            for each in self.units
            if (units := each.units)
        ]
        if not units:
            return None
        if len(units) > 1 and len({each.parameters["units"] for each in units}) == 1:
            return message(
                "units.over-each",
                "95% intervals and tests are over {units} in each campaign.",
                units=units[0].parameters["units"],
            )
        return message(
            "units.over-several", "95% intervals and tests are over {units}.", units=units
        )


@dataclass(frozen=True, kw_only=True)
class StudyDocument(OfSeveral):
    """The documents of a study's campaigns, combined."""

    study: str


def ends(interval: Interval | None) -> Ends | None:
    """Return the ends of an interval; None without one."""
    return interval and (interval.low, interval.high)


def head(campaign: Campaign, human: "HumanScores") -> dict[str, Any]:
    """Return the fields on a document's campaign, its human scores and their units."""
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
    """Return the fields on a document's campaign."""
    return {
        "campaign": campaign.slug,
        "name": campaign.name,
        "direction": campaign.test_set.direction,
        "length_ratio": str(campaign.length_ratio),
        "origin": campaign.origin,
    }
