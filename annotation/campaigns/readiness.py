"""What prevents a draft from being opened, as far as can be counted."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.text import slugify

from annotation.campaigns.shares import has_imported_items
from annotation.models import Campaign, Item
from annotation.prefill.trial import prefill_faults
from annotation.protocols import Layout
from metaeval.messages import Message, message, plural, truncated

# Numbers of control items per annotator that are made from the annotator's outputs.
PLANTED = (
    "traps_per_annotator",
    "bad_references_per_annotator",
    "repeats_per_annotator",
    "references_per_annotator",
)
NOT_SEVERAL_SYSTEMS = message(
    "design.dynamic-needs-systems",
    "Dynamic assignment draws the systems of each screen. Choose a protocol that shows several "
    "systems on a screen.",
)
SCREENS_REPEATED = message(
    "design.dynamic-without-planted",
    "Dynamic assignment draws the systems of each screen, so control items cannot repeat a screen. "
    "Set this to 0 and use checks with moved words.",
)
CHECKS_NEED_SYSTEMS = message(
    "design.checks-need-systems",
    "Outputs with moved words are compared with other outputs on their screen. Choose a protocol "
    "that shows several systems on a screen, or set this to 0.",
)
NO_CHANCE = message("design.no-chance", "Enter the chance of a check before each screen.")
CHANCE_OF_FIXED = message(
    "design.chance-of-fixed",
    "With fixed assignment nothing is drawn. Choose another assignment, or set the chance to 0.",
)
CHANCE_AND_PLANTED = message(
    "design.chance-and-planted",
    "Checks that come by chance replace other control items. Set those to 0, or set the chance "
    "to 0.",
)
NO_SYSTEMS = message("design.no-systems", "Choose at least one system to judge.")
OTHER_LENGTHS = message(
    "design.other-lengths", "All systems must have the length ratio of the campaign."
)
REFERENCES_RATED = message(
    "design.references-rated",
    "References cannot be rated if the reference is shown. Show the source instead.",
)


def hindrances(campaign: Campaign) -> list[Message]:
    """Return everything that must be fixed before the campaign can be opened.

    If the list is empty the campaign can be opened, unless its control items do not fit when they
    are drawn.
    """
    return faults(campaign) or list(_room(campaign))


def faults(campaign: Campaign) -> list[Message]:
    """Return what is missing or contradictory, apart from the room for control items."""
    drawn = drawn_faults(
        vars(campaign), campaign.judging.layout, n_systems=campaign.systems.count()
    )
    found = [fault for _, fault in drawn]
    return [*_people(campaign), *_texts(campaign), *found, *prefill_faults(campaign)]


def drawn_faults(
    data: Mapping[str, Any], layout: Layout, *, n_systems: int
) -> Iterator[tuple[str, Message]]:
    """Yield (field, message) for settings that contradict drawn systems or drawn checks."""
    mode, per_screen = data.get("assignment_mode"), data.get("systems_per_screen") or 0
    planted = [name for name in PLANTED if data.get(name)]
    if mode == Campaign.Mode.DYNAMIC:
        if not layout.has_systems:
            yield "assignment_mode", NOT_SEVERAL_SYSTEMS
        elif n_systems <= per_screen:
            yield (
                "systems_per_screen",
                message(
                    "design.nothing-drawn",
                    "Every screen shows all {systems} systems, so none are drawn. Show fewer "
                    "systems on a screen, or choose an open pool.",
                    systems=n_systems,
                ),
            )
        for name in planted:
            yield name, SCREENS_REPEATED
    yield from _check_faults(data, layout, planted)


def _check_faults(
    data: Mapping[str, Any], layout: Layout, planted: Sequence[str]
) -> Iterator[tuple[str, Message]]:
    n_checks, percent = data.get("rotated_checks"), data.get("check_percent")
    if n_checks and not layout.has_systems:
        yield "rotated_checks", CHECKS_NEED_SYSTEMS
    if n_checks and not percent:
        yield "check_percent", NO_CHANCE
    if percent and data.get("assignment_mode") == Campaign.Mode.STATIC:
        yield "check_percent", CHANCE_OF_FIXED
    elif percent and planted:
        yield "check_percent", CHANCE_AND_PLANTED


def _people(campaign: Campaign) -> Iterator[Message]:
    n = campaign.annotators.filter(excluded_at=None).count()
    is_static = campaign.assignment_mode == Campaign.Mode.STATIC
    if is_static and n < campaign.annotators_per_item:
        yield plural(
            "design.too-few-annotators",
            "Each item needs {wanted} annotators, and this campaign has {n} annotator. Add "
            "annotators first.",
            "Each item needs {wanted} annotators, and this campaign has {n} annotators. Add "
            "annotators first.",
            n=n,
            wanted=campaign.annotators_per_item,
        )


def lacks_people(campaign: Campaign) -> bool:
    """Return whether a draft needs annotators before anything else."""
    if campaign.assignment_mode == Campaign.Mode.STATIC:
        return any(_people(campaign))
    return not (campaign.annotators.exists() or campaign.access_links.exists())


def _texts(campaign: Campaign) -> Iterator[Message]:
    if not campaign.systems.exists():
        yield NO_SYSTEMS
    if campaign.systems.exclude(length_ratio=campaign.length_ratio).exists():
        yield OTHER_LENGTHS
    if campaign.shown_text != Campaign.ShownText.REFERENCE:
        return
    if n := campaign.segments.filter(references__isnull=True).count():
        yield unreferenced(n)
    elif campaign.references_per_annotator:
        yield REFERENCES_RATED


def title_warnings(campaign: Campaign) -> list[Message]:
    """Return that annotators would read the name of a judged system in the title or the address."""
    names = list(campaign.systems.order_by("name").values_list("name", flat=True))
    warnings = []
    if named := [name for name in names if _has_word(campaign.title, name)]:
        warnings.append(
            message(
                "design.title-names-system",
                "Annotators read the title “{title}”, which names {systems}. Choose another title "
                "for annotators.",
                title=campaign.title,
                systems=truncated(named),
            )
        )
    if named := [name for name in names if _has_word(campaign.slug, slugify(name))]:
        warnings.append(
            message(
                "design.address-names-system",
                "Annotators see the address of their pages. It contains “{slug}”, which names "
                "{systems}. Copy the campaign, and give the copy another title for annotators "
                "before you add annotators.",
                slug=campaign.slug,
                systems=truncated(named),
            )
        )
    return warnings


def _has_word(text: str, word: str) -> bool:
    # Languages such as Chinese have no blanks around a name in Latin letters.
    pattern = rf"(?<![a-z0-9]){re.escape(word.casefold())}(?![a-z0-9])"
    return bool(word) and re.search(pattern, text.casefold()) is not None


def unreferenced(n: int) -> Message:
    """Return the message that `n` segments lack the reference that should be shown."""
    return plural(
        "design.unreferenced",
        "{n} segment of the test set has no reference to show. Show the source instead.",
        "{n} segments of the test set have no reference to show. Show the source instead.",
        n=n,
    )


def _room(campaign: Campaign) -> Iterator[Message]:
    """Yield whether control items fit between an annotator's outputs, for screens of one item."""
    is_single = campaign.judging.layout == Layout.SINGLE
    is_static = campaign.assignment_mode == Campaign.Mode.STATIC
    if not is_single or not is_static or has_imported_items(campaign):
        return
    outputs = campaign.outputs.count()
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
        yield plural(
            "design.no-room",
            "Each annotator would get {n} output, and {controls} control items do not fit between "
            "them. Reduce the number of control items, the distance between them, or the number of "
            "annotators.",
            "Each annotator would get {n} outputs, and {controls} control items do not fit between "
            "them. Reduce the number of control items, the distance between them, or the number of "
            "annotators.",
            n=share,
            controls=controls,
        )
