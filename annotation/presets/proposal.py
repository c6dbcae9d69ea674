"""Propose the settings of a campaign for a preset and a test set."""

import itertools
from decimal import Decimal
from typing import Any

from django.db.models import Count

from annotation.controls import count_cuttable
from annotation.models import Campaign, TestSet
from annotation.presets.choices import Preset
from annotation.protocols import Layout
from annotation.quality.reach import MOST_TRAPS, proposed_traps
from annotation.quality.verdict import ITEMS, PAIRS_TO_FAIL
from metaeval.messages import Message, message

SPACED_OUTPUTS = 100
SPACING = 3
SHOWN = Campaign.ShownText


def propose(
    preset: Preset, test_set: TestSet, ratio: Decimal | None = None
) -> tuple[dict[str, Any], Message | None]:
    """Return initial values of the campaign form, and a warning about its control items.

    Without a `ratio`, the one that the preset is for.
    """
    rows = list(test_set.systems.values_list("name", "length_ratio"))
    ratio = ratio or _ratio(preset, test_set, sorted({ratio for _, ratio in rows}))
    names = sorted({name for name, own in rows if own == ratio})
    n_outputs = test_set.segments.count() * len(names)
    trap_ratio = ratio if ratio < 1 else Decimal("0.5")
    possible = count_cuttable(test_set, trap_ratio, most=MOST_TRAPS)
    values = {
        "name": free_name(f"{test_set.name}, {ratio_label(ratio)}"),
        "length_ratio": str(ratio),
        "systems": names,
        "protocol": preset.protocol,
        "systems_per_screen": min(3, max(2, len(names))),
        "shown_text": _shown(preset, test_set),
        "question": "",
        "annotators_per_item": preset.people,
        "trap_ratio": trap_ratio,
        **_controls(preset, possible, n_outputs),
        "shows_context": not preset.judging.layout.has_documents and has_documents(test_set),
        "control_spacing": SPACING if n_outputs >= SPACED_OUTPUTS else 0,
    }
    return values, _too_small(possible) if preset.judging.has_score else None


def free_name(name: str) -> str:
    """Return the name, with a number if a campaign has it, so that names in lists differ."""
    taken = set(Campaign.objects.filter(name__startswith=name).values_list("name", flat=True))
    numbered = (f"{name} ({n})" for n in itertools.count(2))
    return next(each for each in itertools.chain([name], numbered) if each not in taken)


def has_documents(test_set: TestSet) -> bool:
    """Return whether a document has several segments."""
    documents = test_set.segments.exclude(document="").values("document").order_by("document")
    return documents.annotate(n=Count("pk")).filter(n__gt=1).exists()


def _ratio(preset: Preset, test_set: TestSet, ratios: list[Decimal]) -> Decimal:
    """Return full length if intended and available, else the longest ratio without a campaign."""
    if ratios and ratios[-1] == 1 and not preset.is_shortened:
        return ratios[-1]
    shorter = [ratio for ratio in ratios if ratio < 1] or ratios or [Decimal(1)]
    used = set(test_set.campaigns.values_list("length_ratio", flat=True))
    return next((ratio for ratio in reversed(shorter) if ratio not in used), shorter[-1])


def _shown(preset: Preset, test_set: TestSet) -> str:
    has_all = not test_set.segments.filter(references__isnull=True).exists()
    return SHOWN.REFERENCE if preset.shows_reference and has_all else SHOWN.SOURCE


def _controls(preset: Preset, possible: int, n_outputs: int) -> dict[str, int]:
    """Return traps if each item gets a score, and bad references if there is room."""
    is_single = preset.judging.layout == Layout.SINGLE
    has_traps = is_single and preset.judging.has_score
    has_room = is_single and n_outputs >= SPACED_OUTPUTS
    return {
        "traps_per_annotator": proposed_traps(possible, n_outputs) if has_traps else 0,
        "bad_references_per_annotator": PAIRS_TO_FAIL if has_room else 0,
    }


def _too_small(possible: int) -> Message | None:
    if possible >= ITEMS:
        return None
    return message(
        "preset.too-small",
        "This test set is too small to assess annotators by traps: {n} of its segments can be cut, "
        "and {needed} traps are needed.",
        n=possible,
        needed=ITEMS,
    )


FULL_LENGTH = message("length.full", "full length")


def ratio_label(ratio: Decimal) -> Message:
    """Return a length ratio in words: `80% of full length`, `full length`."""
    if ratio == 1:
        return FULL_LENGTH
    percent = f"{(ratio * 100).normalize():f}%"
    return message("length.share", "{percent} of full length", percent=percent)
