"""Estimate the least seconds in which texts can be read."""

from collections.abc import Callable, Sequence

import numpy as np
from django.db.models import Count, Max

from annotation.models import Campaign, Output, Reference
from annotation.protocols import Layout
from annotation.quality import JudgmentColumns
from annotation.quality.columns import Floats
from core.caching import Cache
from core.reading import seconds_to_read

# Enough for the times of some 300,000 outputs.
BYTES, BYTES_A_TEXT = 32 * 2**20, 100
_cache: Cache[dict[int, float]] = Cache(BYTES)


def least_seconds(campaign: Campaign, columns: JudgmentColumns) -> Floats:
    """Return, per judgment, the least seconds for its output and the text shown beside it.

    nan where a judgment is not of an output. Where systems are shown together, the shown text is
    read once for all of them and not counted.
    """
    known = _known(campaign)
    found = [known.get(pk, np.nan) for pk in columns.output.tolist()]
    return np.array(found, dtype=np.float64)


def _known(campaign: Campaign) -> dict[int, float]:
    """Return cached times by output. Texts never change, so comparing counts is enough."""
    outputs = Output.objects.filter(system__campaigns=campaign)
    references = Reference.objects.filter(segment__test_set=campaign.test_set)
    there = [each.aggregate(Count("pk"), Max("pk")) for each in (outputs, references)]
    of = (campaign.pk, campaign.shown_text, campaign.judging.layout)
    key = (*of, *(n for each in there for n in each.values()))
    found = _cache.get(key)
    if found is None:
        found = _by_output(campaign)
        _cache.put(key, found, BYTES_A_TEXT * len(found))
    return found


def _by_output(campaign: Campaign) -> dict[int, float]:
    test_set = campaign.test_set
    own = _seconds(test_set.target_language)
    shown = {} if campaign.judging.layout == Layout.TOGETHER else _shown(campaign)
    rows = Output.objects.filter(system__campaigns=campaign).order_by()
    return {
        pk: own(text) + shown.get(segment, 0.0)
        for pk, segment, text in rows.values_list("pk", "segment_id", "text")
    }


def _shown(campaign: Campaign) -> dict[int, float]:
    """Return seconds for the shown text of every segment; of several references the shortest."""
    segments, test_set = campaign.test_set.segments.order_by(), campaign.test_set
    if campaign.shown_text == campaign.ShownText.SOURCE:
        seconds = _seconds(test_set.source_language)
        read = segments.exclude(beside__is_source=True)  # a recording or picture is not read
        return {pk: seconds(text) for pk, text in read.values_list("pk", "source")}
    seconds, texts = _seconds(test_set.target_language), dict[int, list[str]]()
    for pk, text in segments.values_list("pk", "references__text"):
        texts.setdefault(pk, []).append(text or "")
    return {pk: _least(seconds, each) for pk, each in texts.items()}


def _least(seconds: Callable[[str], float], texts: Sequence[str]) -> float:
    return min(seconds(text) for text in texts)


def _seconds(language: str) -> Callable[[str], float]:
    return lambda text: seconds_to_read(text, language)
