"""Compute MoverScore of outputs against references; both released versions, each text encoded once.

N-grams, transport and idf are as for XMoverScore. Weights are normalised to sum to one; the release
leaves 1e-5 for rounding. The checkpoint of the first version (BERT trained on MNLI) is not on a
hub; configure another.
"""

from collections.abc import Sequence

import torch

from extensions.neural.encoding import encoders, precision
from extensions.neural.encoding.token_vectors import Embedded
from extensions.neural.mover import matching
from extensions.neural.mover.matching import Side, Task
from extensions.neural.moverscore.options import VARIANTS
from extensions.neural.on_encoder import OnEncoder, encoder_fields
from metrics import truncation
from metrics.base import MetricInfo, Scores, SegmentInput, check_inputs, format_signature
from metrics.families import references
from metrics.options import precision_of

# Increase it with every change that alters a value.
REVISION = 3


class MoverScore(OnEncoder):
    """Score with the checkpoint of the description, for any languages."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info, self.options = info, dict(info.options)
        self.encoder = encoders.get(info.checkpoint, precision=precision_of(info))
        variant = VARIANTS[str(self.options["version"])]
        last = self.encoder.n_layers
        self.task = Task(
            label=info.label,
            encoder=self.encoder,
            layers=tuple(range(last - variant.n_layers, last)),
            definition=variant.definition,
            sizes=variant.sizes,
            vectors=self._vectors,
            idf=matching.read_idf(self.encoder, self.options, "idf-reference", "idf-hypothesis"),
        )

    def _vectors(self, text: Embedded, side: Side) -> torch.Tensor:
        states = [text.states[layer] for layer in self.task.layers]
        return states[0] if len(states) == 1 else power_means(torch.stack(states))

    def signature(self) -> str:
        """Return everything that changes a value."""
        fields: dict[str, str | int] = {
            **encoder_fields(self.encoder),
            **precision.signature_fields(self.precision),
            "version": str(self.options["version"]),
            "idf": self.task.idf_digests,
            **references.field(self.info),
            "revision": REVISION,
        }
        return format_signature(self.info.name, fields)

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return a score for each n-gram size, (n, sizes)."""
        check_inputs(self.info, inputs)
        singles, rows = references.apart(self.info, inputs)
        pairs = [(each.references[0], each.hypothesis) for each in singles]
        return references.pool(self.info, len(inputs), rows, matching.score(self.task, pairs))


def power_means(layers: torch.Tensor) -> torch.Tensor:
    """Join layers (layers, tokens, width) to (tokens, 3 × width).

    Each vector is scaled to length one; then minimum, mean and maximum over the layers are
    concatenated (Zhao et al. 2019, section 3.2).
    """
    unit = torch.nn.functional.normalize(layers, dim=-1)
    return torch.cat([unit.amin(0), unit.mean(0), unit.amax(0)], dim=-1)
