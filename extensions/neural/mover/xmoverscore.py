"""Compute XMoverScore of outputs against sources for every n from one encoder pass.

An n-gram vector is the mean of adjacent chosen pieces, scaled to length one; a text with fewer than
n pieces is one n-gram. The two special tokens are included. Problems with equal weights and lengths
are assignments; the others use POT's network simplex. Tests compare with POT (1e-9) and with a
linear program. Idf weights come from a corpus file with one sentence per line. The flow dropout of
the 2022 code drops flows below a threshold that depends on rounding errors; here it is off by
default.

Any causal language model can be used; the paper uses ``gpt2``. Its term covers pieces 2, 3, …
without a start token, truncated to 1,024 pieces, and is added as weight × similarity + LM weight ×
term. A text of at most one piece gets ln(vocabulary) as its mean NLL; the 2020 code gives it 0, the
best possible value.

Empty texts get the lowest score of the definition. Texts are truncated to the limit of the
tokenizer, 512 pieces for multilingual BERT. A mapping of another encoder, layer or direction is
refused.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from extensions.neural import lm
from extensions.neural.encoding import encoders, precision
from extensions.neural.encoding.token_vectors import Embedded
from extensions.neural.mover import mapping, matching
from extensions.neural.mover.matching import Side, Task, Tensor
from extensions.neural.mover.options import SIZES, VARIANTS, definition
from extensions.neural.on_encoder import OnEncoder, encoder_fields
from metrics import truncation
from metrics.base import MetricInfo, Scores, SegmentInput, check_inputs, format_signature
from metrics.options import precision_of

# Increase it with every change that alters a value.
REVISION = 3


class XMoverScore(OnEncoder):
    """Score texts of any languages; a mapping is refused in another direction than its own."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info, self.options = info, dict(info.options)
        self.encoder = encoders.get(info.checkpoint, precision=precision_of(info))
        self.layer = int(self.options["layer"])
        self.mapping = mapping.load_for(
            str(self.options["mapping"]),
            self.encoder.model,
            layer=self.layer,
            source=source_language,
            target=target_language,
        )
        name = str(self.options["language-model"])
        self.language_model = lm.get(name) if name else None
        self.task = Task(
            label=info.label,
            encoder=self.encoder,
            layers=(self.layer,),
            definition=definition(self.options),
            sizes=SIZES,
            vectors=self._vectors,
            idf=matching.read_idf(self.encoder, self.options, "idf-source", "idf-target"),
        )

    def _vectors(self, text: Embedded, side: Side) -> Tensor:
        states = text.states[self.layer]
        if self.mapping is None:
            return states
        apply = self.mapping.apply if side == "left" else self.mapping.apply_to_target
        # A mapping may remove most of a vector, which would leave few digits in single precision.
        return cast(Tensor, apply(states.double()))

    def signature(self) -> str:
        """Return everything that changes a value."""
        fields: dict[str, str | int] = {
            **encoder_fields(self.encoder),
            **precision.signature_fields(self.precision),
            "definition": str(self.options["definition"]),
            "layer": self.layer,
            "distance": self.task.definition.distance,
            "dropout": f"{self.task.definition.dropout:g}",
            "mapping": self.mapping.digest if self.mapping else "no",
            "idf": self.task.idf_digests,
        }
        if self.language_model is not None:
            fields |= lm.signature_fields(self.language_model, self._coupling())
        return format_signature(self.info.name, {**fields, "revision": REVISION})

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return unigram and bigram scores, (n, 2).

        With a language model (n, 5): both scores, both combined with its term, and the term alone.
        """
        check_inputs(self.info, inputs)
        pairs = [(each.source, each.hypothesis) for each in inputs]
        if self.language_model is None:
            return matching.score(self.task, pairs)
        similarities = matching.score(self.task, pairs, self._read_ahead)
        form = VARIANTS[str(self.options["definition"])].lm_form
        read = self.language_model.read([each.hypothesis for each in inputs])
        term = lm.term(*read, form)[:, None]
        return np.hstack([similarities, couple(similarities, term, *self._coupling()), term])

    def _read_ahead(self, pairs: Sequence[tuple[str, str]]) -> None:
        if self.language_model is not None:
            self.language_model.begin([output for _, output in pairs])

    def _coupling(self) -> tuple[float, float]:
        return float(self.options["weight"]), float(self.options["lm-weight"])


def couple(similarity: Scores, term: Scores, weight: float, lm_weight: float) -> Scores:
    """Add the term of the language model (Zhao et al. 2020, section 3.3)."""
    return weight * similarity + lm_weight * term
