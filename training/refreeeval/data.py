"""From parallel text to examples: sampled, split by source text, swapped, with degraded texts."""

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from extensions.neural.sentence_vectors import SentenceEncoder
from metaeval.messages import plural
from metrics.base import MetricError
from metrics.checkpoints import places
from training.contract import Corpus, JobError
from training.jobs.saving import write_whole
from training.perturbations.rules import has_rules, negatives
from training.refreeeval.recipe import Recipe

FEWEST_PAIRS = 20
# Measuring on more texts than this, for validation or at the end, costs time and adds little.
MOST_HELD_OUT = 400


@dataclass(frozen=True)
class Pair:
    """Two texts that translate each other, with their languages."""

    source: str
    target: str
    source_language: str
    target_language: str

    @property
    def swapped(self) -> "Pair":
        """The same pair in the other direction."""
        return Pair(self.target, self.source, self.target_language, self.source_language)


@dataclass(frozen=True)
class Example:
    """A source and k + 1 candidates, of which ``candidates[label]`` is the genuine one."""

    source: str
    candidates: tuple[str, ...]
    label: int


class Sampling(Protocol):
    """The settings of a recipe that choose pairs."""

    @property
    def sample(self) -> int: ...

    @property
    def held_out(self) -> float: ...

    @property
    def swapped(self) -> float: ...

    @property
    def seed(self) -> int: ...


@dataclass(frozen=True)
class Prepared:
    """What a level trains and validates on, and what a reader should know of it.

    Checkpoints are chosen on ``validation``; ``test`` is for what is reported.
    """

    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]
    report: dict[str, Any]
    data_hash: str


def prepare(corpora: Sequence[Corpus], recipe: Sampling) -> Prepared:
    """Sample and split; raises JobError if there are too few pairs.

    No text of a held-out pair, source or target, is trained on, so nothing leaks.
    """
    rng = random.Random(recipe.seed)
    pairs = [pair for corpus in corpora for pair in _sample(corpus, recipe.sample, rng)]
    if len(pairs) < FEWEST_PAIRS:
        raise JobError(
            plural(
                "refreeeval.too-few-pairs",
                "{n} pair is too few: at least {fewest} are needed.",
                "{n} pairs are too few: at least {fewest} are needed.",
                n=len(pairs),
                fewest=FEWEST_PAIRS,
            )
        )
    validation, test = _held_sources(pairs, recipe.held_out, rng)
    held = {text for pair in pairs if pair.source in validation | test for text in _texts(pair)}
    train = [pair for pair in pairs if not held.intersection(_texts(pair))]
    rng.shuffle(train)
    prepared = [[pair for pair in pairs if pair.source in part] for part in (validation, test)]
    joined = "".join(f"{each.sha256}:{recipe.sample};" for each in corpora)
    return Prepared(
        train,
        prepared[0],
        prepared[1],
        _report(corpora, recipe, [len(part) for part in (train, *prepared)]),
        hashlib.sha256(joined.encode()).hexdigest(),
    )


def _report(corpora: Sequence[Corpus], recipe: Sampling, counts: Sequence[int]) -> dict[str, Any]:
    languages = {row.target_language for row in corpora}
    if recipe.swapped:
        languages |= {row.source_language for row in corpora}
    return {
        "corpora": [{"name": each.name, "sha256": each.sha256} for each in corpora],
        **dict(zip(("train", "validation", "test"), counts, strict=True)),
        "without_rules": [each for each in sorted(languages) if not has_rules(each)],
    }


def _texts(pair: Pair) -> set[str]:
    return {pair.source, pair.target}


def _sample(corpus: Corpus, size: int, rng: random.Random) -> list[Pair]:
    chosen = list(corpus.pairs)
    if len(chosen) > size:
        chosen = rng.sample(chosen, size)
    return [
        Pair(source, target, corpus.source_language, corpus.target_language)
        for source, target in chosen
    ]


