"""What was decided about an annotator's own answers, where the campaign shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Subquery

from annotation.judging.answers import rated_text
from annotation.judging.screens import Text, context_of, first_reference, text
from annotation.models import Adjudication, Annotator, Judgment
from annotation.protocols import Span
from annotation.protocols.pieces import Piece, cut


@dataclass(frozen=True)
class Said:
    """An answer, or a decision: a score or a penalty, the text with its errors, a comment."""

    score: int | None
    penalty: float | None
    pieces: Sequence[Piece]
    comment: str


@dataclass(frozen=True)
class Correction:
    """An item with the annotator's own answer and what was decided."""

    context: Text
    rated: Text
    own: Said
    decided: Said


def corrections(annotator: Annotator) -> list[Correction]:
    """Return what was decided about items that the annotator rated, in their own order.

    Three queries. Only outputs are adjudicated, so nothing here tells of controls.
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
        own=Said(row.score, row.penalty, cut(scheme, rated, own), row.comment),
        decided=Said(decided.score, decided.penalty, cut(scheme, rated, right), decided.comment),
    )
