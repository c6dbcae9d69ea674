"""Scores in the database: packing, storing once per content, and reading them into arrays."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from django.db import connection, transaction
from django.db.models import Count, Max, Q, QuerySet

from annotation.models import Output, Segment, System, TestSet
from core.caching import Cache
from metrics import catalogue, documents
from metrics.base import IMPORTED, MetricInfo, Scores, ScoreWarning
from metrics.contents import find_tokenised, keys_of_run, warn_of_blanks
from metrics.documents import among_keys
from metrics.families import passages
from metrics.grid import Corpus, Grid, MeasureScores, ScoreTable, read_grid
from metrics.imported.held import imported_measures
from metrics.imported.naming import layer_of
from metrics.imported.storing import shown_imports
from metrics.models import MetricRun, MetricSignature, SegmentScore
from metrics.truncation import Counts, Mark

__all__ = [
    "Corpus",
    "MeasureScores",
    "ScoreTable",
    "latest_signatures",
    "load_scores",
    "pack",
    "store_scores",
    "system_scores",
    "unpack",
]
MARK = "is_truncated"
# The position of the newest run of the test set itself in the rank of a signature.
HERE = 2
_INTO = (
    f"INSERT INTO {SegmentScore._meta.db_table} "
    '(signature_id, content_key, "values", is_truncated) '
)
_INSERT = f"{_INTO} VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
# Arrays travel as they are in memory: twice the rows a second of one statement per row. Marks are
# texts, empty where nothing is known: an array of nulls alone has no type.
_INSERT_ARRAYS = (
    f"{_INTO} SELECT %s, name, packed, NULLIF(mark, '')::boolean FROM "  # noqa: S608
    "unnest(%b::varchar[], %b::bytea[], %b::varchar[]) AS given (name, packed, mark) "
    "ON CONFLICT DO NOTHING"
)
_MARKS = {None: "", False: "false", True: "true"}


# Twelve measures of 1,000,000 outputs, or 400 of 30,000.
BYTES = 96 * 2**20


class _Table(NamedTuple):
    """A metric's numbers over a grid; `n_scores` is the number of all scores of its signature."""

    table: Scores
    n_missing: int
    marks: Mapping[Mark, int]
    n_scores: int


_cache: Cache[_Table] = Cache(BYTES)


def pack(rows: Scores) -> list[bytes]:
    """Pack (n, width) scores as n strings of little-endian float64."""
    packed = np.ascontiguousarray(rows, dtype="<f8")
    buffer, step = packed.tobytes(), packed.shape[1] * packed.itemsize
    return [buffer[start : start + step] for start in range(0, len(buffer), step)]


def unpack(packed: Sequence[bytes | memoryview], width: int) -> Scores:
    """Return the (n, width) scores of n packed rows; ValueError where a row has another width."""
    flat = np.frombuffer(b"".join(packed), dtype="<f8")
    return flat.reshape(len(packed), width).astype(np.float64, copy=False)


def store_scores(
    signature: MetricSignature,
    keys: Sequence[str],
    rows: Scores,
    marks: Sequence[Mark] | None = None,
) -> None:
    """Store (n, width) scores of n contents at once; existing scores of a content are kept.

    `marks` tell which were truncated (:func:`metrics.truncation.marks`); without them this is
    unknown.
    """
    known = [None] * len(keys) if marks is None else marks
    # Sorted, so that two workers that store the same contents never wait for each other in a ring.
    values = sorted(zip(keys, pack(rows), known, strict=True), key=itemgetter(0))
    with transaction.atomic():
        if connection.vendor == "postgresql":
            _insert_arrays(signature.pk, values)
        else:
            with connection.cursor() as cursor:
                # Several times the speed of bulk_create, which builds an object a row.
                cursor.executemany(_INSERT, [(signature.pk, *value) for value in values])


def _insert_arrays(signature: int, values: Sequence[tuple[str, bytes, Mark]]) -> None:
    """Insert all rows by one statement; Django's own cursor would write them into its text."""
    from psycopg import Cursor

    keys, packed = [key for key, _, _ in values], [row for _, row, _ in values]
    marks = [_MARKS[mark] for _, _, mark in values]
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(_INSERT_ARRAYS, [signature, keys, packed, marks])


def load_scores(
    signature: MetricSignature, systems: Iterable[System], keys: Sequence[str]
) -> Scores:
    """Return (len(keys), width) scores in one query, nan where a content has none.

    `keys` are content keys of outputs of `systems`, in any order and number.
    """
    return _load(signature, systems, keys)[0]


