"""Scores on a campaign's own scales, instead of its first scale."""

from typing import Any

import numpy as np
from django.db.models import F, FloatField
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from annotation.models import Campaign, Judgment
from annotation.models.judgment import VALUE
from annotation.protocols.asked import Scale
from annotation.quality.current import Table
from metaeval.messages import Message, message

# Minus the edits of a post-edited output in percent.
HTER = "HTER"
PENALTIES = message(
    "quality.penalties",
    "Scores are penalties or edits, and many are 0: an annotator’s mean and spread depend on the "
    "outputs they were given, not on how strict they are. Report α on raw scores, not α on z.",
)


def scales_of(campaign: Campaign) -> list[str]:
    "Return the scales that a reader can choose from, the first one first; empty without choice."
    protocol = campaign.judging
    found = [scale.key for scale in protocol.scales if scale.key]
    if protocol.text:
        found.append(HTER)
    return found if len(found) > 1 or (found and found[0] == HTER and protocol.scales) else []


def scale_of(campaign: Campaign, scale: str = "") -> Scale | None:
    """Return the scale that control items are assessed on, or None if `scale` is another one.

    Traps must be low, and gold items within their ranges, on the first scale only: other scales
    ask for something else, and edits and penalties have no lowest value.
    """
    first = next(iter(campaign.judging.scales), None)
    return first if first and scale in ("", first.key) else None


def about_scale(campaign: Campaign, scale: str, *, has_agreement: bool) -> list[Message]:
    """Return which of several scales is used, and a warning if its z-scores mean little."""
    found = []
    if named := scale or next(iter(scales_of(campaign)), ""):
        found.append(
            message(
                "quality.scale",
                "Scores, control items and agreement use the scale {scale}.",
                scale=named,
            )
        )
    is_standardised = campaign.judging.is_standardised and scale != HTER
    return found if is_standardised or not has_agreement else [*found, PENALTIES]


def value_of(scale: str) -> Any:
    """Return the database expression of a scale; HTER is negated, so that higher is better."""
    if not scale:
        return VALUE
    return -F("hter") if scale == HTER else Cast(KT(f"ratings__{scale}"), FloatField())


def with_scale(campaign: Campaign, rows: Table, scale: str) -> Table:
    """Return the rows with the scores on a scale, nan for judgments without one."""
    stored = Judgment.objects.filter(is_current=True, assignment__annotator__campaign=campaign)
    if scale == HTER:
        given = {pk: None if v is None else -v for pk, v in stored.values_list("pk", "hter")}
    else:
        given = {pk: own.get(scale) for pk, own in stored.values_list("pk", "ratings")}
    found = rows.copy()
    values = (given.get(pk) for pk in rows["pk"].tolist())
    found["score"] = [np.nan if value is None else value for value in values]
    return found
