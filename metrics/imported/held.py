"""Hold the scores of one metric on one test set as stored under a signature."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from annotation.models import Output, Segment, System, TestSet
from annotation.uploads.drafts import FULL_LENGTH
from metrics.base import Scores
from metrics.catalogue import infos
from metrics.contents import pack_ids
from metrics.grid import MeasureScores
from metrics.models import ImportedScores, MetricSignature

BATCH = 500


DOCUMENT, DOMAIN = "document", "domain"


class Part(NamedTuple):
    """A document or a domain of a test set: its `level` and its name."""

    level: str
    name: str


# What a system's score is of: a segment, a document or domain, or the test set.
Unit = int | Part | None


@dataclass(frozen=True)
class MetricScores:
    """Scores by primary keys: system -> segment -> score of an output, system -> its own score.

    `parts` has scores of documents and domains: system -> part -> score.
    """

    outputs: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    systems: Mapping[int, float] = field(default_factory=dict)
    parts: Mapping[int, Mapping[Part, float]] = field(default_factory=dict)

    @property
    def n_outputs(self) -> int:
        """The number of scored outputs."""
        return sum(len(scores) for scores in self.outputs.values())

    @property
    def n_parts(self) -> int:
        """The number of scores of documents and domains."""
        return sum(len(scores) for scores in self.parts.values())

    @property
    def scored(self) -> set[int]:
        """The systems with a score."""
        return {*self.outputs, *self.systems, *self.parts}

    def cells(self) -> Iterator[tuple[tuple[int, Unit], float]]:
        """Yield every score by system and unit."""
        for system, scores in self.outputs.items():
            for segment, score in scores.items():
                yield (system, segment), score
        for system, score in self.systems.items():
            yield (system, None), score
        for system, own in self.parts.items():
            for part, score in own.items():
                yield (system, part), score

    def with_added(self, other: "MetricScores") -> "MetricScores":
        """Return both; if both have a score, the other's."""
        outputs = {
            system: {**self.outputs.get(system, {}), **other.outputs.get(system, {})}
            for system in self.outputs.keys() | other.outputs.keys()
        }
        parts = {
            system: {**self.parts.get(system, {}), **other.parts.get(system, {})}
            for system in self.parts.keys() | other.parts.keys()
        }
        return MetricScores(outputs, {**self.systems, **other.systems}, parts)


@dataclass(frozen=True)
class Names:
    """The names of the systems and segments of a test set.

    `systems` maps all names of a system: `name@0.8`, and `name` if only one length ratio has it.
    `has` are the (system, segment) pairs with an output. `parts` are the names of the documents and
    of the domains, by level, in the order of the test set.
    """

    systems: Mapping[str, int]
    segments: Mapping[str, int]
    has: frozenset[tuple[int, int]]
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def labels(self) -> dict[int, str]:
        """One name of each system."""
        return {pk: name for name, pk in self.systems.items()}

    @cached_property
    def keys(self) -> dict[int, str]:
        """The name of each segment."""
        return {pk: key for key, pk in self.segments.items()}


def names_of(test_set: TestSet) -> Names:
    """Read the names of a test set's systems and segments."""
    rows = System.objects.filter(test_set=test_set).order_by("-length_ratio", "name")
    known = list(rows.values_list("pk", "name", "length_ratio"))
    named = Counter(name for _, name, _ in known)
    systems = {f"{name}@{ratio.normalize():f}": pk for pk, name, ratio in known}
    systems |= {n: pk for pk, n, ratio in known if ratio == FULL_LENGTH or named[n] == 1}
    segments = list(
        Segment.objects.filter(test_set=test_set)
        .order_by("position")
        .values_list("key", "pk", DOCUMENT, DOMAIN)
    )
    outputs = Output.objects.filter(system__test_set=test_set).order_by()
    return Names(
        systems,
        {key: pk for key, pk, _, _ in segments},
        frozenset(outputs.values_list("system_id", "segment_id")),
        {
            DOCUMENT: list(dict.fromkeys(name for _, _, name, _ in segments if name)),
            DOMAIN: list(dict.fromkeys(name for _, _, _, name in segments if name)),
        },
    )


def digest(held: MetricScores, names: Names) -> str:
    """Hash the scores with their names: 128 bits of SHA-256, as 32 hexadecimal digits."""
    hashed = hashlib.sha256()
    for label, system in sorted((names.labels[pk], pk) for pk in held.scored):
        row = held.outputs.get(system, {})
        cells = sorted((names.keys[segment], score) for segment, score in row.items())
        own = [held.systems[system]] if system in held.systems else []
        parts = sorted(held.parts.get(system, {}).items())
        head = [label, len(own), [key for key, _ in cells], *([parts] if parts else [])]
        hashed.update(json.dumps(head).encode())
        hashed.update(np.array([*own, *(score for _, score in cells)], dtype="<f8").tobytes())
    return hashed.hexdigest()[:32]


