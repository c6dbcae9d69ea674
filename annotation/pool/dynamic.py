"""Dynamic assignment: which systems a screen shows, drawn when somebody claims it.

Systems with a better mean so far are drawn more often (`metaeval.judgments.planning.drawing`), and
the probability of each is stored with its assignment. Which document is claimed does not depend on
any score. `docs/assignment.md` states the rule.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Avg, Count

from annotation.models import Campaign, Item
from annotation.models.judgment import VALUE
from annotation.pool import active
from metaeval.judgments.planning import draw, inclusion, standing_weights


def draw_systems(campaign: Campaign, screen: int) -> dict[int, dict[str, Any]]:
    """Draw what is shown of a screen: its items in order, with fields of their assignments."""
    transaction.on_commit(lambda: active.refresh(campaign, current_weights))
    items = Item.objects.filter(campaign=campaign.pk, screen=screen).order_by("place")
    rows = list(items.values_list("pk", "segment_id", "output__system"))
    systems = sorted({system for _, _, system in rows if system is not None})
    known = active.shares_of(campaign)
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
    """Return each system's weight by the mean of its current judgments; even at the beginning.

    Two queries: the systems, and how each was judged on how many documents.
    """
    systems = list(campaign.systems.order_by("pk").values_list("pk", flat=True))
    rows = (
        active.current_judgments(campaign)
        .values_list("assignment__item__output__system")
        .annotate(mean=Avg(VALUE), n=Count("assignment__item__screen", distinct=True))
    )
    standing = {system: (mean, n) for system, mean, n in rows}
    judged = [standing.get(system, (np.nan, 0)) for system in systems]
    if min((n for _, n in judged), default=0) < campaign.cold_start:
        return dict.fromkeys(systems, 1.0)
    weights = standing_weights([mean for mean, _ in judged])
    return dict(zip(systems, weights.tolist(), strict=True))
