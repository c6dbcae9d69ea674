"""Adjudicated items as reviewers, and annotators who rated them, see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Subquery

from annotation.adjudication.disagreements import answers
from annotation.judging.answers import rated_text
from annotation.judging.screens import Text, context_of, first_reference, text
from annotation.models import Adjudication, Annotator, Campaign, Item, Judgment
from annotation.protocols import Span
from annotation.protocols.base import SOURCE, Piece, cut


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
