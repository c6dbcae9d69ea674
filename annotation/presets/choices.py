"""The presets by name, and which of them fit a test set."""

import itertools
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation import protocols
from annotation.controls import count_cuttable
from annotation.models import Campaign, TestSet
from annotation.protocols import Layout
from annotation.quality.reach import MOST_TRAPS, proposed_traps
from annotation.quality.verdict import ITEMS, PAIRS_TO_FAIL
from metaeval.messages import Message, message


@dataclass(frozen=True)
class Preset:
    """A named set of settings; `label` says what annotators do, `origin` who has used it.

    `people` annotators rate each item. `shows_reference` compares with the reference if every
    segment has one, otherwise with the source. `is_shortened` is for outputs below full length.
    """

    name: str
    label: str | Promise
    origin: str | Promise
    about: str | Promise
    protocol: str
    people: int = 3
    shows_reference: bool = False
    is_shortened: bool = False

    @property
    def judging(self) -> protocols.Protocol:
        """The protocol itself."""
        return protocols.get(self.protocol)


DEFAULT, DEFAULT_LENGTH = "da", "length"
PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "da",
            _("Rate each translation"),
            "WMT 2016–23",
            _("One slider from 0 to 100 for one translation at a time (direct assessment)."),
            "segment-da",
        ),
        Preset(
            "esa",
            _("Mark errors, then rate"),
            "WMT 2024–25",
            _("Annotators mark minor and major errors, then give a score from 0 to 100 (ESA)."),
            "esa",
            people=2,
        ),
        Preset(
            "contrastive",
            _("Mark errors in all systems, then rate"),
            "WMT 2026",
            _(
                "A document by several systems, side by side: error spans and a score from 0 to "
                "100 for each (contrastive ESA)."
            ),
            "contrastive-esa",
            people=2,
        ),
        Preset(
            "side-by-side",
            _("Compare systems"),
            "RankME",
            _("Several systems side by side, with a slider for each."),
            "side-by-side",
            people=2,
        ),
        Preset(
            "mqm",
            _("Mark errors by category"),
            _("experts"),
            _("The MQM categories with severities; the score is computed from the errors."),
            "mqm",
            people=2,
        ),
        Preset(
            "side-by-side-mqm",
            _("Compare systems by their errors"),
            "Song 2025",
            _(
                "Two systems side by side, with errors by category; the scores are computed from "
                "the errors."
            ),
            "side-by-side-mqm",
            people=2,
        ),
        Preset(
            "adequacy-fluency",
            _("Rate meaning and language separately"),
            "WMT 2006",
            _("Two scales from 1 to 5: adequacy and fluency."),
            "adequacy-fluency",
        ),
        Preset(
            "post-editing",
            _("Correct translations"),
            "HTER",
            _(
                "Annotators change the output as little as possible; the score is the amount of "
                "change."
            ),
            "post-editing",
            people=1,
        ),
        Preset(
            "length",
            _("Rate shortened translations"),
            "Cheng 2023",
            _("How much of the main information is preserved at the length ratio, such as 80%."),
            "segment-da",
            shows_reference=True,
            is_shortened=True,
        ),
        Preset(
            "document",
            _("Rate whole documents"),
            "WMT 2020",
            _("Each segment in its document, then the whole document."),
            "document-da",
            people=2,
        ),
    )
}


NEEDS_SHORT = message(
    "preset.needs-short",
    "Needs outputs below full length, such as files named baseline@0.8.txt.",
)
NEEDS_DOCUMENTS = message(
    "preset.needs-documents",
    "Needs documents: some segments of the test set do not belong to a document.",
)
NEEDS_SYSTEMS = message(
    "preset.needs-systems", "Needs outputs of at least two systems with the same length."
)


@dataclass(frozen=True)
class Fit:
    """A preset for a test set; `lacks` says why it cannot be chosen."""

    preset: Preset
    lacks: Message | None = None


# Presets that are shown first.
USUAL = ("da", "esa", "contrastive", "mqm")


def preset_of(protocol: str, *, is_short: bool) -> Preset:
    """Return the preset of a protocol, for outputs below full length or not."""
    ordered = sorted(PRESETS.values(), key=lambda each: each.is_shortened != is_short)
    return next(preset for preset in ordered if preset.protocol == protocol)


def offered(test_set: TestSet) -> list[Fit]:
    """Return all presets, each with what the test set lacks."""
    ratios = set(test_set.systems.values_list("length_ratio", flat=True))
    return [Fit(preset, _lacks(preset, test_set, ratios)) for preset in PRESETS.values()]


def fitting(test_set: TestSet, name: str = "") -> Preset:
    """Return the named preset if it fits the test set, otherwise the default one."""
    able = {fit.preset.name: fit.preset for fit in offered(test_set) if not fit.lacks}
    has_full = test_set.systems.filter(length_ratio=1).exists()
    usual = DEFAULT if has_full else DEFAULT_LENGTH
    return able.get(name) or able.get(usual) or PRESETS[DEFAULT]


def _lacks(preset: Preset, test_set: TestSet, ratios: set[Decimal]) -> Message | None:
    layout = preset.judging.layout
    if preset.is_shortened and not any(ratio < 1 for ratio in ratios):
        return NEEDS_SHORT
    if layout.has_documents and test_set.segments.filter(document="").exists():
        return NEEDS_DOCUMENTS
    if layout.has_systems and not any(
        test_set.systems.filter(length_ratio=ratio).count() > 1 for ratio in ratios
    ):
        return NEEDS_SYSTEMS
    return None


# Propose the settings of a campaign for a preset and a test set.

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
