"""Score each output with the fit of a sentinel that excluded its source.

This holds for every campaign. An output of a new source gets the mean of all fits.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from extensions.neural.encoding.ahead import score_in_slices
from extensions.neural.trained.options import LENGTHS, SOURCE, Array, load_sentinel
from metaeval.messages import message
from metrics import truncation
from metrics.base import (
    MeanOfSegments,
    MetricError,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.checkpoints import hashes
from metrics.options import OptionError, precision_of

if TYPE_CHECKING:
    from extensions.neural.sentence_vectors import SentenceEncoder

# Increase it with every change that alters a value.
REVISION = 2


class TrainedSentinel(MeanOfSegments):
    """Score with a sentinel; raise a permanent :class:`MetricError` for other encoder weights."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info, path = info, str(info.option("sentinel"))
        try:
            self.sentinel = load_sentinel(path)
        except OptionError as error:
            raise MetricError(error.problem, permanent=True) from error
        self.digest = hashes.of_file(Path(path))[:12]
        self.encoder = None
        if info.checkpoint:
            from extensions.neural.sentence_vectors import SentenceEncoder

            self.encoder = SentenceEncoder(info.checkpoint, precision_of(info))
            self.device = self.encoder.encoder.spec.device
        if (self.encoder.weights if self.encoder else "") != self.sentinel.encoder:
            problem = message(
                "sentinel.other-weights",
                "{metric}: {path} was fitted on other weights than those of {checkpoint}.",
                metric=info.label,
                path=path,
                checkpoint=info.checkpoint,
            )
            raise MetricError(problem, permanent=True)

    def signature(self) -> str:
        """Return everything that changes a value."""
        fields: dict[str, str | int] = {"reads": self.sentinel.reads, "sentinel": self.digest}
        if self.encoder:
            from extensions.neural.encoding import precision

            fields |= {"checkpoint": self.info.checkpoint, "weights": self.encoder.weights}
            fields |= precision.signature_fields(precision_of(self.info))
        return format_signature(self.info.name, fields | {"revision": REVISION})

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return predicted human scores, (n, 1)."""
        check_inputs(self.info, inputs)
        return score_in_slices(self._score, inputs, self._cut_ahead)

    def _cut_ahead(self, inputs: Sequence[SegmentInput]) -> None:
        if self.encoder:
            sources = self.sentinel.reads == SOURCE
            texts = (each.source if sources else each.hypothesis for each in inputs)
            self.encoder.encoder.pieces.keep(texts, spaced=False)

    def _score(self, inputs: Sequence[SegmentInput]) -> Scores:
        if not inputs:
            return np.zeros((0, 1))
        texts = [(each.source, each.hypothesis) for each in inputs]
        known = read_features(self.sentinel.reads, texts, self.encoder)
        predicted = np.column_stack([line.predict(known) for line in self.sentinel.lines])
        folds = [self.sentinel.fold_of.get(source_digest(source)) for source, _ in texts]
        rows = zip(predicted, folds, strict=True)
        return np.array([[row.mean() if fold is None else row[fold]] for row, fold in rows])


# Source and output.
Texts = Sequence[tuple[str, str]]


def source_digest(source: str) -> str:
    """Return 16 digits of the SHA-256 of a source, which identify it in the file."""
    return sha256(source.encode()).hexdigest()[:16]


def read_features(reads: str, texts: Texts, encoder: "SentenceEncoder | None") -> Array:
    """Return features, (n, width): a text's sentence vector, or three numbers of lengths.

    The latter are ln(1 + characters) of source and output, and the square of their difference.
    """
    if reads == LENGTHS or encoder is None:
        sizes = np.log1p([[len(text) for text in pair] for pair in texts]).reshape(-1, 2)
        return np.column_stack([sizes, (sizes[:, 0] - sizes[:, 1]) ** 2])
    chosen = [source if reads == SOURCE else output for source, output in texts]
    vectors = encoder.encode(chosen)
    return np.array([vectors[text] for text in chosen], dtype=np.float64)
