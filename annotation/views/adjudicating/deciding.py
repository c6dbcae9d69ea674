"""The page of one item for reviewers, and the decisions that annotators see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db.models import Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import campaign_for_reviewer, researcher_required, signed_in
from annotation.adjudication import answers, decide, disagreements
from annotation.forms.judgments import JudgmentForm
from annotation.judging import instructions
from annotation.judging.answers import rated_text
from annotation.judging.attachments import kind_of, shown_attachments
from annotation.judging.judgments import ConflictError
from annotation.judging.progress import Progress
from annotation.judging.screens import (
    ShownItem,
    ShownScreen,
    Text,
    context_of,
    first_reference,
    span_sides,
    text,
)
from annotation.models import Adjudication, Annotator, Campaign, Disagreement, Item, Judgment
from annotation.protocols import Span
from annotation.protocols.base import SOURCE, Piece, cut
from annotation.views.judging.assignments import annotator_or_404
from annotation.views.judging.cards import Card, fresh_cards, refused_card
from annotation.web.parameters import Parameters, takes
from core.messages import messages_of

# Adjudicated items as reviewers, and annotators who rated them, see them.


@dataclass(frozen=True)
class Given:
    """A judgment without its annotator; `number` counts from 1."""

    number: int
    score: int | None
    penalty: float | None
    ratings: Mapping[str, int]
    choices: Mapping[str, str]
    post_edit: str | None
    spans: Sequence[Span]
    pieces: Sequence[Piece]
    in_source: Sequence[Piece] = ()
    comment: str = ""


@dataclass(frozen=True)
class Case:
    """An item with its judgments in random order, and the current decision."""

    item: Item
    given: Sequence[Given]
    decided: Adjudication | None = None
    spans: Sequence[Span] = field(default=())


def case_of(campaign: Campaign, item: Item) -> Case:
    """Return an item with its judgments; its output and segment are loaded (four queries)."""
    rows = list(
        answers(campaign).filter(assignment__item=item).prefetch_related("spans").order_by("pk")
    )
    campaign.hidden_rng("case", item.pk).shuffle(rows)
    text, scheme = rated_text(item), campaign.judging.spans
    found = []
    for number, row in enumerate(rows, 1):
        spans = [Span(s.side, s.start, s.end, s.severity, s.category) for s in row.spans.all()]
        found.append(
            Given(
                number=number,
                score=row.score,
                penalty=row.penalty,
                ratings=row.ratings,
                choices=row.choices,
                post_edit=row.post_edit,
                spans=spans,
                pieces=cut(scheme, text, spans),
                in_source=cut(scheme, item.segment.source, spans, SOURCE)
                if _of_source(spans)
                else (),
                comment=row.comment,
            )
        )
    decided = item.adjudications.filter(is_current=True).first()
    return Case(item, found, decided, spans_of(decided))


def _of_source(spans: Sequence[Span]) -> bool:
    return any(span.side == SOURCE for span in spans)


def spans_of(decided: Adjudication | None) -> list[Span]:
    """Return the errors of a decision."""
    return [Span(*each) for each in decided.spans] if decided else []


@dataclass(frozen=True)
class Answered:
    """A judgment or a decision: a score or a penalty, the text with its errors, a comment."""

    score: int | None
    penalty: float | None
    pieces: Sequence[Piece]
    comment: str


@dataclass(frozen=True)
class Correction:
    """An item with the annotator's own judgment and the decision."""

    context: Text
    rated: Text
    own: Answered
    decided: Answered


def corrections(annotator: Annotator) -> list[Correction]:
    """Return the decisions on items that the annotator rated, in the annotator's order.

    Three queries. Only outputs are adjudicated, so this reveals no control items.
    """
    own = Judgment.objects.filter(assignment__annotator=annotator, is_current=True)
    decided = {
        each.item_id: each
        for each in Adjudication.objects.filter(
            is_current=True, item__in=own.values("assignment__item")
        )
    }
    rows = (
        own.filter(assignment__item__in=list(decided))
        .select_related("assignment__item__segment", "assignment__item__output")
        .annotate(reference=Subquery(first_reference("assignment__item__segment")))
        .prefetch_related("spans")
        .order_by("assignment__position")
    )
    return [_correction(row, decided[row.assignment.item_id], annotator) for row in rows]


def _correction(row: Judgment, decided: Adjudication, annotator: Annotator) -> Correction:
    campaign, item = annotator.campaign, row.assignment.item
    rated, scheme = rated_text(item), campaign.judging.spans
    own = [Span(s.side, s.start, s.end, s.severity, s.category) for s in row.spans.all()]
    right = [Span(*each) for each in decided.spans]
    return Correction(
        context=context_of(
            campaign, source=item.segment.source, reference=getattr(row, "reference", None)
        ),
        rated=text(rated, campaign.test_set.target_language),
        own=Answered(row.score, row.penalty, cut(scheme, rated, own), row.comment),
        decided=Answered(
            decided.score, decided.penalty, cut(scheme, rated, right), decided.comment
        ),
    )


