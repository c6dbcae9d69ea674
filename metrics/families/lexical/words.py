"""Split a text into words as BLEU's tokenizers do, for metrics that compare words."""

from collections.abc import Callable
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU

from metrics.base import MetricError
from metrics.families.lexical.bleu import tokenizer_missing
from metrics.families.lexical.tokens import bleu_tokenizer

# What an admin can choose -> sacrebleu's name; "language" follows the language of the text.
_NAMES = {"whitespace": "none", "13a": "13a", "characters": "char"}


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


def bleu_of(choice: str, language: str, *, lowercase: bool = False) -> BLEU:
    """Return sacrebleu's BLEU with the tokenizer of a choice.

    Raises a permanent :class:`MetricError` where the package of a tokenizer is missing.
    """
    name = _NAMES.get(choice) or bleu_tokenizer(language)
    try:
        return BLEU(tokenize=name, lowercase=lowercase, force=True)
    except RuntimeError as error:
        raise MetricError(tokenizer_missing(name, language), permanent=True) from error
