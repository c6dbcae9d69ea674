"""Read a run's distinct contents and their texts, one chunk at a time."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import BinaryField, Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Substr

from annotation.models import Output, Reference, System, TestSet
from annotation.models.corpus import in_order
from metaeval.messages import Message, message, plural, truncated
from metrics import documents
from metrics.base import MetricInfo, ScoreWarning, SegmentInput
from metrics.documents import among, among_keys, named_references
from metrics.families.lexical.tokens import misses_words
from metrics.grid import Grid, read_grid
from metrics.models import (
    FailedText,
    MetricRun,
    MetricSignature,
    RunPlan,
    SegmentScore,
    find_info,
)

# If this number of hypotheses of a corpus have this ending, sacrebleu takes them for tokenised.
TOKENISED_LINES, TOKENISED_END = 100, " ."


@dataclass(frozen=True)
class Missing:
    """The number of contents of a run, and one output for each content without a score.

    Outputs of one segment are adjacent, so that a metric prepares its references once.
    """

    total: int
    output_ids: Sequence[int]


@dataclass(frozen=True)
class Chunk:
    """Contents to score now: output ids, content keys and texts in the same order."""

    output_ids: list[int]
    keys: list[str]
    inputs: list[SegmentInput]


def find_missing(run: MetricRun, signature: MetricSignature) -> Missing:
    """Read the outputs of a run in one query; only ids are kept in memory.

    A metric that needs a reference skips the segments that have none. Those of a metric that reads
    documents are in the order of their systems, so that a window is mostly scored once.
    """
    if run.info is not None and run.info.reads_documents:
        return _find_missing_in_documents(run, run.info, signature)
    outputs = (
        _of_run(run)
        .annotate(is_scored=Exists(_scores(signature)))
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


def _find_missing_in_documents(
    run: MetricRun, info: MetricInfo, signature: MetricSignature
) -> Missing:
    grid, keys = keys_of_run(run, info)
    scored = SegmentScore.objects.filter(signature=signature, content_key__in=among_keys(keys))
    seen = {"", *scored.values_list("content_key", flat=True)}
    pks = grid.outputs.ravel()[grid.cells]
    output_ids = array("q")
    for at in np.argsort(grid.cells):
        if keys[at] not in seen:
            seen.add(keys[at])
            output_ids.append(int(pks[at]))
    return Missing(len(set(keys) - {""}), output_ids)


def keys_of_run(run: MetricRun, info: MetricInfo) -> tuple[Grid, list[str]]:
    """Return the outputs of a run and their keys in their documents."""
    segments = tuple(run.test_set.segments.order_by("position").values_list("pk", flat=True))
    grid = read_grid(tuple(run.systems.all()), segments)
    return grid, documents.grid_keys(info, run.test_set, grid, segments)


def _of_run(run: MetricRun, *, skipped: bool = False) -> QuerySet[Output]:
    """Return the outputs that a run scores, or those that it skips for lack of a reference."""
    outputs, info = Output.objects.filter(system__in=run.systems.all()), find_info(run.metric)
    if info is None or not info.needs_reference:
        return outputs.none() if skipped else outputs
    has_any = Exists(Reference.objects.filter(segment=OuterRef("segment")))
    return outputs.exclude(has_any) if skipped else outputs.filter(has_any)


def load_chunk(signature: MetricSignature, output_ids: Sequence[int]) -> Chunk:
    """Read the texts of some outputs, without those that another run has scored meanwhile."""
    info = find_info(signature.metric)
    if info is not None and info.reads_documents:
        return _load_documents(info, signature, output_ids)
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


def _load_documents(
    info: MetricInfo, signature: MetricSignature, output_ids: Sequence[int]
) -> Chunk:
    rows = documents.load(info, output_ids)
    keys = among_keys(key for _, key, _ in rows)
    stored = SegmentScore.objects.filter(signature=signature, content_key__in=keys)
    scored = set(stored.values_list("content_key", flat=True))
    left = [row for row in rows if row[1] not in scored]
    return Chunk([row[0] for row in left], [row[1] for row in left], [row[2] for row in left])


def references_of(test_set: TestSet) -> list[tuple[str, ...]]:
    """Return the references of every segment of a test set, in its order."""
    segments = list(test_set.segments.order_by("position").values_list("pk", flat=True))
    found = _references(set(segments))
    return [found[segment] for segment in segments]


def outputs_of(run: MetricRun) -> list[tuple[str, tuple[str, ...], list[str]]]:
    """Return source, references and distinct outputs of each segment of a run, in its order."""
    rows = _of_run(run).order_by("segment__position", "text")
    found: dict[tuple[int, str], list[str]] = {}
    for segment, source, text in rows.values_list("segment_id", "segment__source", "text"):
        texts = found.setdefault((segment, source), [])
        if text not in texts:
            texts.append(text)
    references = _references({segment for segment, _ in found})
    return [(source, references[segment], texts) for (segment, source), texts in found.items()]


def pack_ids(output_ids: Sequence[int]) -> bytes:
    """Pack ids as little-endian int64."""
    return np.asarray(output_ids, dtype="<i8").tobytes()


def load_part(run_id: int, first: int, size: int) -> Sequence[int]:
    """Read some output ids of a run's plan; none once the run has ended."""
    part = Substr("output_ids", first * 8 + 1, size * 8, output_field=BinaryField())
    packed = RunPlan.objects.filter(run=run_id).values_list(part, flat=True).first()
    ids: list[int] = np.frombuffer(packed or b"", dtype="<i8").tolist()
    return ids


