"""Spans in the database: stored once per content beside the score, and read for many outputs."""

from collections.abc import Collection, Sequence

from django.db.models import Q

from annotation.models import Output, System
from metrics.error_spans import FoundSpan, Spans
from metrics.models import MetricSignature, SegmentSpans

Row = tuple[str, int, int, str, str, float | None]
AT_ONCE = 1_000


def pack(spans: Spans) -> list[Row]:
    """Return spans as they are stored."""
    return [(s.side, s.start, s.end, s.severity, s.category, s.confidence) for s in spans]


def unpack(rows: Sequence[Row]) -> tuple[FoundSpan, ...]:
    """Return stored spans."""
    return tuple(FoundSpan(*row) for row in rows)


def store_spans(signature: MetricSignature, keys: Sequence[str], spans: Sequence[Spans]) -> None:
    """Store the spans of n contents at once; a content that has some keeps them."""
    rows = [
        SegmentSpans(signature=signature, content_key=key, spans=pack(own))
        for key, own in sorted(zip(keys, spans, strict=True), key=lambda pair: pair[0])
    ]
    SegmentSpans.objects.bulk_create(rows, batch_size=AT_ONCE, ignore_conflicts=True)


def find_with_spans(signatures: Collection[MetricSignature]) -> set[int]:
    """Return the primary keys of those signatures that have spans."""
    rows = SegmentSpans.objects.filter(signature__in=signatures).order_by()
    return set(rows.values_list("signature", flat=True).distinct())


def read_rows(signature: MetricSignature, systems: Collection[System]) -> dict[int, list[Row]]:
    """Return, by primary key of the output, the stored spans of outputs of some systems.

    An output that was never scored is absent; an output without errors has an empty list.
    """
    outputs = Output.objects.filter(system__in=list(systems)).order_by()
    rows = SegmentSpans.objects.filter(signature=signature).order_by()
    by_key = dict(
        rows.filter(output=None, content_key__in=outputs.values("content_key")).values_list(
            "content_key", "spans"
        )
    )
    own = dict(rows.filter(output__in=outputs.values("pk")).values_list("output", "spans"))
    keys = outputs.values_list("pk", "content_key") if by_key else ()
    return own | {pk: by_key[key] for pk, key in keys if key in by_key}


def of_output(
    signatures: Collection[MetricSignature], output: Output
) -> list[tuple[MetricSignature, list[Row]]]:
    """Return the spans of one output by signature, in the order given; one query."""
    here = Q(output=None, content_key=output.content_key) | Q(output=output)
    rows = SegmentSpans.objects.filter(here, signature__in=signatures).order_by()
    found = dict(rows.values_list("signature", "spans"))
    return [(each, found[each.pk]) for each in signatures if each.pk in found]
