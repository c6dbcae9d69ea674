"""Screens as annotators see them: one or more items, without anything that must stay hidden.

Annotators' pages are built only from `ShownScreen` and its parts, never from rows, so that a
template cannot show the system, the kind of an item, ids of rows or answers of others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, cached_property, partial
from typing import Any, Self
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import (
    Case,
    F,
    FilteredRelation,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    When,
)
from django.utils import timezone

from annotation.entry.welcome import next_step
from annotation.judging import instructions
from annotation.judging.answerable import ANNOTATOR, ASKED, SCREEN, USER
from annotation.judging.attachments import Attachments, address_of, kind_of, shown_attachments
from annotation.judging.instructions import Prose
from annotation.judging.progress import Progress, progress_of
from annotation.judging.rules import kept_rules
from annotation.models import (
    Assignment,
    Campaign,
    ErrorSpan,
    Item,
    Judgment,
    Reference,
    SuggestionFate,
)
from annotation.pay import Offer, limit_of, offer
from annotation.prefill.suggestions import Marked, marked, offered
from annotation.protocols import Protocol, Span
from annotation.protocols.base import SOURCE, TARGET, Anchor, Piece, Scale, cut
from core.database.prepared import Prepared
from core.languages import direction

# What is rated, whether it is an output or a text of the item itself (a control item).
RATED_TEXT = Case(When(item__text="", then=F("item__output__text")), default=F("item__text"))
# What `Feedback.on` looks at, besides `given` and `rated`.
PRACTICE = ("item__low", "item__high", "item__feedback", "item__gold")


@dataclass(frozen=True)
class Text:
    """A text with its language code and its direction, `ltr` or `rtl`."""

    content: str
    language: str
    direction: str


@dataclass(frozen=True)
class Feedback:
    """Feedback to the answer of a practice item.

    `score` is None if answers are only marked errors; `right` is the text with the right ones.
    """

    is_right: bool
    score: int | None
    low: int
    high: int
    text: str
    right: Sequence[Piece] = ()

    @classmethod
    def on(cls, row: Mapping[str, Any], protocol: Protocol, *, is_kept: bool = True) -> Self | None:
        """Return the feedback to a row with `PRACTICE`; None if there is none.

        A score is right within the item's range, or if it has none, where it keeps the item's
        rules. Of marked errors, the feedback shows the right ones.
        """
        gold = row["item__gold"]
        right = cut(protocol.spans, row["rated"], [Span(*each) for each in gold]) if gold else ()
        given, scale = row["given"], next(iter(protocol.scales), Scale())
        low = scale.low if row["item__low"] is None else row["item__low"]
        high = scale.high if row["item__high"] is None else row["item__high"]
        if given is None and not right and not row["item__feedback"]:
            return None
        is_right = is_kept and (given is None or low <= given <= high)
        return cls(is_right, given, low, high, row["item__feedback"], right)


@dataclass(frozen=True)
class ShownItem:
    """Everything that an annotator may see of an item, with their own answer.

    `row` is the position of its segment on the screen, and `note` a note on the segment.
    `revision` is 0, `score` None, `ratings` and `choices` empty while there is no answer.
    `is_document` marks the rating of a document as a whole. `is_editable` is False once the time
    to revise the answer is over. `offered` are errors marked beforehand; of the spans, `offers`
    says which of them each was. `attachments` are those of the segment, and `feedback` is that to
    the answer of a practice item.
    """

    public_id: UUID
    place: int
    row: int
    context: Text
    rated: Text
    is_document: bool
    is_practice: bool
    is_editable: bool
    score: int | None
    spans: tuple[Span, ...]
    comment: str
    is_flagged: bool
    revision: int
    note: str = ""
    offered: tuple[Span, ...] = ()
    offers: tuple[int | None, ...] = ()
    ratings: Mapping[str, int] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    post_edit: str | None = None
    attachments: Attachments | None = None
    feedback: Feedback | None = None


@dataclass(frozen=True)
class ShownScreen:
    """One screen: `public_id` is the item that was asked for, `items` are all in order.

    `span_sides` are the texts in which errors may be marked: the gray text only if it is the
    source, and `gray` says which text that is. With `names_colours`, the question calls the texts
    by their colours. `asked_first` is the address of what the annotator has to answer before
    rating, and `anchors` what scores mean. `is_prefilled` says that the campaign suggests errors.
    With `has_context`, the document around the segment can be opened. Paid are at most
    `limit_seconds`, and after `idle_seconds` the page asks. Answers go to `sent_to` where that is
    not the item's own address. `annotator` is the label of whose screen it is.
    """

    public_id: UUID
    previous_id: UUID | None
    campaign_slug: str
    campaign_title: str
    campaign_status: str
    protocol: Protocol
    span_sides: tuple[str, ...]
    instructions: Prose
    question: str
    items: tuple[ShownItem, ...]
    count: Callable[[], Progress] = field(repr=False, compare=False)
    asked_first: str = ""
    gray: str = ""
    names_colours: bool = False
    anchors: Sequence[Anchor] = ()
    is_prefilled: bool = False
    has_context: bool = False
    limit_seconds: int = 600
    idle_seconds: int = 60
    sent_to: str = ""
    annotator: str = ""
    offered: Callable[[int | None], Offer | None] = field(
        default=lambda _: None, repr=False, compare=False
    )

    @property
    def offer(self) -> Offer | None:
        """The pay, which annotators see before the first item."""
        return None if self.progress.done else self.offered(self.progress.total)

    @property
    def gray_side(self) -> str:
        """The side of the gray text where errors may be marked in it."""
        return SOURCE if SOURCE in self.span_sides else ""

    @property
    def black_side(self) -> str:
        """The side of the rated text where errors may be marked in it."""
        return TARGET if TARGET in self.span_sides else ""

    @cached_property
    def progress(self) -> Progress:
        """The progress, counted only if shown: a stored answer does not show its screen again."""
        return self.count()

    @property
    def title(self) -> str:
        """The position of the screen in the annotator's order, in words."""
        return self.progress.title(self.items[0].place, self.items[-1].place)

    @property
    def is_editable(self) -> bool:
        """Whether any answer may still be given or changed."""
        return any(item.is_editable for item in self.items)

    @property
    def has_feedback(self) -> bool:
        """Whether there is feedback to the answer of a practice item."""
        return any(item.feedback for item in self.items)

    @property
    def item(self) -> ShownItem:
        """The item that was asked for."""
        return next(item for item in self.items if item.public_id == self.public_id)


