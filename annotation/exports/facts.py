"""What a campaign has that a format of exports may have no place for.

Every format declares in `annotation.exports.formats` which of these it carries.
"""

from django.db.models import Count, F, Q
from django.db.models.functions import Length

from annotation.exports.rows import judgments_of
from annotation.filters import EVERYTHING, Filters
from annotation.models import Campaign, ContextOpening, ErrorSpan, Item, Playback
from annotation.protocols.base import SOURCE, TARGET
from metaeval.messages import Message, message

ITEM, ANNOTATOR = "assignment__item__", "assignment__annotator__"
CONTROLS = (Item.Kind.TRAP, Item.Kind.BAD_REF, Item.Kind.REPEAT, Item.Kind.REF)
GOLD = (Item.Kind.GOLD, Item.Kind.TUTORIAL)

FACTS: dict[str, Message] = {
    "texts": message("fact.texts", "texts of segments and outputs"),
    "settings": message("fact.settings", "question and settings of the campaign"),
    "ratio": message("fact.ratio", "length ratio"),
    "scores": message("fact.scores", "scores of each annotator"),
    "scales": message("fact.scales", "own scales"),
    "choices": message("fact.choices", "choices"),
    "post-edits": message("fact.post-edits", "post-edits"),
    "errors": message("fact.errors", "error spans"),
    "categories": message("fact.categories", "categories of errors"),
    "severities": message("fact.severities", "own severities and weights"),
    "source-errors": message("fact.source-errors", "errors in the source"),
    "tokens": message("fact.tokens", "errors at special tokens"),
    "comments": message("fact.comments", "comments"),
    "flags": message("fact.flags", "flags"),
    "revisions": message("fact.revisions", "earlier revisions"),
    "exclusions": message("fact.exclusions", "which annotators are excluded"),
    "simulated": message("fact.simulated", "which annotators are simulated"),
    "times": message("fact.times", "start and end times"),
    "clocks": message("fact.clocks", "visible, active and paid times"),
    "openings": message("fact.openings", "openings of the document"),
    "plays": message("fact.plays", "plays of recordings"),
    "screens": message("fact.screens", "what was shown together"),
    "batches": message("fact.batches", "batches"),
    "notes": message("fact.notes", "notes above segments"),
    "controls": message("fact.controls", "control items"),
    "gold": message("fact.gold", "gold and practice items"),
    "documents": message("fact.documents", "ratings of whole documents"),
    "unrated": message("fact.unrated", "items that nobody has rated"),
    "draws": message("fact.draws", "probabilities of drawn systems"),
    "sample": message("fact.sample", "which part of the test set is judged"),
    "conditions": message("fact.conditions", "conditions of suggestions"),
    "suggestions": message("fact.suggestions", "suggestions and what became of them"),
    "published": message("fact.published", "published scores"),
}
_OF_JUDGMENTS = {
    "scores": Q(score__isnull=False),
    "post-edits": Q(post_edit__isnull=False),
    "comments": ~Q(comment=""),
    "flags": Q(is_flagged=True),
    "revisions": Q(is_current=False),
    "exclusions": Q(**{f"{ANNOTATOR}excluded_at__isnull": False}),
    "simulated": Q(**{f"{ANNOTATOR}is_simulated": True}),
    "times": Q(started_at__isnull=False) | Q(submitted_at__isnull=False),
    "clocks": Q(visible_ms__isnull=False) | Q(active_ms__isnull=False) | Q(paid_ms__isnull=False),
    "screens": Q(**{f"{ITEM}screen__isnull": False}) | Q(**{f"{ITEM}n_columns__gt": 1}),
    "batches": ~Q(**{f"{ITEM}batch": ""}),
    "notes": ~Q(**{f"{ITEM}note": ""}),
    "controls": Q(**{f"{ITEM}kind__in": CONTROLS}),
    "gold": Q(**{f"{ITEM}kind__in": GOLD}),
    "documents": Q(**{f"{ITEM}kind": Item.Kind.DOCUMENT}),
    "draws": Q(assignment__inclusion__isnull=False),
    "conditions": ~Q(assignment__condition=""),
}


def facts_of(campaign: Campaign, filters: Filters = EVERYTHING) -> list[str]:
    """Return what a campaign has, by the names of `FACTS`; filters choose its judgments.

    Raises FilterError for what the campaign does not have.
    """
    rows = judgments_of(campaign, filters).order_by()
    counts = rows.aggregate(
        **{_alias(name): Count("pk", filter=q) for name, q in _OF_JUDGMENTS.items()}
    )
    has = {name for name in _OF_JUDGMENTS if counts[_alias(name)]}
    has |= {"texts", "settings"} | _of_campaign(campaign) | _of_errors(campaign)
    return [name for name in FACTS if name in has]


def _alias(name: str) -> str:
    return name.replace("-", "_") + "_n"


def _of_campaign(campaign: Campaign) -> set[str]:
    protocol = campaign.judging
    openings = ContextOpening.objects.filter(assignment__annotator__campaign=campaign)
    plays = Playback.objects.filter(judgment__assignment__annotator__campaign=campaign)
    found = {
        "ratio": campaign.length_ratio != 1,
        "scales": any(scale.key for scale in protocol.scales),
        "choices": bool(protocol.choices),
        "severities": bool(protocol.spans and "spans" in (campaign.answers or {})),
        "openings": openings.exists(),
        "plays": plays.exists(),
        "suggestions": campaign.items.filter(suggestions__isnull=False).exists(),
        "sample": campaign.sample is not None,
        "published": campaign.published_scores.exists(),
        "unrated": campaign.items.exclude(assignments__judgments__isnull=False).exists(),
    }
    return {name for name, is_there in found.items() if is_there}


def _of_errors(campaign: Campaign) -> set[str]:
    scheme = campaign.judging.spans
    if scheme is None:
        return set()
    errors = ErrorSpan.objects.filter(judgment__assignment__annotator__campaign=campaign)
    tokens = errors.filter(side=TARGET).annotate(
        length=Length("judgment__assignment__item__output__text")
    )
    found = {
        "errors": errors.exists(),
        "categories": bool(scheme.categories) and errors.exclude(category="").exists(),
        "source-errors": errors.filter(side=SOURCE).exists(),
        "tokens": bool(scheme.tokens) and tokens.filter(start__gte=F("length")).exists(),
    }
    return {name for name, is_there in found.items() if is_there}
