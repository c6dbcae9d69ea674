"""Compute COSINE: the cosine of the sentence vectors of an output and its source (or references).

Zhao et al. 2020 define the distance 1 - cos; here larger is better. A blank text has cosine 0. A
mapping (CLP, UMD) can map the source's vector into the space of the target language; it must have
been fitted for this encoder, its last layer and this direction. The mean log-likelihood under a
causal language model can be added: ``weight`` × cosine + ``lm-weight`` × (−mean NLL).

Directories of sentence-transformers are supported with the parts Transformer, Pooling (first token,
mean, mean by root of the length, maximum), Dense and Normalize, and equal that package within 1e-5
(tests). Other parts, and default prompts, are refused. For any other encoder the vector is the mean
of its last layer; LASER2 is read as published (:mod:`extensions.neural.laser`).
"""

from collections.abc import Sequence

import numpy as np

from extensions.neural import lm
from extensions.neural.encoding import precision
from extensions.neural.encoding.ahead import score_in_slices
from extensions.neural.mover import mapping
from extensions.neural.mover.mapping import Mapping
from extensions.neural.on_encoder import OnEncoder
from extensions.neural.sentence_vectors import SentenceEncoder, Vectors, cosine
from metaeval.messages import message
from metrics import truncation
from metrics.base import (
    MetricError,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.families import references
from metrics.options import precision_of

# Increase it with every change that alters a value.
REVISION = 2


class Cosine(OnEncoder):
    """Compute cosines for any languages.

    A mapping is refused in any direction but its own.
    """

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        self.sentences = SentenceEncoder(info.checkpoint, precision_of(info))
        self.encoder = self.sentences.encoder
        self.mapping = mapping.load_for(
            str(info.option("mapping")),
            self.encoder.model,
            layer=self.encoder.n_layers - 1,
            source=source_language,
            target=target_language,
        )
        if self.mapping:
            self._check_width(self.mapping)
        name = str(info.option("language-model"))
        self.language_model = lm.get(name) if name else None

    def _check_width(self, found: Mapping) -> None:
        width = len(self.sentences.encode(["a"])["a"])
        if found.width != width:
            folder = self.info.option("mapping")
            problem = message(
                "mapping.width",
                "The mapping in {folder} is for vectors of {fitted} numbers, but the encoder "
                "returns {width}.",
                folder=str(folder),
                fitted=found.width,
                width=width,
            )
            raise MetricError(problem, permanent=True)

    def signature(self) -> str:
        """Return everything that changes a value."""
        fields = self.sentences.fields() | {
            **precision.signature_fields(self.precision),
            "against": str(self.info.option("compare")),
            "mapping": self.mapping.digest if self.mapping else "no",
        }
        if self.language_model is not None:
            fields |= lm.signature_fields(self.language_model, self._coupling())
        fields |= references.field(self.info) | {"revision": REVISION}
        return format_signature(self.info.name, fields)

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return cosines, (n, 1).

        With a language model (n, 3): the cosine, both combined, and the model's term.
        """
        check_inputs(self.info, inputs)
        values = score_in_slices(self._cosines, inputs, self.cut_ahead)
        if self.language_model is None:
            return values
        read = self.language_model.read([segment.hypothesis for segment in inputs])
        term = lm.term(*read, "log-probability")[:, None]
        weight, lm_weight = self._coupling()
        return np.hstack([values, weight * values + lm_weight * term, term])

    def _coupling(self) -> tuple[float, float]:
        return float(self.info.option("weight")), float(self.info.option("lm-weight"))

    def _cosines(self, inputs: Sequence[SegmentInput]) -> Scores:
        others = [references.others(self.info, segment) for segment in inputs]
        left = self._map(self.sentences.encode(text for each in others for text in each))
        right = self.sentences.encode(segment.hypothesis for segment in inputs)
        if self.mapping:
            right = {text: self.mapping.apply_to_target(right[text][None])[0] for text in right}
        values = [
            references.one_of(self.info, [cosine(left[t], right[segment.hypothesis]) for t in each])
            for segment, each in zip(inputs, others, strict=True)
        ]
        return np.array(values, dtype=np.float64).reshape(-1, 1)

    def _map(self, vectors: Vectors) -> Vectors:
        if self.mapping is None:
            return vectors
        return {text: self.mapping.apply(vector[None])[0] for text, vector in vectors.items()}