def find_screen(*, user: User, public_id: UUID) -> ShownScreen | None:
    """Return the screen of an item for its annotator, or None for everybody else."""
    rows: list[Any] = _one(instructions.active()).rows({USER: user.pk, ASKED: public_id})
    return make_screen(next(iter(rows), None))


@cache
def _one(language: str) -> Prepared[Any]:
    """Return the query for a language, which is a constant in it."""
    rows = screen_rows().select_related("annotator__campaign__test_set")
    return Prepared(lambda: rows.filter(public_id=ASKED, annotator__user=USER).order_by("pk"))


@cache
def _together(language: str) -> Prepared[Any]:
    rows = screen_rows().filter(annotator=ANNOTATOR, item__screen=SCREEN)
    return Prepared(lambda: rows.order_by("position"))


def current_judgment() -> FilteredRelation:
    """Return the relation to the current judgment; a new one, because queries modify it."""
    return FilteredRelation("judgments", condition=Q(judgments__is_current=True))


def first_reference(segment: str) -> QuerySet[Any]:
    """Return a subquery of the first reference by name, of the segment in a column."""
    references = Reference.objects.filter(segment=OuterRef(segment))
    return references.order_by("name").values("text")[:1]


def screen_rows() -> QuerySet[Any]:
    """Return a query of everything a screen shows, with the same joins for every kind of item."""
    before = Assignment.objects.filter(
        annotator=OuterRef("annotator"), position__lt=OuterRef("position")
    ).order_by("-position")
    return Assignment.objects.annotate(
        current=current_judgment(),
        judgment_id=F("current__pk"),
        score=F("current__score"),
        ratings=F("current__ratings"),
        choices=F("current__choices"),
        post_edit=F("current__post_edit"),
        comment=F("current__comment"),
        is_flagged=F("current__is_flagged"),
        revision=F("current__revision"),
        kind=F("item__kind"),
        segment=F("item__segment"),
        document=F("item__segment__document"),
        note=F("item__note"),
        screen=F("item__screen"),
        rated_text=RATED_TEXT,
        suggestions=F("item__suggestions"),
        source=F("item__segment__source"),
        attachments=F("item__segment__beside"),
        reference=Subquery(first_reference("item__segment")),
        translated=instructions.translation_of("annotator__campaign", "instructions"),
        previous_id=Subquery(before.values("public_id")[:1]),
        previous_kind=Subquery(before.values("item__kind")[:1]),
    )


def make_screen(row: Any) -> ShownScreen | None:
    if row is None:
        return None
    campaign: Campaign = row.annotator.campaign
    protocol = campaign.judging
    rows = _all_rows(row)
    spans = _spans(campaign, rows)
    segments = {own: n for n, own in enumerate(dict.fromkeys(each.segment for each in rows))}
    items = tuple(
        _item(campaign, each, segments[each.segment], spans.get(each.judgment_id, ()))
        for each in rows
    )
    return ShownScreen(
        public_id=row.public_id,
        previous_id=rows[0].previous_id,
        annotator=row.annotator.label,
        campaign_slug=campaign.slug,
        campaign_title=campaign.title,
        campaign_status=campaign.status,
        protocol=protocol,
        span_sides=span_sides(campaign),
        instructions=instructions.prose(
            campaign.instructions, row.translated, instructions.active()
        ),
        question=campaign.question_about(kind_of(each.attachments for each in items)),
        items=items,
        count=lambda: progress_of(row),
        asked_first=next_step(row.annotator),
        gray=campaign.shown_text,
        names_colours=campaign.names_colours,
        anchors=protocol.anchors_at(campaign.length_ratio),
        is_prefilled=campaign.is_prefilled,
        has_context=has_context(campaign, row.document),
        limit_seconds=limit_of(campaign, [each.rated_text or "" for each in rows]),
        idle_seconds=campaign.idle_seconds,
        offered=partial(offer, campaign),
    )


