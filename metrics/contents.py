"""What a run has to score: its distinct contents, and their texts, a chunk at a time."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Output, Reference
from metrics.base import SegmentInput
from metrics.models import Lease, MetricRun, MetricSignature, RunPlan, SegmentScore


@dataclass(frozen=True)
class Missing:
    """How many contents a run has, and one output for each that has no score yet.

    Outputs of one segment follow each other, so that a metric prepares its references once.
    """

    total: int
    output_ids: Sequence[int]


@dataclass(frozen=True)
class Chunk:
    """Contents to score now, in the same order three times: output ids, content keys, texts."""

    output_ids: list[int]
    keys: list[str]
    inputs: list[SegmentInput]


def find_missing(run: MetricRun, signature: MetricSignature) -> Missing:
    """Look through the outputs of a run in one query; ids alone are kept."""
    outputs = (
        Output.objects.filter(system__in=run.systems.all())
        .annotate(is_scored=_is_scored(signature))
        .order_by("segment", "system")
        .values_list("pk", "content_key", "is_scored")
    )
    seen: set[str] = set()
    output_ids = array("q")
    for pk, key, is_scored in outputs.iterator(chunk_size=5000):
        if key not in seen:
            seen.add(key)
            if not is_scored:
                output_ids.append(pk)
    return Missing(len(seen), output_ids)


def load_chunk(signature: MetricSignature, output_ids: Sequence[int]) -> Chunk:
    """Read the texts of some outputs, less those that another run has scored meanwhile."""
    outputs = list(
        _unscored(signature, output_ids)
        .order_by("segment", "system")
        .values_list("pk", "content_key", "segment_id", "segment__source", "text")
    )
    references = _references({segment for _, _, segment, _, _ in outputs})
    return Chunk(
        [pk for pk, *_ in outputs],
        [key for _, key, *_ in outputs],
        [
            SegmentInput(source, text, references[segment])
            for _, _, segment, source, text in outputs
        ],
    )


def pack_ids(output_ids: Sequence[int]) -> bytes:
    """Pack ids as little-endian int64."""
    return np.asarray(output_ids, dtype="<i8").tobytes()


def load_plan(run_id: int) -> Sequence[int] | None:
    """Read the output ids of a run's plan; None once the run has ended."""
    packed = RunPlan.objects.filter(run=run_id).values_list("output_ids", flat=True).first()
    return None if packed is None else array("q", np.frombuffer(packed, dtype="<i8").tolist())


def describe_slice(lease: Lease) -> str:
    """Name what a lease is about for people: one text, or the first and the last of several."""
    if not lease.size:
        return "the start, while the metric was loaded or the texts were counted"
    output_ids = load_plan(lease.run_id) or []
    texts = output_ids[lease.first : lease.first + lease.size]
    if len(texts) == 1:
        return describe(texts[0])
    return f"{len(texts)} texts, from {describe(texts[0])} to {describe(texts[-1])}"


def describe(output_id: int) -> str:
    """Name an output for people: `segment 12 of prefix-token`."""
    output = Output.objects.select_related("segment", "system").get(pk=output_id)
    return f"segment {output.segment.key} of {output.system.name}"


def _is_scored(signature: MetricSignature) -> Exists:
    scores = SegmentScore.objects.filter(signature=signature, content_key=OuterRef("content_key"))
    return Exists(scores)


def _unscored(signature: MetricSignature, output_ids: Sequence[int]) -> QuerySet[Output]:
    return Output.objects.filter(~_is_scored(signature), pk__in=list(output_ids))


def _references(segments: set[int]) -> dict[int, tuple[str, ...]]:
    texts: defaultdict[int, tuple[str, ...]] = defaultdict(tuple)
    rows = Reference.objects.filter(segment__in=segments).order_by("segment", "name")
    for segment, text in rows.values_list("segment_id", "text"):
        texts[segment] += (text,)
    return texts
