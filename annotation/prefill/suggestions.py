"""Suggested errors of one item: which are shown, and what annotators do with them.

An item stores ``{"spans": [[side, start, end, severity, category, role], …], "known": [side,
start, end] or null}``. The role of a span is empty, ``planted`` for a false error, or ``withheld``
for a suggestion of the known error, which is hidden in the condition `withheld`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.models import Campaign, Item, OutputSuggestions, Prefill, SuggestionFate
from annotation.protocols import Span
from core.text import batched
from metaeval.messages import Message, message

Fate, Origin = SuggestionFate.Fate, SuggestionFate.Origin
PLANTED, WITHHELD = "planted", "withheld"


class Condition(StrEnum):
    """Which suggestions are shown; campaigns without a trial use NONE and show all real ones."""

    NONE = ""
    BLANK = "blank"
    PREFILLED = "prefilled"
    PLANTED = "planted"
    WITHHELD = "withheld"

    @property
    def label(self) -> Message:
        """The condition in words."""
        return CONDITIONS[self]


CONDITIONS = {
    Condition.NONE: message("condition.none", "without trial"),
    Condition.BLANK: message("condition.blank", "blank"),
    Condition.PREFILLED: message("condition.prefilled", "prefilled"),
    Condition.PLANTED: message("condition.planted", "planted"),
    Condition.WITHHELD: message("condition.withheld", "withheld"),
}
HIDDEN = {
    Condition.NONE: {PLANTED},
    Condition.PREFILLED: {PLANTED},
    Condition.PLANTED: set(),
    Condition.WITHHELD: {PLANTED, WITHHELD},
}


@dataclass(frozen=True)
class Suggestion:
    """An error as it is shown, and whether it was planted."""

    span: Span
    origin: str


class SpanLike(Protocol):
    """A span, or a row that has one."""

    @property
    def side(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def severity(self) -> str: ...
    @property
    def category(self) -> str: ...


Key = tuple[str, int, int, str, str]
Marked = tuple[Span, int | None]


def in_order(span: Span) -> tuple[bool, int, int, str, str]:
    """Return the sort key of marked errors: by position, which does not reveal their origin."""
    return span.side == "source", span.start, span.end, span.severity, span.category


def key_of(span: SpanLike) -> Key:
    """Return all fields of a span."""
    return span.side, span.start, span.end, span.severity, span.category


def as_stored(spans: Iterable[Span]) -> dict[str, Any] | None:
    """Return what an item stores for real suggestions; None without any."""
    rows = [[*key_of(span), ""] for span in spans]
    return {"spans": rows, "known": None} if rows else None


def offered(stored: Mapping[str, Any] | None, condition: str) -> tuple[Suggestion, ...]:
    """Return the suggestions that are shown under a condition, by position."""
    if not stored or condition == Condition.BLANK:
        return ()
    hidden = HIDDEN[Condition(condition)]
    shown = [
        Suggestion(Span(*about), Origin.PLANTED if role == PLANTED else Origin.SUGGESTED)
        for *about, role in stored["spans"]
        if role not in hidden
    ]
    return tuple(sorted(shown, key=lambda each: in_order(each.span)))


def fate_of(shown: Span, left: Span | None) -> SuggestionFate.Fate:
    """Return what was done to a suggestion; position counts before severity and category."""
    if left is None:
        return Fate.DELETED
    if (shown.side, shown.start, shown.end) != (left.side, left.start, left.end):
        return Fate.MOVED
    if shown.severity != left.severity:
        return Fate.SEVERITY
    return Fate.KEPT if shown.category == left.category else Fate.CATEGORY


def fates(
    shown: Sequence[Suggestion], spans: Sequence[Span], offers: Sequence[int | None]
) -> list[SuggestionFate]:
    """Return the fate of every suggestion, unsaved.

    `offers` gives, for each span, the number of the suggestion that it was.
    """
    pairs = zip(spans, offers, strict=True) if shown else ()
    left = {n: span for span, n in pairs if n is not None}
    return [
        SuggestionFate(
            number=n,
            origin=each.origin,
            fate=fate_of(each.span, left.get(n)),
            **_fields(left.get(n, each.span)),
        )
        for n, each in enumerate(shown)
    ]


def _fields(span: Span) -> dict[str, Any]:
    return dict(zip(("side", "start", "end", "severity", "category"), key_of(span), strict=True))


def judged(
    shown: Sequence[Suggestion], spans: Sequence[Span], offers: Sequence[int | None]
) -> tuple[Span, ...]:
    """Return the spans that count as judgments: all that were not planted."""
    if not shown:
        return tuple(spans)
    planted = {n for n, each in enumerate(shown) if each.origin == Origin.PLANTED}
    return tuple(span for span, n in zip(spans, offers, strict=True) if n not in planted)


def marked(spans: Iterable[SpanLike], stored: Iterable[SuggestionFate]) -> list[Marked]:
    """Return the spans that an annotator submitted, with the numbers of their suggestions."""
    left = [fate for fate in stored if fate.fate != Fate.DELETED]
    numbers: dict[Key, int | None] = {key_of(fate): fate.number for fate in left}
    keys = [key_of(span) for span in spans]
    keys += [key_of(fate) for fate in left if fate.origin == Origin.PLANTED]
    found = [(Span(*key), numbers.get(key)) for key in keys]
    return sorted(found, key=lambda each: in_order(each[0]))


# Store suggestions of a draft by output, and copy them to its items when it is opened.

BATCH = 1_000
NO_SPANS = message(
    "prefill.no-spans",
    "Errors can be suggested only if annotators mark errors. This protocol has no error marking.",
)
NOT_A_DRAFT = message(
    "prefill.not-a-draft",
    "Suggestions cannot be changed after a campaign has been opened, because annotators would see "
    "different ones.",
)
NOTHING_TO_CHECK = message("prefill.nothing-suggested", "Add suggested errors first.")
NO_ERRORS = message("prefill.no-errors", "The file has no errors for the outputs of this campaign.")

Spans = Mapping[int, Sequence[Span]]


def require_draft(campaign: Campaign) -> None:
    """Raise ValidationError unless suggestions of a campaign can be changed."""
    if campaign.judging.spans is None:
        raise ValidationError([NO_SPANS])
    if campaign.status != Campaign.Status.DRAFT:
        raise ValidationError([NOT_A_DRAFT])


@transaction.atomic
def keep_suggestions(
    campaign: Campaign,
    spans: Spans,
    *,
    source: str,
    label: str,
    details: Mapping[str, Any],
    user: Any = None,
) -> Prefill:
    """Store suggested errors by primary key of the output, replacing earlier ones.

    Absent outputs get no suggestions. Raises ValidationError if the campaign is not a draft.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_draft(campaign)
    if not any(spans.values()):
        raise ValidationError([NO_ERRORS])
    about = {"source": source, "label": label[:200], "details": details, "created_by": user}
    prefill, _ = Prefill.objects.update_or_create(
        campaign=campaign, defaults=about, create_defaults=about | {"seed": campaign.seed}
    )
    _keep(prefill, "spans", spans)
    campaign.items.update(suggestions=None)
    campaign.is_prefilled = True
    campaign.save(update_fields=["is_prefilled"])
    return prefill