def has_context(campaign: Campaign, document: str) -> bool:
    """Return True if a segment's document can be opened; nothing else of an item matters."""
    return bool(campaign.shows_context and document and not campaign.judging.layout.has_documents)


def _all_rows(row: Any) -> Sequence[Any]:
    """Return the rows of a screen in order; a screen of one item needs no further query."""
    if row.screen is None:
        return [row]
    together = _together(instructions.active())
    return together.rows({ANNOTATOR: row.annotator_id, SCREEN: row.screen})


def span_sides(campaign: Campaign) -> tuple[str, ...]:
    """Return the texts in which errors can be marked."""
    scheme = campaign.judging.spans
    shows_source = campaign.shown_text == Campaign.ShownText.SOURCE
    sides = scheme.sides if scheme else ()
    return tuple(side for side in sides if side == TARGET or (side == SOURCE and shows_source))


def _spans(campaign: Campaign, rows: Sequence[Any]) -> Mapping[int, Sequence[Marked]]:
    judged = [row.judgment_id for row in rows if row.judgment_id is not None]
    if campaign.judging.spans is None or not judged:
        return {}
    found: dict[int, Sequence[Marked]] = {}
    for span in ErrorSpan.objects.filter(judgment__in=judged).order_by("id"):
        own = Span(span.side, span.start, span.end, span.severity, span.category)
        found[span.judgment_id] = (*found.get(span.judgment_id, ()), (own, None))
    return _with_fates(found, judged) if campaign.is_prefilled else found


def _with_fates(
    spans: Mapping[int, Sequence[Marked]], judged: Sequence[int]
) -> Mapping[int, Sequence[Marked]]:
    """Return all that an annotator left, in an order that does not reveal planted errors."""
    fates: dict[int, list[SuggestionFate]] = {}
    for fate in SuggestionFate.objects.filter(judgment__in=judged):
        fates.setdefault(fate.judgment_id, []).append(fate)
    return {
        judgment: marked([span for span, _ in spans.get(judgment, ())], fates.get(judgment, ()))
        for judgment in judged
    }


def _item(campaign: Campaign, row: Any, place: int, left: Sequence[Marked]) -> ShownItem:
    shown = tuple(each.span for each in offered(row.suggestions, row.condition))
    if not row.revision:
        left = [(span, number) for number, span in enumerate(shown)]
    return ShownItem(
        public_id=row.public_id,
        place=row.position + 1,
        row=place,
        context=context_of(campaign, source=row.source, reference=row.reference),
        rated=text(row.rated_text, campaign.test_set.target_language),
        is_document=row.kind == Item.Kind.DOCUMENT,
        is_practice=row.kind == Item.Kind.TUTORIAL,
        is_editable=is_editable(campaign, row),
        score=row.score,
        spans=tuple(span for span, _ in left),
        comment=row.comment or "",
        is_flagged=bool(row.is_flagged),
        revision=row.revision or 0,
        note=row.note,
        offered=shown,
        offers=tuple(number for _, number in left) if shown else (),
        ratings=row.ratings or {},
        choices=row.choices or {},
        post_edit=row.post_edit,
        attachments=shown_attachments(
            row.attachments, campaign, partial(address_of, row.public_id)
        ),
        feedback=_feedback(row, campaign.judging),
    )


def is_editable(campaign: Campaign, assignment: Assignment) -> bool:
    """Return whether the edit window allows giving or revising an answer."""
    if assignment.completed_at is None or campaign.edit_minutes is None:
        return True
    return timezone.now() - assignment.completed_at < timedelta(minutes=campaign.edit_minutes)


def context_of(campaign: Campaign, *, source: str, reference: str | None) -> Text:
    """Return the gray text: the first reference by name, or the source."""
    if campaign.shown_text == Campaign.ShownText.SOURCE:
        return text(source, campaign.test_set.source_language)
    return text(reference, campaign.test_set.target_language)


def text(content: str | None, language: str) -> Text:
    """Return a text with the direction of its language."""
    return Text(content or "", language, direction(language))


def _feedback(row: Any, protocol: Protocol) -> Feedback | None:
    """Return feedback to the answer of a practice item; None for others, and before an answer."""
    if row.kind != Item.Kind.TUTORIAL or row.judgment_id is None:
        return None
    given = {name: getattr(row.item, name.removeprefix("item__")) for name in PRACTICE}
    own = Judgment.objects.filter(pk=row.judgment_id)
    is_kept = not row.item.rules or all(kept_rules(own).values())
    return Feedback.on(
        {**given, "given": row.score, "rated": row.rated_text}, protocol, is_kept=is_kept
    )
