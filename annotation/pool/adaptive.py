"""Adaptive assignment: choose screens (active) or the systems that a screen shows (dynamic).

Active assignment prefers screens of systems whose difference is still uncertain. The rule is
`metaeval.judgments.planning.allocate`, applied to the mean score of every judged output. Dynamic
assignment draws systems with a better mean more often (`metaeval.judgments.planning.draw`), and
stores the probability of each with its assignment. The choice of the document does not depend on
scores.

Both use weights from one aggregate query, which one request repeats after a commit, at most every
`PERIOD` seconds; other requests use the cached weights. `docs/assignment.md` states the rules and
their bias.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from django.core.cache import cache
from django.db import transaction
from django.db.models import Avg, Count, QuerySet

from annotation.models import Campaign, Item, Judgment
from annotation.models.judgment import VALUE
from metaeval.judgments.planning import Allocation, allocate, draw, inclusion, standing_weights

PERIOD = 30
KEEP = 24 * 3600
Compute = Callable[[Campaign], Mapping[int, float]]


class Screen(Protocol):
    """The properties of a candidate that the choice depends on."""

    @property
    def pk(self) -> int: ...
    @property
    def screen(self) -> int | None: ...
    @property
    def wanted(self) -> int: ...
    @property
    def system(self) -> int | None: ...
    @property
    def n_others(self) -> int: ...


S = TypeVar("S", bound=Screen)


def choose(campaign: Campaign, candidates: Sequence[S]) -> S:
    """Draw a system by its share, and choose the screen of it that gives the best comparison.

    The screen with most missing ratings comes first. Among equals it is the one whose source text
    was given with most other systems, so that differences are paired.
    """
    transaction.on_commit(lambda: refresh(campaign))
    shares = shares_of(campaign)
    groups: dict[frozenset[int | None], list[S]] = {}
    systems = _systems(campaign, candidates)
    for candidate in candidates:
        groups.setdefault(systems[candidate.pk], []).append(candidate)
    even = 1 / max(1, len(shares))
    weights = [sum(shares.get(one, even) for one in group if one) for group in groups]
    (drawn,) = random.choices(list(groups.values()), weights if sum(weights) else None)
    best = max((one.wanted, one.n_others) for one in drawn)
    return random.choice([one for one in drawn if (one.wanted, one.n_others) == best])


def _systems(campaign: Campaign, candidates: Sequence[Screen]) -> dict[int, frozenset[int | None]]:
    """Return the systems on each screen (one query if screens show several systems)."""
    own = {one.pk: frozenset((one.system,)) for one in candidates}
    numbers = {one.screen: one.pk for one in candidates if one.screen is not None}
    if not numbers:
        return own
    items = Item.objects.filter(campaign=campaign.pk, screen__in=numbers)
    for screen, system in items.values_list("screen", "output__system"):
        if system is not None and screen is not None:
            own[numbers[screen]] |= {system}
    return own


def shares_of(campaign: Campaign) -> Mapping[int, float]:
    """Return the cached share or weight of each system; empty before the first computation."""
    shares: Mapping[int, float] = cache.get(_key(campaign, "shares"), {})
    return shares


def refresh(campaign: Campaign, compute: Compute | None = None) -> None:
    """Compute and cache the shares, unless another request did within `PERIOD` seconds."""
    if cache.add(_key(campaign, "fresh"), True, PERIOD):
        cache.set(_key(campaign, "shares"), (compute or _current_shares)(campaign), KEEP)


def _current_shares(campaign: Campaign) -> Mapping[int, float]:
    systems, allocation = current_allocation(campaign)
    return dict(zip(systems, allocation.shares.tolist(), strict=True))


def _key(campaign: Campaign, what: str) -> str:
    return f"active-{what}:{campaign.pk}"


def current_judgments(campaign: Campaign) -> QuerySet[Judgment]:
    """Return the current judgments of outputs by annotators who are not excluded."""
    return Judgment.objects.filter(
        is_current=True,
        assignment__item__campaign=campaign,
        assignment__item__kind=Item.Kind.TARGET,
        assignment__annotator__excluded_at=None,
    ).order_by()


def current_allocation(campaign: Campaign) -> tuple[list[int], Allocation]:
    """Return the campaign's systems, by primary key, and the current share of effort of each.

    Two queries: the systems, and the mean current judgment of every judged output.
    """
    systems = list(campaign.systems.order_by("pk").values_list("pk", flat=True))
    rows = list(
        current_judgments(campaign)
        .values_list("assignment__item__output__system", "assignment__item__segment")
        .annotate(mean=Avg(VALUE))
    )
    places = {system: place for place, system in enumerate(systems)}
    columns = {key: place for place, key in enumerate(sorted({row[1] for row in rows}))}
    scores = np.full((len(systems), len(columns)), np.nan)
    for system, segment, mean in rows:
        if system in places:
            scores[places[system], columns[segment]] = mean
    documents = dict(campaign.test_set.segments.values_list("pk", "document"))
    return systems, allocate(scores, documents=[documents[key] for key in columns])


def draw_systems(campaign: Campaign, screen: int) -> dict[int, dict[str, Any]]:
    """Draw the systems of a screen; return its items in order, with fields of their assignments."""
    transaction.on_commit(lambda: refresh(campaign, current_weights))
    items = Item.objects.filter(campaign=campaign.pk, screen=screen).order_by("place")
    rows = list(items.values_list("pk", "segment_id", "output__system"))
    systems = sorted({system for _, _, system in rows if system is not None})
    known = shares_of(campaign)
    weights = [known.get(system, 1.0) for system in systems]
    size = min(campaign.systems_per_screen, len(systems))
    explored = campaign.exploration_percent / 100
    chances = inclusion(weights, size, exploration=explored)
    drawn = draw(weights, size, rng=np.random.default_rng(), exploration=explored)
    column = {systems[place]: number for number, place in enumerate(drawn)}
    chance = dict(zip(systems, chances.tolist(), strict=True))
    segments = {segment: n for n, segment in enumerate(dict.fromkeys(row[1] for row in rows))}
    shown = [row for row in rows if row[2] in column]
    shown.sort(key=lambda row: (segments[row[1]], column[row[2]]))
    return {pk: {"inclusion": chance[system], "column": column[system]} for pk, _, system in shown}


def current_weights(campaign: Campaign) -> Mapping[int, float]:
    """Return each system's weight by the mean of its current judgments.

    All weights are 1 until every system has `cold_start` judged documents. Two queries: the
    systems, and the mean and the number of documents of each.
    """
    systems = list(campaign.systems.order_by("pk").values_list("pk", flat=True))
    rows = (
        current_judgments(campaign)
        .values_list("assignment__item__output__system")
        .annotate(mean=Avg(VALUE), n=Count("assignment__item__screen", distinct=True))
    )
    standing = {system: (mean, n) for system, mean, n in rows}
    judged = [standing.get(system, (np.nan, 0)) for system in systems]
    if min((n for _, n in judged), default=0) < campaign.cold_start:
        return dict.fromkeys(systems, 1.0)
    weights = standing_weights([mean for mean, _ in judged])
    return dict(zip(systems, weights.tolist(), strict=True))
