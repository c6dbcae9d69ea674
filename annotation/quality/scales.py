"""The values of a campaign's own scales in the place of its usual scores."""

from typing import Any

import numpy as np
from django.db.models import F, FloatField
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from annotation.models import Campaign, Judgment
from annotation.models.judgment import VALUE
from annotation.protocols.asked import Scale
from annotation.quality.current import Table

# Minus the edits of a post-edited output in percent.
HTER = "HTER"
PENALTIES = (
    "Scores are penalties or edits, and many are 0: an annotator’s mean and spread say which "
    "outputs they were given, not how strict they are. Quote α on raw scores here, not α on z."
)


def scales_of(campaign: Campaign) -> list[str]:
    """Return the scales a reader may choose from, the usual one first; empty where there is one."""
    protocol = campaign.judging
    found = [scale.key for scale in protocol.scales if scale.key]
    if protocol.text:
        found.append(HTER)
    return found if len(found) > 1 or (found and found[0] == HTER and protocol.scales) else []


def scale_of(campaign: Campaign, scale: str = "") -> Scale | None:
    """Return the scale that controls rest on, None where that is not the one that is read.

    Traps must be low, and gold items within their ranges, on the first scale alone: another one may
    ask for something else, and edits and penalties have no lowest value.
    """
    first = next(iter(campaign.judging.scales), None)
    return first if first and scale in ("", first.key) else None


def about_scale(campaign: Campaign, scale: str, *, has_agreement: bool) -> list[str]:
    """Say which of several scales quality rests on, and where z-scores of it mean little."""
    named = scale or next(iter(scales_of(campaign)), "")
    is_standardised = campaign.judging.is_standardised and scale != HTER
    return [
        *([f"Scores, control items and agreement are those of the scale {named}."] * bool(named)),
        *([PENALTIES] * (has_agreement and not is_standardised)),
    ]


def value_of(scale: str) -> Any:
    """Return what the database gives for a judgment on a scale; HTER negative: higher is better."""
    if not scale:
        return VALUE
    return -F("hter") if scale == HTER else Cast(KT(f"ratings__{scale}"), FloatField())


def with_scale(campaign: Campaign, rows: Table, scale: str) -> Table:
    """Return the rows with the values of a scale, nan where a judgment has none."""
    stored = Judgment.objects.filter(is_current=True, assignment__annotator__campaign=campaign)
    if scale == HTER:
        given = {pk: None if v is None else -v for pk, v in stored.values_list("pk", "hter")}
    else:
        given = {pk: own.get(scale) for pk, own in stored.values_list("pk", "ratings")}
    found = rows.copy()
    values = (given.get(pk) for pk in rows["pk"].tolist())
    found["score"] = [np.nan if value is None else value for value in values]
    return found
