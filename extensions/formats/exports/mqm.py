"""Error spans as Google publishes MQM: one error per row, marked by `<v>…</v>` in its text.

Only current judgments of outputs; rows without an error have no mark. Texts are unchanged, without
quotation marks around them; line breaks and tabs become blanks, one for one. A text with `<v>` or
`</v>` is refused. Special tokens, which are not in the output, are marked over the whole source.
The format has no column for scores.
"""

from collections.abc import Iterator, Sequence

from django.db.models import Q

from annotation.exports.rows import judgments_of, system_name, with_spans
from annotation.filters import EVERYTHING, FilterError, Filters
from annotation.judging.answers import rated_text
from annotation.models import Campaign, Item, Judgment
from annotation.protocols import Span
from annotation.protocols.base import SOURCE
from annotation.protocols.published import their_category
from extensions.formats.readers.mqm import TAG
from metaeval.messages import message

HEADER = (
    "system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity",
)  # fmt: skip
NO_ERROR = "No-error"
BLANKS = str.maketrans("\t\n\r", "   ")
USUAL = {key: key.capitalize() for key in ("neutral", "minor", "major", "critical")}


def mqm_lines(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[str]:
    """Yield one line per error of the current judgments of outputs.

    Raises FilterError if a text contains a tag.
    """
    _require_untagged(campaign)
    yield "\t".join(HEADER) + "\n"
    if campaign.judging.spans is None:
        return
    rows = judgments_of(campaign, filters).filter(
        is_current=True,
        assignment__item__kind=Item.Kind.TARGET,
        assignment__item__output__isnull=False,
    )
    for judgment, spans in with_spans(rows):
        for cells in _cells(judgment, spans):
            yield "\t".join(cell.translate(BLANKS) for cell in cells) + "\n"


def _require_untagged(campaign: Campaign) -> None:
    holds = Q(output__text__contains="v>") | Q(segment__source__contains="v>")
    columns = ("segment__key", "segment__source", "output__text")
    for key, *texts in campaign.items.filter(holds).values_list(*columns).iterator():
        if any(TAG.search(text or "") for text in texts):
            text = message(
                "export.mqm-tag",
                "Segment {segment} contains <v> or </v> as text; this format marks errors by them.",
                segment=key,
            )
            raise FilterError(text)


def _cells(judgment: Judgment, spans: Sequence[Span]) -> Iterator[tuple[str, ...]]:
    item = judgment.assignment.item
    segment, output = item.segment, rated_text(item)
    rater = judgment.assignment.annotator.label
    head = (system_name(item) or "", segment.document, str(segment.position), segment.key, rater)
    if not spans:
        yield (*head, segment.source, output, NO_ERROR, NO_ERROR)
    for span in spans:
        source, target = segment.source, output
        if span.side == SOURCE:
            source = _tagged(source, span.start, span.end)
        elif span.start >= len(target):
            source = _tagged(source, 0, len(source))
        else:
            target = _tagged(target, span.start, span.end)
        severity = USUAL.get(span.severity, span.severity)
        yield (*head, source, target, their_category(span.category), severity)


def _tagged(text: str, start: int, end: int) -> str:
    return f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"
