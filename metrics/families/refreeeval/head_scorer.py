"""A linear head over features of a frozen encoder.

Features are precision, recall and F1 against the source at the chosen layers, the cosine of both
mean vectors at the highest, log(pieces + 1) of the output, and its difference from the source's.
"""

from collections.abc import Sequence

import numpy as np

from metrics import truncation
from metrics.base import (
    MetricError,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.checkpoints import hashes
from metrics.encoding import encoders, precision
from metrics.families.on_encoder import OnEncoder, encoder_fields
from metrics.families.refreeeval import features
from metrics.families.refreeeval.head_options import load
from metrics.families.slices import score_in_slices
from metrics.options import precision_of

# To be raised whenever a change here or in features.py alters a value.
REVISION = 2


class HeadScorer(OnEncoder):
    """Raises a permanent :class:`MetricError` where the head belongs to other weights."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        path = str(info.option("head"))
        try:
            self.head = load(path)
            text = "|".join(map(repr, vars(self.head).values()))
        except ValueError as error:
            raise MetricError(str(error), permanent=True) from error
        self.digest = hashes.of_text(text)[:12]
        self.encoder = encoders.get(info.checkpoint, precision=precision_of(info))
        if self.encoder.spec.weights != self.head.encoder:
            message = (
                f"{info.label}: {path} was fitted on other weights than {info.checkpoint} has."
            )
            raise MetricError(message, permanent=True)

    def signature(self) -> str:
        """Everything that changes a value."""
        fields: dict[str, str | int] = {
            "head": self.digest,
            **precision.signature_fields(self.precision),
            "revision": REVISION,
        }
        return format_signature(self.info.name, encoder_fields(self.encoder) | fields)

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 1) predicted human scores."""
        check_inputs(self.info, inputs)
        return score_in_slices(self._score, inputs)

    def _score(self, inputs: Sequence[SegmentInput]) -> Scores:
        if not inputs:
            return np.zeros((0, 1))
        pairs = [(segment.hypothesis, segment.source) for segment in inputs]
        found = features.read(self.encoder, pairs, self.head.layers)
        standard = (found - np.array(self.head.mean)) / np.array(self.head.scale)
        predicted = standard @ np.array(self.head.weights) + self.head.intercept
        return np.asarray(predicted)[:, None]
