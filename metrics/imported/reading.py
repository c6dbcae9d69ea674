"""Read imported scores into arrays, and those of one output."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from annotation.models import Output, System
from metrics.base import Scores
from metrics.catalogue import infos
from metrics.measures import MeasureScores
from metrics.models import ImportedScores, MetricSignature


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


def of_output(signatures: Sequence[MetricSignature], output: Output) -> dict[int, float]:
    """Return the imported scores of one output by signature."""
    found = {}
    rows = ImportedScores.objects.filter(signature__in=signatures, system=output.system_id)
    for row in rows.order_by("signature"):
        place = np.flatnonzero(np.frombuffer(row.segments, "<i8") == output.segment_id)
        if len(place):
            found[row.signature_id] = float(np.frombuffer(row.values, "<f8")[place[0]])
    return found
