"""The form of the filters: the available choices and the chosen ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import Count
from django.http import QueryDict

from annotation.filters.choice import Filters
from annotation.filters.systems import systems_of, unique_names
from annotation.models import Annotator, Campaign, Segment
from annotation.quality.columns import scales_of
from core.caching import ttl_cache

NAMES = frozenset(each.name for each in fields(Filters))


class Choice(NamedTuple):
    """An option of the form."""

    value: str
    is_chosen: bool


@dataclass(frozen=True)
class Choices:
    """What the form offers; `others` are the page's own parameters, which the form must send too.

    `has_scores` says whether the form of the scores can be chosen, `has_human` whether any system
    is a human translation. `scales` are the campaigns' own scales, if there are several.
    `has_unit` says whether the unit of intervals can be chosen: some document has several
    segments, and the page has intervals.
    """

    annotators: list[Choice]
    documents: list[Choice]
    domains: list[Choice]
    systems: list[Choice]
    without_systems: list[Choice]
    others: list[tuple[str, str]]
    has_scores: bool = True
    has_human: bool = False
    scales: list[Choice] = field(default_factory=list)
    has_unit: bool = False

    @property
    def clear(self) -> str:
        """The query of the same page without filters."""
        return urlencode(self.others)


def filter_choices(
    query: QueryDict,
    campaigns: Sequence[Campaign],
    filters: Filters,
    *,
    has_scores: bool = True,
    has_unit: bool = True,
) -> Choices:
    """Return what the form shows for some campaigns together; counts are cached briefly."""
    key = ("filters", *(campaign.pk for campaign in campaigns))
    labels, documents, domains, systems = ttl_cache(
        key,
        lambda: (
            _annotators(campaigns),
            _documents(campaigns),
            _domains(campaigns),
            _systems(campaigns),
        ),
    )
    is_shared = any(is_shared for _, is_shared in documents)
    without = set(filters.without)
    return Choices(
        annotators=[
            Choice(label, label in without or bool(keys & without))
            for label, keys in labels.items()
        ],
        documents=[Choice(name, name in filters.documents) for name, _ in documents],
        domains=[Choice(name, name in filters.domains) for name in domains],
        has_human=any(systems.values()),
        systems=[Choice(name, name in filters.systems) for name in systems],
        without_systems=[Choice(name, name in filters.without_systems) for name in systems],
        others=own_parameters(query),
        has_scores=has_scores,
        scales=_scales(campaigns, filters) if has_scores else [],
        has_unit=has_unit and is_shared,
    )


def _annotators(campaigns: Sequence[Campaign]) -> dict[str, set[str]]:
    """Return the keys of annotators by public name."""
    people = Annotator.objects.filter(campaign__in=campaigns).order_by("campaign", "pk")
    labels: dict[str, set[str]] = {}
    for label, pk in people.values_list("label", "pk"):
        labels.setdefault(label, set()).add(str(pk))
    return labels


def _documents(campaigns: Sequence[Campaign]) -> list[tuple[str, bool]]:
    """Return every document by name, and whether it has several segments in a test set."""
    rows = Segment.objects.filter(test_set__campaigns__in=campaigns).exclude(document="")
    counts = (
        rows.order_by().values_list("document", "test_set").annotate(n=Count("pk", distinct=True))
    )
    found: dict[str, bool] = {}
    for name, _, n in counts:
        found[name] = found.get(name, False) or n > 1
    return sorted(found.items())


def _domains(campaigns: Sequence[Campaign]) -> list[str]:
    rows = Segment.objects.filter(test_set__campaigns__in=campaigns).exclude(domain="")
    return sorted(rows.order_by().values_list("domain", flat=True).distinct())


def _systems(campaigns: Sequence[Campaign]) -> dict[str, bool]:
    """Return whether each system, by its unique name, is a human translation."""
    found: dict[str, bool] = {}
    for campaign in campaigns:
        systems = systems_of(campaign)
        for name, system in zip(unique_names(systems), systems, strict=True):
            found[name] = found.get(name, False) or system.is_human
    return found


def _scales(campaigns: Sequence[Campaign], filters: Filters) -> list[Choice]:
    names = list(dict.fromkeys(name for each in campaigns for name in scales_of(each)))
    return [Choice(name, name == (filters.scale or names[0])) for name in names]


def filter_parameters(query: QueryDict) -> list[tuple[str, str]]:
    """Return the filters of an address, which the page's other forms must send too."""
    return [(name, value) for name in query if name in NAMES for value in query.getlist(name)]


def own_parameters(query: QueryDict) -> list[tuple[str, str]]:
    """Return the parameters of an address that are not filters."""
    return [(name, value) for name in query if name not in NAMES for value in query.getlist(name)]