def write(signature: MetricSignature, held: MetricScores) -> None:
    """Store scores under a new signature; those of other imports remain."""
    rows = [_row(signature, system, held) for system in sorted(held.scored)]
    ImportedScores.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)


def _row(signature: MetricSignature, system: int, held: MetricScores) -> ImportedScores:
    scores = sorted(held.outputs.get(system, {}).items())
    parts: dict[str, list[tuple[str, float]]] = {}
    for part, score in sorted(held.parts.get(system, {}).items()):
        parts.setdefault(part.level, []).append((part.name, score))
    return ImportedScores(
        signature=signature,
        system_id=system,
        value=held.systems.get(system),
        segments=pack_ids([segment for segment, _ in scores]),
        values=np.array([score for _, score in scores], dtype="<f8").tobytes(),
        parts=parts,
    )


def read(signature: MetricSignature) -> MetricScores:
    """Read the scores of a signature."""
    rows = list(ImportedScores.objects.filter(signature=signature).order_by("system"))
    return MetricScores(
        {
            row.system_id: dict(
                zip(
                    np.frombuffer(row.segments, "<i8").tolist(),
                    np.frombuffer(row.values, "<f8").tolist(),
                    strict=True,
                )
            )
            for row in rows
            if len(row.segments)
        },
        {row.system_id: row.value for row in rows if row.value is not None},
        {row.system_id: dict(_parts(row)) for row in rows if row.parts},
    )


def _parts(row: ImportedScores) -> Iterator[tuple[Part, float]]:
    for level, scores in row.parts.items():
        for name, score in scores:
            yield Part(level, name), score


# Read imported scores into arrays, and those of one output.


def imported_measures(
    signatures: Mapping[str, MetricSignature],
    systems: Sequence[System],
    segments: Sequence[int],
    n_outputs: int,
) -> dict[str, MeasureScores]:
    """Return, by metric, the imported measures among some signatures, in one query.

    Metrics without a score of these systems are absent.
    """
    stored = ImportedScores.objects.filter(
        signature__in=[row.pk for row in signatures.values()], system__in=systems
    ).order_by("signature", "system")
    rows: dict[int, list[ImportedScores]] = defaultdict(list)
    for row in stored:
        rows[row.signature_id].append(row)
    row_of = {system.pk: place for place, system in enumerate(systems)}
    known = infos(retired=True) if rows else {}
    return {
        metric: MeasureScores(
            key=metric,
            label=known[metric].label,
            metric=metric,
            signature=signature.signature,
            higher_is_better=known[metric].higher_is_better,
            values=(values := _grid(rows[signature.pk], row_of, segments)),
            statistics=None,
            corpus=None,
            n_outputs=n_outputs,
            n_missing=n_outputs - int((~np.isnan(values)).sum()),
            systems=_systems(rows[signature.pk], row_of),
            parts=_of_parts(rows[signature.pk], row_of),
            is_imported=True,
        )
        for metric, signature in signatures.items()
        if signature.pk in rows
    }


def _grid(
    rows: Sequence[ImportedScores], row_of: Mapping[int, int], segments: Sequence[int]
) -> Scores:
    """Return systems × segments, nan for missing scores."""
    grid = np.full((len(row_of), len(segments)), np.nan)
    order = np.argsort(segments)
    ascending = np.asarray(segments, dtype=np.int64)[order]
    for row in rows:
        ids = np.frombuffer(row.segments, "<i8")
        places = np.searchsorted(ascending, ids)
        grid[row_of[row.system_id], order[places]] = np.frombuffer(row.values, "<f8")
    return grid


def _systems(rows: Sequence[ImportedScores], row_of: Mapping[int, int]) -> Scores | None:
    """Return the system scores; None if none were imported."""
    scores = np.full(len(row_of), np.nan)
    for row in rows:
        if row.value is not None:
            scores[row_of[row.system_id]] = row.value
    return None if np.isnan(scores).all() else scores


def _of_parts(
    rows: Sequence[ImportedScores], row_of: Mapping[int, int]
) -> dict[tuple[str, str], Scores]:
    """Return the scores of each document and domain, one per system, nan without one."""
    found: dict[tuple[str, str], Scores] = {}
    for row in rows:
        for part, score in _parts(row):
            scores = found.setdefault(part, np.full(len(row_of), np.nan))
            scores[row_of[row.system_id]] = score
    return found


def of_output(signatures: Sequence[MetricSignature], output: Output) -> dict[int, float]:
    """Return the imported scores of one output by signature."""
    found = {}
    rows = ImportedScores.objects.filter(signature__in=signatures, system=output.system_id)
    for row in rows.order_by("signature"):
        place = np.flatnonzero(np.frombuffer(row.segments, "<i8") == output.segment_id)
        if len(place):
            found[row.signature_id] = float(np.frombuffer(row.values, "<f8")[place[0]])
    return found