def _load(
    signature: MetricSignature,
    systems: Iterable[System],
    keys: Sequence[str],
    *,
    is_by_content: bool = True,
) -> tuple[Scores, Counter[Mark]]:
    """Return (len(keys), width) scores, and the number of keys by the mark of their score."""
    rows = _scores_of(signature, systems) if is_by_content else _scores_by(signature, keys)
    stored = list(rows.values_list("content_key", "values", MARK))
    width = len(signature.measures) + len(signature.statistics)
    positions = {key: position for position, (key, _, _) in enumerate(stored)}
    index = np.array([positions.get(key, -1) for key in keys], dtype=np.intp)
    is_there = index >= 0
    found = np.full((len(keys), width), np.nan)
    found[is_there] = unpack([packed for _, packed, _ in stored], width)[index[is_there]]
    return found, Counter(stored[position][2] for position in index[is_there])


def _scores_of(signature: MetricSignature, systems: Iterable[System]) -> QuerySet[SegmentScore]:
    outputs = Output.objects.filter(system__in=list(systems)).order_by()
    return SegmentScore.objects.filter(
        signature=signature, content_key__in=outputs.values("content_key")
    ).order_by()


def _scores_by(signature: MetricSignature, keys: Iterable[str]) -> QuerySet[SegmentScore]:
    wanted = among_keys(sorted(set(keys)))
    return SegmentScore.objects.filter(signature=signature, content_key__in=wanted).order_by()


def truncation_of(run: MetricRun) -> Counts | None:
    """Count the truncated among the contents of a run, whichever run scored them.

    None as long as the run has no signature.
    """
    if run.signature is None:
        return None
    if run.info is not None and run.info.reads_documents:
        stored = _scores_by(run.signature, keys_of_run(run, run.info)[1])
    else:
        stored = _scores_of(run.signature, run.systems.all())
    rows = stored.values_list(MARK)
    return Counts.of(run.info, dict(rows.annotate(n=Count("pk"))))


def latest_signatures(test_set: TestSet) -> dict[str, MetricSignature]:
    """Return, by metric in registry order, the signature whose scores a test set shows.

    For imported scores: the newest import that is not withdrawn. For our own: the newest finished
    run on the test set, otherwise the newest finished run of its language pair, otherwise the
    newest run that has begun. Scores that depend on all references of a test set are only used for
    that set.
    """
    here, finished = Q(test_set=test_set), Q(status=MetricRun.Status.DONE)
    runs = MetricRun.objects.filter(
        test_set__source_language=test_set.source_language,
        test_set__target_language=test_set.target_language,
        signature__isnull=False,
    )
    ranked = (
        runs.order_by()
        .values("signature")
        .annotate(
            finished_here=Max("pk", filter=here & finished),
            finished=Max("pk", filter=finished),
            here=Max("pk", filter=here),
            newest=Max("pk"),
        )
        .values_list("signature", "finished_here", "finished", "here", "newest")
    )
    ranks = {signature: tuple(rank or 0 for rank in row) for signature, *row in ranked}
    signatures = MetricSignature.objects.in_bulk(ranks)
    infos = catalogue.infos(retired=True)
    best = {
        signatures[pk].metric: signatures[pk]
        for pk in sorted(ranks, key=ranks.__getitem__)
        if ranks[pk][HERE] or not _is_bound(infos.get(signatures[pk].metric))
    }
    best |= {name: row.signature for name, row in shown_imports(test_set).items()}
    return {metric: best[metric] for metric in infos if metric in best}


def _is_bound(info: MetricInfo | None) -> bool:
    return info is not None and info.depends_on_set


def measure_keys(test_set: TestSet) -> list[str]:
    """Return the keys of the measures that tables of a test set may show; reads no score."""
    infos = catalogue.infos(retired=True)
    return [
        key
        for metric, signature in latest_signatures(test_set).items()
        for key in signature.measures
        if _is_shown(infos[metric], key) and layer_of(infos[metric]) is None
    ]


def _is_shown(info: MetricInfo, key: str) -> bool:
    return key in info.table_measures or key not in info.measures