@researcher_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@takes(Parameters(frozenset({"answer"})))
def review(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the item; with `?answer=n`, that answer in the form; by POST, store the decision."""
    campaign = campaign_for_reviewer(request, slug)
    rows = disagreements(campaign).select_related("item__segment", "item__output")
    found = get_object_or_404(rows, pk=pk)
    case = case_of(campaign, found.item)
    number = request.GET.get("answer", "")
    taken = next((each for each in case.given if str(each.number) == number), None)
    screen = _screen(campaign, case, taken)
    cards = fresh_cards(request, screen)
    if request.method != "POST":
        return _page(request, campaign, found, case, screen, cards)
    form = _form(request, campaign, screen.public_id)
    refusal, status = None, 422
    if form.is_valid():
        try:
            decide(
                campaign=campaign,
                item=found.item,
                reviewer=signed_in(request),
                answer=form.answer(),
            )
            return redirect(_next(campaign))
        except ConflictError as conflict:
            refusal, status = conflict.message, 409
        except ValidationError as error:
            refusal = messages_of(error)[0]
    card = refused_card(cards[0], form, refusal=refusal, is_conflict=status == 409)
    return _page(request, campaign, found, case, screen, [card], status=status)


def _form(request: HttpRequest, campaign: Campaign, public_id: UUID) -> JudgmentForm:
    return JudgmentForm(
        request.POST,
        user_id=signed_in(request).pk,
        public_id=public_id,
        protocol=campaign.judging,
        prefix="0-" if campaign.judging.layout.has_several else "",
    )


def _next(campaign: Campaign) -> str:
    """Return the address of the next item of the queue, or of the queue at its end."""
    open_ones = disagreements(campaign).filter(is_decided=False)
    pk = open_ones.values_list("pk", flat=True).first()
    return reverse("adjudicate", args=[campaign.slug, pk]) if pk else _queue(campaign)


def _queue(campaign: Campaign) -> str:
    return reverse("adjudication", args=[campaign.slug])


def _page(
    request: HttpRequest,
    campaign: Campaign,
    found: Disagreement,
    case: Case,
    screen: ShownScreen,
    cards: list[Card],
    *,
    status: int = 200,
) -> HttpResponse:
    queue = list(disagreements(campaign).values_list("pk", "is_decided"))
    place = next(n for n, (pk, _) in enumerate(queue) if pk == found.pk)
    context = {
        "campaign": campaign,
        "section": "campaigns",
        "tab": "adjudication",
        "found": found,
        "case": case,
        "item": _drawn(request, screen, cards),
        "place": place + 1,
        "n_all": len(queue),
        "n_decided": sum(is_decided for _, is_decided in queue),
        "before": queue[place - 1][0] if place else None,
        "after": queue[place + 1][0] if place + 1 < len(queue) else None,
        "language": campaign.test_set.target_language,
    }
    return render(request, "annotation/adjudicate.html", context, status=status)


def _drawn(request: HttpRequest, screen: ShownScreen, cards: list[Card]) -> SafeString:
    """Draw the annotators' template of the protocol, with its answer sent to this page."""
    screen = replace(screen, sent_to=request.path)
    return render_to_string(screen.protocol.template, {"screen": screen, "cards": cards}, request)


def _screen(campaign: Campaign, case: Case, taken: Given | None) -> ShownScreen:
    item = _item(campaign, case, taken)
    kind = kind_of([item.attachments])
    return ShownScreen(
        public_id=item.public_id,
        previous_id=None,
        campaign_slug=campaign.slug,
        campaign_title=campaign.title,
        campaign_status=Campaign.Status.OPEN,
        protocol=campaign.judging,
        span_sides=span_sides(campaign),
        instructions=instructions.read(campaign, "instructions"),
        question=campaign.question_about(kind),
        items=(item,),
        count=lambda: Progress(place=1, done=0, total=1, paid_ms=0),
        gray=campaign.shown_text,
        names_colours=campaign.names_colours,
        anchors=campaign.judging.anchors_at(campaign.length_ratio),
    )


def _item(campaign: Campaign, case: Case, taken: Given | None) -> ShownItem:
    item, test_set = case.item, campaign.test_set
    reference = item.segment.references.order_by("name").values_list("text", flat=True).first()
    answer: Given | Adjudication | None = taken or case.decided
    return ShownItem(
        # An id that no annotator's page has, and that does not reveal the row of the item.
        public_id=UUID(int=campaign.hidden_rng("reviewed", item.pk).getrandbits(128), version=4),
        place=1,
        row=0,
        context=context_of(campaign, source=item.segment.source, reference=reference),
        rated=text(rated_text(item), test_set.target_language),
        is_document=False,
        is_practice=False,
        is_editable=True,
        score=answer.score if answer else None,
        spans=tuple(taken.spans if taken else case.spans),
        comment=case.decided.comment if case.decided else "",
        is_flagged=False,
        revision=case.decided.revision if case.decided else 0,
        note=item.note,
        ratings=answer.ratings if answer else {},
        choices=answer.choices if answer else {},
        post_edit=answer.post_edit if answer else None,
        attachments=shown_attachments(
            item.segment.beside,
            campaign,
            partial(reverse, "segment-media", args=[test_set.slug, item.segment.position]),
        ),
    )


@never_cache
@require_safe
@login_required
def own_corrections(request: HttpRequest, slug: str) -> HttpResponse:
    """Show decisions to an annotator; 404 if the campaign does not show them."""
    annotator = annotator_or_404(request, slug)
    if not annotator.campaign.shows_corrections:
        raise Http404
    context = {
        "campaign": annotator.campaign.title,
        "slug": slug,
        "corrections": corrections(annotator),
        "has_spans": annotator.campaign.judging.spans is not None,
    }
    return render(request, "annotation/corrections.html", context)
