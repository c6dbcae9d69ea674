"""Show one output with the spans of each annotator and each metric."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import Campaign, ErrorSpan, Item, Judgment, Output
from dashboards.spans.overlay import METRIC, PEOPLE, Mark, Piece, pieces
from metrics import catalogue
from metrics.error_spans import MISSING, TARGET
from metrics.models import MetricSignature
from metrics.spans.stored import of_output

KINDS = (Item.Kind.TARGET, Item.Kind.REPEAT)


@dataclass(frozen=True)
class MarkedText:
    """The output with the spans of one annotator or metric; `n_elsewhere` spans are not on it."""

    label: str
    pieces: Sequence[Piece]
    n_spans: int
    n_elsewhere: int


def marked_texts(
    campaign: Campaign, output: Output, signatures: Sequence[MetricSignature]
) -> list[MarkedText]:
    """Return the spans of each annotator, then those of each metric; three queries."""
    people: list[MarkedText] = []
    if campaign.judging.spans is not None:
        people = _people(campaign, output)
    metrics = [
        _marked(
            catalogue.get(signature.metric).label,
            output,
            [(row[0], Mark(row[1], row[2], row[3], METRIC)) for row in rows],
        )
        for signature, rows in of_output(signatures, output)
    ]
    return [*people, *metrics]


def _people(campaign: Campaign, output: Output) -> list[MarkedText]:
    rows = Judgment.objects.filter(
        is_current=True,
        assignment__annotator__campaign=campaign,
        assignment__item__output=output,
        assignment__item__kind__in=KINDS,
    ).order_by("assignment__annotator__label", "pk")
    labels = dict(rows.values_list("pk", "assignment__annotator__label"))
    spans: dict[int, list[tuple[str, Mark]]] = {pk: [] for pk in labels}
    found = ErrorSpan.objects.filter(judgment__in=labels).order_by("start", "end", "pk")
    for span in found:
        mark = Mark(span.start, span.end, span.severity, PEOPLE)
        spans[span.judgment_id].append((span.side, mark))
    return [_marked(labels[pk], output, own) for pk, own in spans.items()]


def _marked(label: str, output: Output, spans: Sequence[tuple[str, Mark]]) -> MarkedText:
    on_it = [mark for side, mark in spans if side == TARGET and mark.end > mark.start]
    elsewhere = sum(side == MISSING or side != TARGET for side, _ in spans)
    return MarkedText(label, pieces(output.text, on_it), len(spans), elsewhere)
