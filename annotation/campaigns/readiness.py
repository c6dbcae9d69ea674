"""What stands against opening a draft, as far as counting tells."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.campaigns.shares import has_imported_items
from annotation.models import Campaign, Item, Output
from annotation.prefill.trial import prefill_faults
from annotation.protocols import Layout
from core.text import pluralize

# Controls of which an annotator gets so many, made from what they rate.
PLANTED = (
    "traps_per_annotator",
    "bad_references_per_annotator",
    "repeats_per_annotator",
    "references_per_annotator",
)


def hindrances(campaign: Campaign) -> list[str]:
    """Return a sentence for everything that must be mended first.

    Without any a campaign opens, unless its controls find no room when they are drawn.
    """
    return faults(campaign) or list(_room(campaign))


def faults(campaign: Campaign) -> list[str]:
    """Return what is missing or does not go together, whatever the controls."""
    drawn = drawn_faults(
        vars(campaign), campaign.judging.layout, n_systems=campaign.systems.count()
    )
    said = [sentence for _, sentence in drawn]
    return [*_people(campaign), *_texts(campaign), *said, *prefill_faults(campaign)]


def drawn_faults(
    data: Mapping[str, Any], layout: Layout, *, n_systems: int
) -> Iterator[tuple[str, str]]:
    """Yield (field, sentence) for what does not go with systems or checks that are drawn."""
    mode, per_screen = data.get("assignment_mode"), data.get("systems_per_screen") or 0
    planted = [name for name in PLANTED if data.get(name)]
    if mode == Campaign.Mode.DYNAMIC:
        if not layout.has_systems:
            yield (
                "assignment_mode",
                "Dynamic assignment draws the systems of each screen: choose a protocol with "
                "several systems on a screen.",
            )
        elif n_systems <= per_screen:
            yield (
                "systems_per_screen",
                f"Nothing is drawn where all {n_systems} systems are on every screen: show "
                "fewer, or choose an open pool.",
            )
        for name in planted:
            yield (
                name,
                "A control that repeats a screen needs its systems to stay: ask for 0, and for "
                "checks with moved words.",
            )
    yield from _check_faults(data, layout, planted)


def _check_faults(
    data: Mapping[str, Any], layout: Layout, planted: Sequence[str]
) -> Iterator[tuple[str, str]]:
    n_checks, percent = data.get("rotated_checks"), data.get("check_percent")
    if n_checks and not layout.has_systems:
        yield (
            "rotated_checks",
            "Outputs with moved words are compared with others on their screen: choose a "
            "protocol with several systems on a screen, or ask for 0.",
        )
    if n_checks and not percent:
        yield "check_percent", "Say how likely a check is before each screen."
    if percent and data.get("assignment_mode") == Campaign.Mode.STATIC:
        yield (
            "check_percent",
            ("With fixed shares nothing is drawn: choose another assignment, or a chance of 0."),
        )
    elif percent and planted:
        yield (
            "check_percent",
            "Checks that come by chance stand in the place of other controls: ask for none of "
            "those, or for a chance of 0.",
        )


def _people(campaign: Campaign) -> Iterator[str]:
    has = campaign.annotators.filter(excluded_at=None).count()
    is_static = campaign.assignment_mode == Campaign.Mode.STATIC
    if is_static and has < campaign.annotators_per_item:
        yield (
            f"Each item is to be rated by {pluralize(campaign.annotators_per_item, 'annotator')}, "
            f"and this campaign has {has}. Add annotators first."
        )


def _texts(campaign: Campaign) -> Iterator[str]:
    if not campaign.systems.exists():
        yield "Choose at least one system to judge."
    if campaign.systems.exclude(length_ratio=campaign.length_ratio).exists():
        yield "All systems must have the length ratio of the campaign."
    if campaign.shown_text != Campaign.ShownText.REFERENCE:
        return
    unreferenced = campaign.test_set.segments.filter(references__isnull=True).count()
    if unreferenced:
        have = pluralize(
            unreferenced, "segment of the test set has", "segments of the test set have"
        )
        yield f"{have} no reference to show. Show the source instead."
    elif campaign.references_per_annotator:
        yield "References cannot be rated where the reference is shown. Show the source instead."


def _room(campaign: Campaign) -> Iterator[str]:
    """Controls need targets to be made from, and between them: known for screens of one item."""
    is_single = campaign.judging.layout == Layout.SINGLE
    is_static = campaign.assignment_mode == Campaign.Mode.STATIC
    if not is_single or not is_static or has_imported_items(campaign):
        return
    outputs = Output.objects.filter(system__in=campaign.systems.all()).count()
    people = campaign.annotators.filter(excluded_at=None).count()
    share = outputs * campaign.annotators_per_item // people
    made = (
        campaign.bad_references_per_annotator
        + campaign.repeats_per_annotator
        + campaign.references_per_annotator
    )
    gold = campaign.items.filter(kind=Item.Kind.GOLD).count()
    controls = made + campaign.traps_per_annotator + gold
    needed = (controls - 1) * (campaign.control_spacing + 1) + 1
    if made > share or (campaign.control_spacing and needed > share + controls):
        yield (
            f"Each annotator would get {pluralize(share, 'output')}, and "
            f"{pluralize(controls, 'control')} do not fit between them. Ask for fewer controls, "
            "less space between them, or fewer people."
        )
