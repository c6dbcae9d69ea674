"""The presets by name, and which of them fit a test set."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation import protocols
from annotation.models import TestSet
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
    if layout.has_systems and not _has_two(test_set, ratios):
        return NEEDS_SYSTEMS
    return None


def _has_two(test_set: TestSet, ratios: Sequence[Decimal] | set[Decimal]) -> bool:
    return any(test_set.systems.filter(length_ratio=ratio).count() > 1 for ratio in ratios)