def describe(output_id: int) -> Message:
    """Name an output for people: `segment 12 of prefix-token`."""
    output = Output.objects.select_related("segment", "system").get(pk=output_id)
    return message(
        "run.output",
        "segment {segment} of {system}",
        segment=output.segment.key,
        system=output.system.name,
    )


def failed_texts(run: MetricRun) -> QuerySet[FailedText]:
    """Return the texts that could not be scored, with their errors, in the order of the set."""
    rows = run.failed_texts.select_related("output__segment", "output__system")
    return rows.order_by("output__segment__position", "output__system__name", "pk")


def failed_outputs(signature: str) -> list[int]:
    """Return the outputs whose text failed in a run, with those of equal texts.

    Some may have been scored since.
    """
    failed = FailedText.objects.filter(run__signature__signature=signature)
    keys = failed.values("output__content_key")
    return list(Output.objects.filter(content_key__in=keys).values_list("pk", flat=True))


def find_tokenised(systems: Iterable[System]) -> tuple[ScoreWarning, ...]:
    """Return a warning if outputs of any of these systems look tokenised. One query.

    sacrebleu's BLEU warns of this (:mod:`sacrebleu.metrics.base`), but here it gets statistics
    segment by segment and never sees the corpus.
    """
    rows = (
        Output.objects.filter(system__in=list(systems), text__endswith=TOKENISED_END)
        .order_by("system__name")
        .values_list("system__name")
        .annotate(n=Count("pk"))
        .filter(n__gte=TOKENISED_LINES)
    )
    found = [
        plural(
            "scores.outputs-of", "{system} ({n} output)", "{system} ({n} outputs)", n=n, system=name
        )
        for name, n in rows
    ]
    if not found:
        return ()
    about = message(
        "scores.tokenised-outputs",
        "BLEU: the outputs of {systems} look tokenised: they end in a space and a full stop. "
        "BLEU tokenises texts itself, so detokenise the outputs before you upload them; otherwise "
        "the score may be too low.",
        systems=truncated(found),
    )
    return (ScoreWarning("tokenised_outputs", about),)


def warnings_of(run: MetricRun) -> tuple[ScoreWarning, ...]:
    """Return the warnings about the outputs that a run scores."""
    expects_raw_text = run.info is not None and run.info.expects_raw_text
    tokenised = find_tokenised(run.systems.all()) if expects_raw_text else ()
    words = warn_of_blanks(run.info, run.test_set.target_language) if run.info else ()
    if run.info is None or not run.info.reads_documents:
        return (*_without_reference(run), *words, *tokenised)
    keys = keys_of_run(run, run.info)[1]
    return documents.warnings_of(run.info, run.test_set, keys)


def warn_of_blanks(info: MetricInfo, target_language: str) -> tuple[ScoreWarning, ...]:
    """Return a warning if a metric takes phrases of this language for words."""
    if not misses_words(info, target_language):
        return ()
    about = message(
        "scores.no-blanks",
        "{metric} splits texts at blanks, but words of the target language ({language}) are not "
        "separated by blanks. Whole phrases count as words, so almost equal texts may get the "
        "worst score. Use chrF, or BLEU with the tokenizer characters or flores200.",
        metric=info.label,
        language=target_language,
    )
    return (ScoreWarning("no_blanks", about),)


def _without_reference(run: MetricRun) -> tuple[ScoreWarning, ...]:
    rows = _of_run(run, skipped=True).order_by("segment__position")
    keys = list(dict.fromkeys(rows.values_list("segment__key", flat=True)))
    if not keys:
        return ()
    about = plural(
        "scores.segments-without-reference",
        "{n} segment without a reference was skipped: {segments}.",
        "{n} segments without a reference were skipped: {segments}.",
        n=len(keys),
        segments=truncated(keys),
    )
    return (ScoreWarning("segments_without_reference", about),)


def _scores(signature: MetricSignature) -> QuerySet[SegmentScore]:
    """The score of an output's content."""
    return SegmentScore.objects.filter(signature=signature, content_key=OuterRef("content_key"))


def _unscored(signature: MetricSignature, output_ids: Sequence[int]) -> QuerySet[Output]:
    """Return some outputs without those that are scored.

    Each output is looked up separately. With an EXISTS, PostgreSQL joins and reads all scores of a
    signature again for each output, because it has no statistics of a new signature yet.
    """
    known = Subquery(_scores(signature).values("signature")[:1])
    rows = Output.objects.annotate(known=known)
    return rows.filter(known=None, pk__in=among(output_ids))


def _references(segments: set[int]) -> dict[int, tuple[str, ...]]:
    named = named_references(segments)
    return defaultdict(tuple, {segment: in_order(texts) for segment, texts in named.items()})
