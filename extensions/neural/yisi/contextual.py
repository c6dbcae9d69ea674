"""Compute YiSi (Lo 2019) over an encoder's pieces.

Semantic roles are not used. Similarity is the cosine, at least 0. P and R are each the largest
over references; the score is P R / (α P + (1 − α) R).
"""

from collections.abc import Sequence

from extensions.neural.encoding import encoders, precision
from extensions.neural.encoding.token_vectors import embed, fetch_states, tokenize
from extensions.neural.on_encoder import OnEncoder, check_layer, encoder_fields
from extensions.neural.static_vectors import of_pieces
from extensions.neural.yisi.core import Compare, Yisi, by_vectors, load_tables
from metrics.base import MetricInfo
from metrics.options import precision_of

# To be raised whenever a change here or in base.py alters a value of pieces.
REVISION = 2


class YisiContextual(OnEncoder, Yisi):
    """Compare pieces without special tokens, with the encoder and layer of the options."""

    revision = REVISION

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        super().__init__(info)
        self.layer = int(info.option("layer"))
        self.encoder = encoders.get(info.checkpoint, precision=precision_of(info))
        check_layer(info, self.encoder, self.layer)
        self.tables = load_tables(info, self._cut, self._cut)

    def fields(self) -> dict[str, str | int]:
        return (
            encoder_fields(self.encoder)
            | {"layer": self.layer}
            | precision.signature_fields(self.precision)
        )

    def prepare(self, outputs: Sequence[str], others: Sequence[str]) -> Compare:
        found = embed(self.encoder, [*outputs, *others], [self.layer])
        states = fetch_states(found, self.layer)
        words = {text: of_pieces(each, states[text]) for text, each in found.items()}

        return lambda other, output: (
            by_vectors(words[other], words[output]),
            words[other].forms,
            words[output].forms,
        )

    def _cut(self, text: str) -> Sequence[str]:
        tokenizer = self.encoder.tokenizer
        pieces: list[str] = tokenizer.convert_ids_to_tokens(tokenize(tokenizer, text))
        return [
            piece for piece in pieces if piece not in (tokenizer.cls_token, tokenizer.sep_token)
        ]
