"""Find the documents of outputs, for metrics whose scores depend on them.

A score belongs to a segment in its document: its key is a hash of the contents of all segments of
the document, in order, and of the position among them. Segments without a document are alone. An
output has no score if its document is incomplete: if the system has no output for one of its
segments or, with a metric that needs a reference, if there is none by one name for all of them.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
from django.db import connection
from django.db.models import Q
from django.db.models.expressions import RawSQL

from annotation.models import Output, Reference, Segment, System, TestSet
from annotation.models.corpus import in_order
from metaeval.messages import plural
from metrics.base import MetricInfo, ScoreWarning, SegmentInput
from metrics.grid import Grid

Named = Mapping[str, str]
# The primary keys of the segments of a document, in order.
Document = tuple[int, ...]


def among(keys: Iterable[int]) -> RawSQL:
    """Return ids as one parameter; thousands of parameters would slow the query down."""
    if connection.vendor == "postgresql":
        return RawSQL("SELECT unnest(%s::bigint[])", (list(keys),))
    return RawSQL("SELECT value FROM json_each(%s)", (json.dumps(list(keys)),))


def among_keys(keys: Iterable[str]) -> RawSQL:
    """Return keys of contents as one parameter."""
    if connection.vendor == "postgresql":
        return RawSQL("SELECT unnest(%s::varchar[])", (list(keys),))
    return RawSQL("SELECT value FROM json_each(%s)", (json.dumps(list(keys)),))


def named_references(segments: Iterable[int]) -> dict[int, dict[str, str]]:
    """Return the references of segments by name."""
    rows = Reference.objects.filter(segment__in=among(segments)).order_by()
    named: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for segment, name, text in rows.values_list("segment_id", "name", "text"):
        named[segment][name] = text
    return named


def of_test_set(test_set: TestSet) -> list[Document]:
    """Return the documents of a test set, in the order of their first segments."""
    rows = Segment.objects.filter(test_set=test_set).order_by("position")
    found: dict[tuple[str, int], list[int]] = {}
    for pk, name in rows.values_list("pk", "document"):
        found.setdefault((name, 0 if name else pk), []).append(pk)
    return [tuple(each) for each in found.values()]


def has_several(test_set: TestSet) -> bool:
    """Return whether a document of a test set has several segments."""
    return any(len(each) > 1 for each in of_test_set(test_set))


def document_key(contents: Sequence[str], position: int) -> str:
    """Return the key of a segment from the content keys of its document."""
    digest = hashlib.sha256(f"{position} {' '.join(contents)}".encode())
    return digest.hexdigest()[:32]


def grid_keys(
    info: MetricInfo, test_set: TestSet, grid: Grid, segments: Sequence[int]
) -> list[str]:
    """Return the key of each output of a grid in its document; empty if that is incomplete."""
    column = {pk: number for number, pk in enumerate(segments)}
    contents = np.full(grid.outputs.size, "", dtype=object)
    contents[grid.cells] = list(grid.keys)
    contents = contents.reshape(grid.outputs.shape)
    found = np.full(contents.shape, "", dtype=object)
    for document in _with_references(info, of_test_set(test_set)):
        columns = [column[pk] for pk in document]
        for row, own in zip(found, contents[:, columns], strict=True):
            if all(own):
                row[columns] = [document_key(own, position) for position in range(len(own))]
    return list(found.ravel()[grid.cells])


def _with_references(info: MetricInfo, documents: Sequence[Document]) -> list[Document]:
    """Return the documents that have the references that a metric needs."""
    if not info.needs_reference:
        return list(documents)
    named = named_references(pk for each in documents for pk in each)
    return [each for each in documents if _shared(named, each)]


def _shared(named: Mapping[int, Named], document: Document) -> set[str]:
    """Return the names of references that all segments of a document have."""
    return set.intersection(*(set(named.get(pk, ())) for pk in document))


def load(info: MetricInfo, output_ids: Sequence[int]) -> list[tuple[int, str, SegmentInput]]:
    """Return outputs with their keys and their texts in their documents, by system and position.

    Outputs whose document is incomplete are omitted.
    """
    wanted = set(output_ids)
    asked = Output.objects.filter(pk__in=among(output_ids)).order_by()
    systems = System.objects.filter(pk__in=asked.values("system"))
    names = asked.exclude(segment__document="").values("segment__document")
    around = Q(system__in=systems, segment__document__in=names) | Q(pk__in=among(output_ids))
    rows = list(
        Output.objects.filter(around)
        .order_by("system", "segment__document", "segment__position")
        .values_list("pk", "system", "segment__document", "segment", *_TEXTS)
    )
    named = named_references({row[3] for row in rows})
    sizes, found = _sizes(systems), []
    for (_, name, _), group in groupby(rows, key=lambda row: (*row[1:3], row[2] or row[0])):
        own = list(group)
        shared = _shared(named, tuple(row[3] for row in own))
        if (name and len(own) != sizes[name]) or (info.needs_reference and not shared):
            continue
        contents = [row[-1] for row in own]
        document = tuple(
            SegmentInput(row[4], row[5], in_order({name: named[row[3]][name] for name in shared}))
            for row in own
        )
        for position, (row, each) in enumerate(zip(own, document, strict=True)):
            if row[0] in wanted:
                text = replace(each, document=document, position=position)
                found.append((row[0], document_key(contents, position), text))
    return found


_TEXTS = ("segment__source", "text", "content_key")


def _sizes(systems: Iterable[System]) -> Counter[str]:
    """Return the number of segments of each document of the test sets of some systems."""
    segments = Segment.objects.filter(test_set__systems__in=systems).order_by().distinct()
    return Counter(name for _, name in segments.values_list("pk", "document"))


def key_of(info: MetricInfo, output: Output) -> str:
    """Return the key of an output in its document; empty if that is incomplete."""
    found = load(info, [output.pk])
    return found[0][1] if found else ""


def warnings_of(
    info: MetricInfo, test_set: TestSet, keys: Sequence[str]
) -> tuple[ScoreWarning, ...]:
    """Return warnings about documents: from the keys of all outputs of a grid."""
    warnings = []
    if n := keys.count(""):
        about = plural(
            "scores.documents-incomplete",
            "{n} output was skipped, because an output or a reference is missing in its document.",
            "{n} outputs were skipped, because outputs or references are missing in their "
            "documents.",
            n=n,
        )
        warnings.append(ScoreWarning("documents_incomplete", about))
    if n := sum(len(each) == 1 for each in of_test_set(test_set)):
        about = plural(
            "scores.documents-of-one",
            "{n} segment is alone in its document: {metric} scores it without context.",
            "{n} segments are alone in their documents: {metric} scores them without context.",
            n=n,
            metric=info.label,
        )
        warnings.append(ScoreWarning("documents_of_one", about))
    return tuple(warnings)
