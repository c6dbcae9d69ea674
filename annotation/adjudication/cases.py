"""What a reviewer sees of an item: the texts, and anonymous answers side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.adjudication.disagreements import answers
from annotation.judging.answers import rated_text
from annotation.models import Adjudication, Campaign, Item
from annotation.protocols import Span
from annotation.protocols.base import SOURCE
from annotation.protocols.pieces import Piece, cut


@dataclass(frozen=True)
class Given:
    """An answer, of nobody in particular; `number` counts from 1."""

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
    """An item with its answers in an order that tells nothing, and what was decided so far."""

    item: Item
    given: Sequence[Given]
    decided: Adjudication | None = None
    spans: Sequence[Span] = field(default=())


def case_of(campaign: Campaign, item: Item) -> Case:
    """Return what is to be seen of an item, whose output and segment are loaded (four queries)."""
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
