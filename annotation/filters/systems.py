"""The systems that filters choose: by name, with or without human translations."""

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from annotation.filters.choice import IN, FilterError, Filters, listed, quoted
from annotation.models import Campaign, Item, System
from annotation.uploads.drafts import label
from core.caching import memo
from metaeval.messages import message

NO_SYSTEM_LEFT = message(
    "filter.no-system-left", "systems and without_systems together select no system."
)


def unique_names(systems: Sequence[System]) -> list[str]:
    """Return distinct names, with the length ratio if imported systems share a name."""
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
    """Return the systems that `systems` and `without_systems` select.

    A name without a length ratio selects all lengths. Raises FilterError for an unknown name, and
    if no system remains.
    """
    systems = systems_of(campaign)
    wanted = _named(filters, "systems", systems)
    excluded = _named(filters, "without_systems", systems)
    chosen = tuple(
        system
        for system in systems
        if (not filters.systems or system.pk in wanted) and system.pk not in excluded
    )
    if systems and not chosen:
        raise FilterError(NO_SYSTEM_LEFT)
    return chosen


def compared_systems(campaign: Campaign, filters: Filters) -> tuple[System, ...]:
    """Return the chosen systems on which metrics are compared.

    Human translations are included if the filters say so, name them under `systems`, or choose
    nothing else.
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
    """Return the chosen human translations that metrics are not compared on."""
    compared = {system.pk for system in compared_systems(campaign, filters)}
    return tuple(s for s in chosen_systems(campaign, filters) if s.pk not in compared)


def dropped_items(campaign: Campaign, filters: Filters) -> QuerySet[Item, int] | None:
    """Return the keys of the items whose system the filters exclude; None without such filters.

    A control item belongs to the system whose output it is compared with; control items of no
    system, such as gold items, are never dropped. Raises FilterError.
    """
    if not filters.chooses_systems:
        return None
    chosen = {system.pk for system in chosen_systems(campaign, filters)}
    others = [system.pk for system in systems_of(campaign) if system.pk not in chosen]
    own = Q(output__system__in=others) | Q(system__in=others)
    by_partner = Q(output=None, system=None) & (
        Q(partner__output__system__in=others) | Q(partner__system__in=others)
    )
    return campaign.items.filter(own | by_partner).order_by().values_list("pk", flat=True)


def require_system(campaign: Campaign, filters: Filters, parameter: str, name: str) -> None:
    """Raise FilterError for a system, by its unique name, that metrics are not compared on."""
    every = systems_of(campaign)
    names = dict(zip((s.pk for s in every), unique_names(every), strict=True))
    compared = [names[system.pk] for system in compared_systems(campaign, filters)]
    if name and name not in names.values():
        raise FilterError(
            message(
                "filter.unknown-system",
                "{parameter}: this campaign has no system “{name}”.",
                parameter=parameter,
                name=quoted(name),
            )
        )
    if name and name not in compared:
        raise FilterError(
            message(
                "filter.excluded-system",
                "{parameter}: the filters exclude “{name}”. These systems remain: {known}.",
                parameter=parameter,
                name=name,
                known=listed(compared),
            )
        )


def names_of(systems: Sequence[System]) -> dict[str, set[int]]:
    """Return the keys of some systems by every name that filters accept."""
    names: dict[str, set[int]] = {}
    for system, unique in zip(systems, unique_names(systems), strict=True):
        for name in (unique, system.name, label(system.name, system.length_ratio)):
            names.setdefault(name, set()).add(system.pk)
    return names


def _named(filters: Filters, name: str, systems: Sequence[System]) -> frozenset[int]:
    """Return the keys of the systems that one of the filters names."""
    known = names_of(systems)
    if unknown := [each for each in getattr(filters, name) if each not in known]:
        if not systems:
            raise FilterError(
                message("filter.no-systems", "{name}: this campaign has no systems.", name=name)
            )
        raise FilterError(
            message(
                "filter.no-system",
                "{name}: this campaign has no system {names}. Its systems are {known}.",
                name=name,
                names=listed(unknown),
                known=listed(unique_names(systems)),
            )
        )
    return frozenset(pk for each in getattr(filters, name) for pk in known[each])
