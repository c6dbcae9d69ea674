"""Measure texts in words, characters, or the tokens of a checkpoint."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.languages import is_character_based
from metaeval.messages import message
from metrics.base import MetricError
from metrics.checkpoints import places

WORDS, CHARACTERS = "words", "characters"
Length = Callable[[str], int]


def unit_of(language: str) -> str:
    """Return the default unit of length for a language."""
    return CHARACTERS if is_character_based(language) else WORDS


def counter(unit: str) -> Length:
    """Return a function that measures a text; blanks never count.

    `unit` is words, characters, or the name of a checkpoint whose tokenizer is used, without
    special tokens. Raises MetricError where the tokenizer cannot be loaded.
    """
    if unit == WORDS:
        return lambda text: len(text.split())
    if unit == CHARACTERS:
        return lambda text: sum(not sign.isspace() for sign in text)
    return _pieces(unit)


@lru_cache(maxsize=4)
def _pieces(checkpoint: str) -> Length:
    folder = Path(places.find(checkpoint))
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        about = message(
            "lengths.no-transformers",
            "The tokenizer of {checkpoint} needs transformers, which is not installed here.",
            checkpoint=checkpoint,
        )
        raise MetricError(about, permanent=True) from error
    load = AutoTokenizer.from_pretrained
    tokenizer: Any = load(folder, local_files_only=True)  # type: ignore[no-untyped-call]
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False))


def lengths(texts: Sequence[str], unit: str) -> list[int]:
    """Return the length of every text."""
    count = counter(unit)
    return [count(text) for text in texts]
