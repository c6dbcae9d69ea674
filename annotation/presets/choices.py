"""The presets by name, and which of them a test set can have."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from annotation import protocols
from annotation.models import TestSet


@dataclass(frozen=True)
class Preset:
    """A way of judging by name. `label` says what annotators do, `origin` who did it so before.

    `people` rate each item. `shows_reference` compares with the reference where every segment has
    one, otherwise with the source. `is_shortened` is for outputs below full length.
    """

    name: str
    label: str
    origin: str
    about: str
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
            "Rate each translation",
            "WMT 2016–23",
            "One slider from 0 to 100 for one translation at a time (direct assessment).",
            "segment-da",
        ),
        Preset(
            "esa",
            "Mark errors, then rate",
            "WMT 2024–25",
            "Minor and major errors are marked, then 0–100 (ESA).",
            "esa",
            people=2,
        ),
        Preset(
            "contrastive",
            "Mark errors in all systems, then rate",
            "WMT 2026",
            "A document, several systems beside each other: error spans and 0–100 for each (cESA).",
            "contrastive-esa",
            people=2,
        ),
        Preset(
            "side-by-side",
            "Compare systems",
            "RankME",
            "Several systems side by side, a slider each.",
            "side-by-side",
            people=2,
        ),
        Preset(
            "mqm",
            "Mark errors by category",
            "experts",
            "The MQM tree with severities; the score follows from the errors.",
            "mqm",
            people=2,
        ),
        Preset(
            "side-by-side-mqm",
            "Compare systems by their errors",
            "Song 2025",
            "Two systems side by side, errors by category in both; the scores follow from them.",
            "side-by-side-mqm",
            people=2,
        ),
        Preset(
            "adequacy-fluency",
            "Rate meaning and language apart",
            "WMT 2006",
            "Two scales from 1 to 5: adequacy and fluency.",
            "adequacy-fluency",
        ),
        Preset(
            "post-editing",
            "Correct translations",
            "HTER",
            "The output is changed as little as possible; the score is how much was changed.",
            "post-editing",
            people=1,
        ),
        Preset(
            "length",
            "Rate shortened translations",
            "Cheng 2023",
            "How much of the main information is kept at the required length, such as 80%.",
            "segment-da",
            shows_reference=True,
            is_shortened=True,
        ),
        Preset(
            "document",
            "Rate whole documents",
            "WMT 2020",
            "Each segment in its document, then the document.",
            "document-da",
            people=2,
        ),
    )
}


@dataclass(frozen=True)
class Fit:
    """A preset beside a test set; `lacks` says why it cannot be chosen."""

    preset: Preset
    lacks: str = ""


def offered(test_set: TestSet) -> list[Fit]:
    """Return all presets, each with what the test set lacks for it."""
    ratios = set(test_set.systems.values_list("length_ratio", flat=True))
    return [Fit(preset, _lacks(preset, test_set, ratios)) for preset in PRESETS.values()]


def fitting(test_set: TestSet, name: str = "") -> Preset:
    """Return the preset of a name where the test set can have it, otherwise the usual one."""
    able = {fit.preset.name: fit.preset for fit in offered(test_set) if not fit.lacks}
    has_full = test_set.systems.filter(length_ratio=1).exists()
    usual = DEFAULT if has_full else DEFAULT_LENGTH
    return able.get(name) or able.get(usual) or PRESETS[DEFAULT]


def _lacks(preset: Preset, test_set: TestSet, ratios: set[Decimal]) -> str:
    layout = preset.judging.layout
    if preset.is_shortened and not any(ratio < 1 for ratio in ratios):
        return "Needs outputs below full length, such as files named baseline@0.8.txt."
    if layout.has_documents and test_set.segments.filter(document="").exists():
        return "Needs documents: some segments of the test set belong to none."
    if layout.has_systems and not _has_two(test_set, ratios):
        return "Needs outputs of two systems at one length."
    return ""


def _has_two(test_set: TestSet, ratios: Sequence[Decimal] | set[Decimal]) -> bool:
    return any(test_set.systems.filter(length_ratio=ratio).count() > 1 for ratio in ratios)