def _held_sources(
    pairs: Sequence[Pair], share: float, rng: random.Random
) -> tuple[set[str], set[str]]:
    """Draw source texts for validation and for the test, as many for each."""
    sources = sorted({pair.source for pair in pairs})
    n = min(max(3, round(share * len(sources) / 2)), MOST_HELD_OUT, len(sources) // 4)
    drawn = rng.sample(sources, 2 * n)
    return set(drawn[:n]), set(drawn[n:])


def swap(pairs: Sequence[Pair], share: float, seed: int) -> list[Pair]:
    """Return the pairs with a random share of them in the other direction (int(share × n))."""
    turned = set(random.Random(seed).sample(range(len(pairs)), int(share * len(pairs))))
    return [pair.swapped if place in turned else pair for place, pair in enumerate(pairs)]


def examples(pairs: Sequence[Pair], recipe: Recipe) -> tuple[list[Example], dict[str, int]]:
    """Return examples in the order of the pairs, and counts of failed perturbations.

    A pair that cannot be degraded is excluded and counted. Every pair has its own random state, so
    an example does not depend on the others.
    """
    found, counts = list[Example](), {"without_negatives": 0, "with_repeated_negatives": 0}
    for place, pair in enumerate(pairs):
        rng = random.Random(f"{recipe.seed}:{place}:{pair.target}")
        degraded = negatives(pair.target, pair.target_language, recipe.negatives, recipe.rule, rng)
        if degraded is None:
            counts["without_negatives"] += 1
            continue
        counts["with_repeated_negatives"] += degraded.n_repeated > 0
        label = rng.randrange(recipe.negatives + 1)
        texts = list(degraded.texts)
        texts.insert(label, pair.target)
        found.append(Example(pair.source, tuple(texts), label))
    return found, counts


def order(lengths: Sequence[int], batch: int, seed: int, epoch: int) -> list[list[int]]:
    """Return batches of places for one pass: random, but of similar length within a batch.

    Windows of 50 batches are sorted by length, so little is padded and every batch stays random.
    The last, smaller batch is kept.
    """
    rng = random.Random(f"{seed}:{epoch}")
    places = list(range(len(lengths)))
    rng.shuffle(places)
    window = 50 * batch
    batches = []
    for start in range(0, len(places), window):
        part = sorted(places[start : start + window], key=lengths.__getitem__)
        batches += [part[at : at + batch] for at in range(0, len(part), batch)]
    rng.shuffle(batches)
    return batches


TeacherCosines = NDArray[np.float32]
Vectors = NDArray[np.float32]
Report = Callable[[dict[str, Any]], None]
# Number of texts whose token vectors are in memory at a time.
SLICE = 1000
# To be raised whenever sentence vectors alter a value.
VECTORS = 2


def teacher_cosines(
    checkpoint: str,
    found: Sequence[Example],
    folder: Path,
    report: Report = lambda progress: None,
) -> TeacherCosines:
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


def teacher_vectors(
    checkpoint: str, texts: Sequence[str], folder: Path, report: Report = lambda progress: None
) -> Vectors:
    """Return (texts, width) vectors of distinct texts; otherwise as :func:`teacher_cosines`."""
    try:
        kept = folder / f"teacher-{_key(checkpoint, texts)}.npy"
        stored = _read(kept)
        if stored is not None and len(stored) == len(texts):
            return stored
        slices = _vectors(SentenceEncoder(checkpoint), texts, report)
        values: Vectors = np.concatenate([vectors.astype(np.float32) for vectors in slices])
    except MetricError as error:
        raise JobError(error.message) from error
    write_whole(kept, lambda file: np.save(file, values, allow_pickle=False), values.nbytes)
    return values


def _read(path: Path) -> TeacherCosines | None:
    """Read what an earlier attempt computed; None if it is missing or damaged."""
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (OSError, ValueError, EOFError):
        return None


def _key(checkpoint: str, found: Sequence[Example | str]) -> str:
    """Return a hash of what the values depend on: weights, texts, and the kind of vectors."""
    weights = places.fingerprint(places.find(checkpoint))
    return hashlib.sha256(repr([weights, list(found), VECTORS]).encode()).hexdigest()[:16]


def _compute(encoder: SentenceEncoder, found: Sequence[Example], report: Report) -> TeacherCosines:
    texts = list(dict.fromkeys(text for each in found for text in (each.source, *each.candidates)))
    place = {text: row for row, text in enumerate(texts)}
    vectors = _unit_vectors(encoder, texts, report)
    sources = vectors[[place[each.source] for each in found]]
    rows = np.array([[place[text] for text in each.candidates] for each in found])
    # Candidate by candidate: all vectors of all candidates at once would not fit in memory.
    columns = [np.einsum("nd,nd->n", sources, vectors[column]) for column in rows.T]
    return np.stack(columns, axis=1)


def _unit_vectors(encoder: SentenceEncoder, texts: Sequence[str], report: Report) -> TeacherCosines:
    """Return (texts, width) vectors of length 1."""
    slices = []
    for vectors in _vectors(encoder, texts, report):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        slices.append((vectors / np.maximum(norms, 1e-12)).astype(np.float32))
    unit: TeacherCosines = np.concatenate(slices)
    return unit


def _vectors(encoder: SentenceEncoder, texts: Sequence[str], report: Report) -> Iterator[Any]:
    """Yield (slice, width) vectors of distinct texts."""
    for start in range(0, len(texts), SLICE):
        report({"level": "teacher", "step": start, "total": len(texts)})
        part = texts[start : start + SLICE]
        encoded = encoder.encode(part)
        yield np.stack([encoded[text] for text in part])
