"""What became of suggestions, a row each: no judgments, for planted ones are among them.

A row is a suggested error and a judgment: condition, origin, fate, as it was left and as it was
shown. `item_suggestions` has all suggestions of an item as JSON, once. Planted errors are in no
other file. Sent with the judgments, it gives them their suggestions back.
"""

import json
from collections.abc import Iterator
from typing import Any

from annotation.exports.rows import CHUNK, judgments_of, system_name
from annotation.filters import EVERYTHING, Filters
from annotation.imports.judgments.exported.columns import ITEM_SUGGESTIONS
from annotation.models import Campaign
from annotation.prefill.suggestions import key_of, offered

PLACES = ("side", "start", "end", "severity", "category")
SUGGESTION_HEADER = (
    "campaign", "annotator", "segment", "document", "system", "condition", "revision",
    "is_current", "judgment", "number", "origin", "fate", *PLACES,
    *(f"shown_{name}" for name in PLACES), ITEM_SUGGESTIONS,
)  # fmt: skip


def suggestion_rows(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[tuple[Any, ...]]:
    """Yield the values of SUGGESTION_HEADER: as the annotator left each, and as it was shown."""
    chosen = judgments_of(campaign, filters).filter(fates__isnull=False).distinct()
    written: set[int] = set()
    for judgment in chosen.prefetch_related("fates").iterator(CHUNK):
        assignment = judgment.assignment
        item = assignment.item
        shown = offered(item.suggestions, assignment.condition)
        for fate in judgment.fates.all():
            whole = None if item.pk in written else json.dumps(item.suggestions)
            written.add(item.pk)
            yield (
                campaign.slug, assignment.annotator.label, item.segment.key,
                item.segment.document, system_name(item), assignment.condition,
                judgment.revision, judgment.is_current, judgment.pk, fate.number, fate.origin,
                fate.fate, *key_of(fate), *key_of(shown[fate.number].span), whole,
            )  # fmt: skip
