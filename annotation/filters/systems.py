"""Which systems filters choose: named ones, human translations or not."""

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from annotation.filters.choice import IN, FilterError, Filters
from annotation.models import Campaign, Item, System
from annotation.uploads.drafts import label
from core.caching import memo
from core.text import join_truncated

# So many names are told of what there is.
NAMED = 30


def unique_names(systems: Sequence[System]) -> list[str]:
    """Return names that stay apart where imported systems differ in their length only."""
    names = [system.name for system in systems]
    if len(set(names)) == len(names):
        return names
    return [f"{system.name}@{system.length_ratio}" for system in systems]


@memo
def systems_of(campaign: Campaign) -> tuple[System, ...]:
    """Return the systems of a campaign in the order of all outputs."""
    return tuple(campaign.systems.order_by("name", "length_ratio"))


@memo
def chosen_systems(campaign: Campaign, filters: Filters) -> tuple[System, ...]:
    """Return the systems that `systems` and `without_systems` leave.

    A name without a length stands for all lengths. Raises FilterError for an unknown name, and
    where no system is left.
    """
    systems = systems_of(campaign)
    wanted = _named(filters, "systems", systems)
    left_out = _named(filters, "without_systems", systems)
    chosen = tuple(
        system
        for system in systems
        if (not filters.systems or system.pk in wanted) and system.pk not in left_out
    )
    if systems and not chosen:
        raise FilterError("systems and without_systems leave no system")
    return chosen


def compared_systems(campaign: Campaign, filters: Filters) -> tuple[System, ...]:
    """Return the chosen systems on which metrics are compared.

    Human translations are among them where the filters say so or name them under `systems`, and
    where there is nothing else.
    """
    chosen = chosen_systems(campaign, filters)
    named = _named(filters, "systems", systems_of(campaign))
    compared = tuple(
        system
        for system in chosen
        if not system.is_human or filters.humans == IN or system.pk in named
    )
    return compared or chosen


def human_systems(campaign: Campaign, filters: Filters) -> tuple[System, ...]:
    """Return the human translations among the chosen systems that metrics are not compared on."""
    compared = {system.pk for system in compared_systems(campaign, filters)}
    return tuple(s for s in chosen_systems(campaign, filters) if s.pk not in compared)


def items_left_out(campaign: Campaign, filters: Filters) -> QuerySet[Item, int] | None:
    """Return the keys of the items whose system the filters leave out; None where they leave none.

    A control item is of the system whose output it is compared with; one that stands for no system,
    such as a gold item, is never left out. Raises FilterError.
    """
    if not filters.chooses_systems:
        return None
    kept = {system.pk for system in chosen_systems(campaign, filters)}
    others = [system.pk for system in systems_of(campaign) if system.pk not in kept]
    own = Q(output__system__in=others) | Q(system__in=others)
    by_partner = Q(output=None, system=None) & (
        Q(partner__output__system__in=others) | Q(partner__system__in=others)
    )
    return campaign.items.filter(own | by_partner).order_by().values_list("pk", flat=True)


def require_system(campaign: Campaign, filters: Filters, parameter: str, name: str) -> None:
    """Raise FilterError for a system, by its unique name, that metrics are not compared on."""
    every = systems_of(campaign)
    names = dict(zip((s.pk for s in every), unique_names(every), strict=True))
    there = [names[system.pk] for system in compared_systems(campaign, filters)]
    if name and name not in names.values():
        raise FilterError(f"{parameter}: this campaign has no system {name!r}")
    if name and name not in there:
        raise FilterError(
            f"{parameter}: {name!r} is left out; there are {join_truncated(there, NAMED)}"
        )


def names_of(systems: Sequence[System]) -> dict[str, set[int]]:
    """Return the keys of some systems by every name under which filters know them."""
    names: dict[str, set[int]] = {}
    for system, unique in zip(systems, unique_names(systems), strict=True):
        for name in (unique, system.name, label(system.name, system.length_ratio)):
            names.setdefault(name, set()).add(system.pk)
    return names


def _named(filters: Filters, name: str, systems: Sequence[System]) -> frozenset[int]:
    """The keys of the systems that one of the filters names."""
    known = names_of(systems)
    if unknown := [each for each in getattr(filters, name) if each not in known]:
        there = join_truncated(unique_names(systems), NAMED) or "none"
        raise FilterError(
            f"{name}: this campaign has no system {', '.join(unknown)}; there are {there}"
        )
    return frozenset(pk for each in getattr(filters, name) for pk in known[each])