@transaction.atomic
def keep_gold(campaign: Campaign, spans: Spans, *, label: str) -> Prefill:
    """Store adjudicated errors; an output with an empty list is adjudicated as correct.

    Raises ValidationError if the campaign is not a draft or has no suggestions.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_draft(campaign)
    prefill = Prefill.objects.filter(campaign=campaign).first()
    if prefill is None:
        raise ValidationError([NOTHING_TO_CHECK])
    _keep(prefill, "gold", spans)
    prefill.gold_label = label[:200]
    prefill.save(update_fields=["gold_label"])
    return prefill


@transaction.atomic
def drop(campaign: Campaign) -> None:
    """Delete all suggestions. Raises ValidationError if the campaign is not a draft."""
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_draft(campaign)
    Prefill.objects.filter(campaign=campaign).delete()
    campaign.items.update(suggestions=None)
    campaign.is_prefilled = False
    campaign.save(update_fields=["is_prefilled"])


def _keep(prefill: Prefill, field: str, spans: Spans) -> None:
    prefill.outputs.update(**{field: None})
    rows = [
        OutputSuggestions(
            prefill=prefill, output_id=output, **{field: [key_of(span) for span in own]}
        )
        for output, own in spans.items()
    ]
    OutputSuggestions.objects.bulk_create(
        rows,
        batch_size=BATCH,
        update_conflicts=True,
        update_fields=[field],
        unique_fields=["prefill", "output"],
    )
    prefill.outputs.filter(spans__isnull=True, gold__isnull=True).delete()


def suggested_in(campaign: Campaign, outputs: Sequence[int]) -> dict[int, list[Span]]:
    """Return the suggestions for some outputs of a campaign, before or after opening."""
    if not campaign.is_prefilled:
        return {}
    stored = OutputSuggestions.objects.filter(prefill__campaign=campaign, output__in=outputs)
    found = dict(stored.exclude(spans__isnull=True).values_list("output_id", "spans"))
    spans = {output: [Span(*each) for each in own or ()] for output, own in found.items()}
    items = campaign.items.filter(output__in=outputs, suggestions__isnull=False)
    for output, own in items.values_list("output_id", "suggestions"):
        spans.setdefault(output, [each.span for each in offered(own, "")])
    return spans


def fill_items(campaign: Campaign) -> None:
    """Copy the suggestions to the items of a campaign that is being opened.

    A repeat gets the suggestions of its output. Items imported with suggestions keep theirs.
    """
    items = campaign.items.exclude(output=None).filter(suggestions__isnull=True)
    rows = OutputSuggestions.objects.filter(prefill__campaign=campaign).exclude(spans__isnull=True)
    spans = dict(rows.values_list("output_id", "spans"))
    for batch in batched(items.only("pk", "output_id").iterator(BATCH), BATCH):
        changed = []
        for item in batch:
            if own := spans.get(item.output_id or 0):
                item.suggestions = as_stored(Span(*span) for span in own)
                changed.append(item)
        Item.objects.bulk_update(changed, ["suggestions"])
