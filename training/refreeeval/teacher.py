"""Cosines of a sentence encoder, computed once for all examples and kept."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extensions.neural.sentence_vectors import SentenceEncoder
from metrics.base import MetricError
from metrics.checkpoints import places
from training.contract import JobError
from training.jobs.saving import write_whole
from training.refreeeval.data import Example

Cosines = NDArray[np.float32]
Report = Callable[[dict[str, Any]], None]
# Number of texts whose token vectors are in memory at a time.
SLICE = 1000
# To be raised whenever sentence vectors alter a value.
VECTORS = 2


def cosines(
    checkpoint: str,
    found: Sequence[Example],
    folder: Path,
    report: Report = lambda progress: None,
) -> Cosines:
    """Return (examples, k + 1) cosines of source and candidates, from the folder where kept.

    Every distinct text is encoded once; `report` gets their number. Raises JobError for a
    checkpoint that is missing or not a sentence encoder and for a full disk, and StoppedError if
    `report` does.
    """
    try:
        kept = folder / f"teacher-{_key(checkpoint, found)}.npy"
        stored = _read(kept)
        if stored is not None and stored.shape == (len(found), len(found[0].candidates)):
            return stored
        values = _compute(SentenceEncoder(checkpoint), found, report)
    except MetricError as error:
        raise JobError(error.message) from error
    write_whole(kept, lambda file: np.save(file, values, allow_pickle=False), values.nbytes)
    return values


def _read(path: Path) -> Cosines | None:
    """Read what an earlier attempt computed; None if it is missing or damaged."""
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (OSError, ValueError, EOFError):
        return None


def _key(checkpoint: str, found: Sequence[Example]) -> str:
    """Return a hash of what the cosines depend on: weights, texts, and the kind of vectors."""
    weights = places.fingerprint(places.find(checkpoint))
    return hashlib.sha256(repr([weights, list(found), VECTORS]).encode()).hexdigest()[:16]


def _compute(encoder: SentenceEncoder, found: Sequence[Example], report: Report) -> Cosines:
    texts = list(dict.fromkeys(text for each in found for text in (each.source, *each.candidates)))
    place = {text: row for row, text in enumerate(texts)}
    vectors = _unit_vectors(encoder, texts, report)
    sources = vectors[[place[each.source] for each in found]]
    rows = np.array([[place[text] for text in each.candidates] for each in found])
    # Candidate by candidate: all vectors of all candidates at once would not fit in memory.
    columns = [np.einsum("nd,nd->n", sources, vectors[column]) for column in rows.T]
    return np.stack(columns, axis=1)


def _unit_vectors(encoder: SentenceEncoder, texts: Sequence[str], report: Report) -> Cosines:
    """Return (texts, width) vectors of length 1."""
    slices = []
    for start in range(0, len(texts), SLICE):
        report({"level": "teacher", "step": start, "total": len(texts)})
        part = texts[start : start + SLICE]
        encoded = encoder.encode(part)
        vectors = np.stack([encoded[text] for text in part])
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        slices.append((vectors / np.maximum(norms, 1e-12)).astype(np.float32))
    return np.concatenate(slices)
