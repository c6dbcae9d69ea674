"""Compare two token sequences bit-parallel, with Python's integers as bit vectors."""

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sacrebleu.metrics.bleu import BLEU

from metaeval.messages import message
from metrics.base import MetricError, MetricInfo
from metrics.families.lexical.tokens import bleu_tokenizer

# Split a text into words as BLEU's tokenizers do, for metrics that compare words.


@dataclass(frozen=True)
class WordTokenizer:
    """A function that splits a text into words; ``signature`` identifies it."""

    signature: str
    cut: Callable[[str], str]

    def __call__(self, text: str) -> tuple[str, ...]:
        return tuple(self.cut(text).split())


def word_tokenizer(choice: str, language: str) -> WordTokenizer:
    """Return the tokenizer of a choice; errors as :func:`bleu_of`."""
    bleu = bleu_of(choice, language)
    return WordTokenizer(bleu.tokenizer_signature, bleu.tokenizer)


def bleu_for(info: MetricInfo, language: str) -> BLEU:
    """Return sacrebleu's BLEU with the options of a metric; errors as :func:`bleu_of`."""
    options = dict(info.options)
    return bleu_of(
        str(options.get("tokenizer", "language")),
        language,
        lowercase=bool(options.get("lowercase", False)),
        model=str(options.get("tokenizer-model", "")),
    )


def bleu_of(choice: str, language: str, *, lowercase: bool = False, model: str = "") -> BLEU:
    """Return sacrebleu's BLEU with the tokenizer of a choice; ``model`` is that of flores200.

    Raises a permanent :class:`MetricError` where the package or the model of a tokenizer is
    missing.
    """
    name = bleu_tokenizer(language, choice)
    try:
        if name != "flores200":
            return BLEU(tokenize=name, lowercase=lowercase, force=True)
        bleu = BLEU(tokenize="none", lowercase=lowercase, force=True)
        bleu.tokenizer, bleu.tokenizer_signature = _flores200(model)
    except (RuntimeError, ImportError) as error:
        problem = message(
            "lexical.tokenizer-missing",
            "The tokenizer {tokenizer} is not installed: {command}",
            tokenizer=name,
            command="pip install -r requirements.txt",
        )
        raise MetricError(problem, permanent=True) from error
    return bleu


def _flores200(model: str) -> tuple[Callable[[str], str], str]:
    """Return sacrebleu's tokenizer flores200 and its signature, with the hash of its model.

    sacrebleu's own class downloads the model, and workers never use the network.
    """
    from sentencepiece import SentencePieceProcessor

    try:
        content = Path(model).read_bytes()
        pieces = SentencePieceProcessor(model_proto=content)
    except (OSError, RuntimeError) as error:
        problem = message(
            "lexical.tokenizer-model",
            "{path} cannot be read as a SentencePiece model.",
            path=model,
        )
        raise MetricError(problem, permanent=True) from error
    signature = f"flores200-{hashlib.sha256(content).hexdigest()[:12]}"
    return lambda text: " ".join(pieces.encode_as_pieces(text)), signature


def positions(tokens: Sequence[Hashable]) -> dict[Hashable, int]:
    """Map each token to an integer in which bit i is set if ``tokens[i]`` is that token."""
    masks: dict[Hashable, int] = {}
    for index, token in enumerate(tokens):
        masks[token] = masks.get(token, 0) | 1 << index
    return masks


def lcs_length(masks: dict[Hashable, int], size: int, tokens: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence of two sequences.

    ``masks`` and ``size`` are the :func:`positions` and the length of the other sequence. Hyyrö
    (2004), "Bit-parallel LCS-length computation revisited".
    """
    full = (1 << size) - 1
    row = full
    for token in tokens:
        match = masks.get(token)
        if match is not None:
            hit = row & match
            row = ((row + hit) | (row - hit)) & full
    return size - row.bit_count()


def edit_distance(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return the Levenshtein distance (insertion, deletion and substitution cost 1 each).

    Myers (1999), "A fast bit-vector algorithm for approximate string matching based on dynamic
    programming", in the form of Hyyrö (2003) for two whole sequences.
    """
    if not right:
        return len(left)
    masks, full, last = positions(right), (1 << len(right)) - 1, 1 << (len(right) - 1)
    up, down, distance = full, 0, len(right)
    for token in left:
        match = masks.get(token, 0)
        across = (((match & up) + up) ^ up) | match
        rise, fall = (down | ~(across | up)) & full, up & across
        distance += bool(rise & last) - bool(fall & last)
        rise, fall = rise << 1 | 1, fall << 1
        vertical = match | down
        up, down = (fall | ~(vertical | rise)) & full, rise & vertical & full
    return distance