def system_scores(
    test_set: TestSet,
    systems: Iterable[System] | None = None,
    *,
    all_of: Collection[str] | None = None,
) -> ScoreTable:
    """Read every measure that has a score for outputs of `systems` (None: all of the set).

    With `all_of` only these metrics, but with all their measures instead of those shown in tables.
    Costs six queries, one for each metric that was run here, one for all that expect raw text,
    and one for all imported metrics.
    """
    chosen = tuple(test_set.systems.all() if systems is None else systems)
    segments = tuple(
        Segment.objects.filter(test_set=test_set).order_by("position").values_list("pk", flat=True)
    )
    grid, about_text = read_grid(chosen, segments), cache(partial(find_tokenised, chosen))
    signatures = latest_signatures(test_set)
    layers = _imported_layers(signatures) if all_of is None else frozenset()
    wanted = {
        metric: signature
        for metric, signature in signatures.items()
        if (metric not in layers if all_of is None else metric in all_of)
    }
    brought = imported_measures(wanted, chosen, segments, len(grid.keys))
    measures = {
        measure.key: measure
        for metric, signature in wanted.items()
        for measure in (
            [brought[metric]]
            if metric in brought
            else _measures(
                test_set, signature, chosen, grid, about_text, are_all=all_of is not None
            )
        )
    }
    return ScoreTable(chosen, segments, measures)


def _imported_layers(metrics: Iterable[str]) -> frozenset[str]:
    """Return the imported metrics that are layers of an encoder; tables leave them out."""
    imported = [metric for metric in metrics if metric.startswith(IMPORTED)]
    infos = catalogue.infos(retired=True) if imported else {}
    return frozenset(metric for metric in imported if layer_of(infos[metric]) is not None)


def _measures(
    test_set: TestSet,
    signature: MetricSignature,
    systems: Sequence[System],
    grid: Grid,
    about_text: Callable[[], tuple[ScoreWarning, ...]],
    *,
    are_all: bool,
) -> list[MeasureScores]:
    """Return the measures of one metric; none where no output has a score."""
    info = catalogue.get(signature.metric)
    table, n_missing, marks = _table(info, test_set, signature, systems, grid)
    if n_missing == len(grid.keys):
        return []
    corpora, width = _corpora(info, test_set, signature), len(signature.measures)
    warnings = about_text() if info.expects_raw_text else ()
    warnings += warn_of_blanks(info, test_set.target_language)
    warnings += Counts.of(info, marks).warnings(info.label)
    return [
        MeasureScores(
            key=key,
            label=dict(zip(info.measures, info.measure_labels, strict=True)).get(key, key),
            metric=info.name,
            signature=signature.signature,
            higher_is_better=info.higher_is_better,
            values=table[:, :, column],
            statistics=table[:, :, width:] if corpora else None,
            corpus=corpora[column] if corpora else None,
            n_outputs=len(grid.keys),
            n_missing=n_missing,
            warnings=warnings,
            own_family=info.variant_of,
            segment_family=info.same_segments_as,
            is_leading=key == info.leading_measure,
        )
        for column, key in enumerate(signature.measures)
        if are_all or _is_shown(info, key)
    ]


def _table(
    info: MetricInfo,
    test_set: TestSet,
    signature: MetricSignature,
    systems: Sequence[System],
    grid: Grid,
) -> tuple[Scores, int, Mapping[Mark, int]]:
    """Return systems × segments × numbers, the number of outputs without score, and scores by mark.

    Scores are only added, and a content has one: a full table is cached for ever, others until the
    signature has new scores.
    """
    key = (signature.pk, signature.signature, grid.state)
    cached = _cache.get(key)
    if cached is not None and not cached.n_missing:
        return cached.table, 0, cached.marks
    n_scores = SegmentScore.objects.filter(signature=signature).count()
    if cached is None or cached.n_scores != n_scores:
        keys, is_by_content = grid.keys, not info.reads_documents
        if not is_by_content:
            keys = documents.grid_keys(info, test_set, grid, grid.state[1])
        loaded, marks = _load(signature, systems, keys, is_by_content=is_by_content)
        n_missing = int(np.isnan(loaded).any(axis=1).sum())
        cached = _Table(grid.spread(loaded), n_missing, marks, n_scores)
        cached.table.flags.writeable = False
        _cache.put(key, cached, cached.table.nbytes)
    return cached.table, cached.n_missing, cached.marks


def _corpora(info: MetricInfo, test_set: TestSet, signature: MetricSignature) -> list[Corpus]:
    """Return a corpus function for each measure, or none where segments are averaged."""
    if not signature.statistics:
        return []
    if info.reads_documents:
        corpus = passages.corpus
    else:
        corpus = catalogue.load(
            signature.metric,
            source_language=test_set.source_language,
            target_language=test_set.target_language,
        ).corpus

    def corpus_of(column: int) -> Corpus:
        return lambda sums: corpus(sums)[:, column]

    return [corpus_of(column) for column in range(len(signature.measures))]
