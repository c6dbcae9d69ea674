"""Facts of a campaign that a format of exports may have no place for.

Every format declares in `annotation.exports.formats` which of these it carries.
"""

from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Length

from annotation.added import OVERLAP, STORED_AFTER, AddedUp
from annotation.campaigns.facts import n_removed
from annotation.exports.rows import judgments_of
from annotation.filters import EVERYTHING, Filters
from annotation.models import Campaign, ContextOpening, ErrorSpan, Item, Judgment
from annotation.protocols.base import SOURCE, TARGET
from core.caching import Cache
from core.host_files import read_host_file, write_host_file
from metaeval.messages import Message, message

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
    "domains": message("fact.domains", "domains of segments"),
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
    # A judgment that was counted before may lose its mark, but the next revision is a new one.
    "revisions": Q(is_current=False) | Q(revision__gt=1),
    "times": Q(started_at__isnull=False) | Q(submitted_at__isnull=False),
    "clocks": Q(visible_ms__isnull=False) | Q(active_ms__isnull=False) | Q(paid_ms__isnull=False),
    "plays": Q(playback__isnull=False),
    "draws": Q(assignment__inclusion__isnull=False),
    "conditions": ~Q(assignment__condition=""),
    "screens": Q(assignment__item__screen__isnull=False) | Q(assignment__item__n_columns__gt=1),
    "batches": ~Q(assignment__item__batch=""),
    "notes": ~Q(assignment__item__note=""),
    "controls": Q(assignment__item__kind__in=CONTROLS),
    "gold": Q(assignment__item__kind__in=GOLD),
    "documents": Q(assignment__item__kind=Item.Kind.DOCUMENT),
}
_OF_ANNOTATORS = {
    "exclusions": Q(excluded_at__isnull=False),
    "simulated": Q(is_simulated=True),
}


def facts_of(campaign: Campaign, filters: Filters = EVERYTHING) -> list[str]:
    """Return what a campaign has, by the names of `FACTS`; filters choose its judgments.

    Raises FilterError for what the campaign does not have.
    """
    return counted_facts(campaign, filters)[0]


def counted_facts(campaign: Campaign, filters: Filters = EVERYTHING) -> tuple[list[str], int]:
    """Return what `facts_of` does, and how many judgments the filters choose, in one reading."""
    rows = judgments_of(campaign, filters).order_by()
    is_part = filters.drops_judgments
    found = _looked_through(_Seen(), rows) if is_part else _of_all.of(campaign)
    has = {*found.has, "texts", "settings"} | _of_campaign(campaign) | _of_errors(campaign)
    has |= {
        name
        for name, q in _OF_ANNOTATORS.items()
        if rows.filter(assignment__annotator__in=campaign.annotators.order_by().filter(q)).exists()
    }
    return [name for name in FACTS if name in has], found.n


class _Seen(NamedTuple):
    """How many judgments were looked through, and which facts they have."""

    n: int = 0
    has: frozenset[str] = frozenset()


def _looked_through(seen: _Seen, rows: QuerySet[Judgment]) -> _Seen:
    new = {name: q for name, q in _OF_JUDGMENTS.items() if name not in seen.has}
    counts = rows.aggregate(
        n_all=Count("pk"), **{_alias(name): Count("pk", filter=q) for name, q in new.items()}
    )
    has = seen.has | {name for name in new if counts[_alias(name)]}
    return _Seen(seen.n + counts["n_all"], has)


_of_all = AddedUp("facts", _Seen(), _looked_through)
_are_opened = AddedUp("openings", False, lambda found, rows: found or rows.exists(), ContextOpening)
# The first item without a judgment, or the last of all.
_unrated: Cache[int] = Cache(1024)


def _stored_unrated(key: tuple[Any, ...]) -> int | None:
    """Return what a process of this host stored, unless a backup was restored since."""
    stored = read_host_file(f"unrated-{key[0]}", key)
    is_valid = stored and Judgment.objects.filter(pk=stored[1], created_at=stored[2]).exists()
    return int(stored[0]) if is_valid else None


def _is_unrated(campaign: Campaign) -> bool:
    """Return whether an item has no judgment; those before the first one stay rated."""
    key = campaign.pk, campaign.created_at, n_removed(campaign)
    items = campaign.items.order_by("pk").values_list("pk", flat=True)
    if (known := _unrated.get(key) or _stored_unrated(key)) is None:
        # Compared as one set: item by item takes twice as long.
        rated = Judgment.objects.filter(assignment__annotator__campaign=campaign)
        found = items.exclude(pk__in=rated.values("assignment__item"))
    else:
        rated = Judgment.objects.filter(assignment__item=OuterRef("pk"))
        found = items.filter(~Exists(rated), pk__gt=known - OVERLAP)
    first = found.first()
    upto = (items.last() or 0) if first is None else first
    _unrated.put(key, upto, 1)
    newest = Judgment.objects.order_by("-pk").values_list("pk", "created_at").first()
    if upto != known and newest and newest[0] > STORED_AFTER:
        write_host_file(f"unrated-{campaign.pk}", key, (upto, *newest))
    return first is not None


def _alias(name: str) -> str:
    return name.replace("-", "_") + "_n"


def _of_campaign(campaign: Campaign) -> set[str]:
    protocol = campaign.judging
    found = {
        "ratio": campaign.length_ratio != 1,
        "scales": any(scale.key for scale in protocol.scales),
        "choices": bool(protocol.choices),
        "severities": bool(protocol.spans and "spans" in (campaign.answers or {})),
        "openings": _are_opened.of(campaign),
        "suggestions": campaign.is_prefilled
        and campaign.items.filter(suggestions__isnull=False).exists(),
        "sample": campaign.sample is not None,
        "published": campaign.has_published_scores,
        "domains": campaign.segments.exclude(domain="").exists(),
        "unrated": _is_unrated(campaign),
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
