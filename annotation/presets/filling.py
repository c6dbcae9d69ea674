"""Add a preset's instructions in every language, and practice items, to a new draft."""

from pathlib import Path
from tomllib import loads
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from annotation.models import Campaign, Instructions, Item, Reference
from annotation.presets.choices import Preset, preset_of
from annotation.protocols import Layout
from annotation.protocols.base import SOURCE
from annotation.protocols.published import MISSING
from annotation.protocols.questions import Asks
from annotation.uploads.media.attachments import source_kinds

FOLDER = Path(__file__).parent / "texts"
SAME = gettext_noop(
    "This is a translation by a person. It keeps the whole meaning, so it deserves a high score."
)
OTHER = gettext_noop(
    "This text belongs to another sentence and says something else, so it deserves a score near 0."
)
# For one system and for several.
TASKS = {
    Asks.SCORE: ("da", "side-by-side"),
    Asks.SCALES: ("adequacy-fluency", "adequacy-fluency"),
    Asks.MARKED_SCORE: ("esa", "contrastive"),
    Asks.ERRORS: ("mqm", "side-by-side-mqm"),
    Asks.EDIT: ("post-editing", "post-editing"),
}
# The feedback of practice items, and the range of right scores as shares of the scale, both by how
# the item was made.
RANGES = {SAME: (0.7, 1.0), OTHER: (0.0, 0.2)}


def fill(campaign: Campaign, *, with_practice: bool) -> None:
    """Add standard instructions to a draft without its own, and practice items."""
    if not campaign.instructions.strip():
        campaign.instructions = standard_text(campaign, "en")
        campaign.save(update_fields=["instructions"])
        Instructions.objects.bulk_create(
            Instructions(
                campaign=campaign, language=code, instructions=standard_text(campaign, code)
            )
            for code, _ in settings.LANGUAGES
            if code != "en"
        )
    if with_practice:
        Item.objects.bulk_create(practice(campaign))


def refill(campaign: Campaign, before: Campaign, *, with_practice: bool) -> None:
    """Replace a draft's standard instructions and practice items by those of its present task.

    `before` is the draft as it was stored. Texts that somebody wrote or translated are kept.
    """
    if before.instructions.strip() and not campaign.instructions.strip():
        campaign.instructions = standard_text(campaign, "en")
    if campaign.instructions != before.instructions:
        _retranslate(campaign, before)
    items = made_here(campaign)
    if with_practice != items.exists() or _practised(campaign) != _practised(before):
        items.delete()
        Item.objects.bulk_create(practice(campaign) if with_practice else ())


def _retranslate(campaign: Campaign, before: Campaign) -> None:
    """Replace translations of the old standard text: by new ones, or by none for a custom text."""
    is_standard = campaign.instructions == standard_text(campaign, "en")
    rows = {row.language: row for row in campaign.translations.all()}
    for code, _ in settings.LANGUAGES:
        row = rows.get(code) or Instructions(campaign=campaign, language=code)
        if code != "en" and row.instructions in ("", standard_text(before, code)):
            row.instructions = standard_text(campaign, code) if is_standard else ""
            if row.instructions or row.consent:
                row.save()
            elif row.pk:
                row.delete()


def made_here(campaign: Campaign) -> QuerySet[Item]:
    """Return the practice items that were made with the draft, not by hand."""
    return campaign.items.filter(kind=Item.Kind.TUTORIAL, feedback__in=RANGES)


def _practised(campaign: Campaign) -> tuple[object, ...]:
    """Return what practice items depend on."""
    return campaign.judging.has_score, campaign.judging.scales[:1], campaign.seed


def standard_text(campaign: Campaign, language: str) -> str:
    """Return the standard instructions for a campaign: the task, the texts, the scale.

    Custom errors and scales have no standard text: the campaign must explain them.
    """
    words: dict[str, Any] = loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    is_short = campaign.length_ratio != 1
    preset = preset_of(campaign.protocol, is_short=is_short)
    own = campaign.answers or {}
    task = [] if own.get("spans") else [words["task"][_task(campaign, preset)]]
    parts = [*task, *_shown(campaign, words["shown"])]
    if campaign.names_colours:
        parts.append(words["colours"][campaign.shown_text])
    if is_short:
        parts.append(words["length"])
    if campaign.judging.has_score and "scales" not in own:
        usual = "short" if is_short else "full"
        parts.append(words["scale"].get(preset.name, words["scale"][usual]))
    text = "\n\n".join(part.strip() for part in parts)
    return text.replace("{percent}", campaign.percent)


def _shown(campaign: Campaign, words: dict[str, str]) -> list[str]:
    """Return the texts about the source or reference, or about the media that replace it."""
    if campaign.shown_text != Campaign.ShownText.SOURCE:
        return [words[campaign.shown_text]]
    kinds = source_kinds(campaign.test_set)
    texts = [words[kind or campaign.shown_text] for kind in sorted(kinds)]
    is_marked = campaign.judging.spans is not None
    return [*texts, words["missing"]] if is_marked and any(kinds) else texts


def mark_missing(campaign: Campaign) -> None:
    """Offer a mark after the output for omissions if sources are media (not saved)."""
    scheme = campaign.judging.spans
    is_marked = scheme is not None and SOURCE in scheme.sides and not scheme.tokens
    if is_marked and any(source_kinds(campaign.test_set)):
        campaign.special_tokens = [MISSING]


def _task(campaign: Campaign, preset: Preset) -> str:
    """Return the key of the text on the task: the preset's, or one that fits another layout."""
    asked = campaign.judging
    if asked.layout == preset.judging.layout:
        return preset.name
    if asked.layout == Layout.DOCUMENT and asked.asks == Asks.SCORE:
        return "document"
    return TASKS[asked.asks][asked.layout.has_systems]


def practice(campaign: Campaign) -> list[Item]:
    """Return practice items whose right score is known by construction; none without scores.

    A reference with its own source, and with the source of another segment, drawn at random.
    """
    rows = _first_references(campaign) if campaign.judging.has_score else {}
    if len(rows) < 2:
        return []
    drawn = campaign.hidden_rng("practice").sample(sorted(rows.items()), 2)
    (first, text), (second, _) = drawn
    return [_item(campaign, first, text, SAME), _item(campaign, second, text, OTHER)]


def _first_references(campaign: Campaign) -> dict[int, str]:
    rows = Reference.objects.filter(segment__test_set=campaign.test_set).order_by("-name")
    return dict(rows.values_list("segment_id", "text"))


def _item(campaign: Campaign, segment: int, text: str, feedback: str) -> Item:
    low, high = campaign.judging.scales[0].range_at(*RANGES[feedback])
    return Item(
        campaign=campaign,
        kind=Item.Kind.TUTORIAL,
        segment_id=segment,
        text=text,
        low=low,
        high=high,
        feedback=feedback,
    )
