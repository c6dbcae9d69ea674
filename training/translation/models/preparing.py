"""Texts as Cheng et al. (2023) give them to BPE: Moses' punctuation and tokens, without escapes.

Languages written without blanks stay as they are: their characters are pieces. Outputs are
detokenised; a round trip changes quotes, dashes and blanks as Moses does.
"""

from functools import cache
from typing import Any

from langcodes import Language

from core.languages import is_character_based


def tokenized(text: str, language: str) -> str:
    """Return the text with normalised punctuation, its tokens between blanks."""
    if is_character_based(language):
        return text
    normalizer, tokenizer, _ = _tools(language)
    tokens = tokenizer.tokenize(normalizer.normalize(text), return_str=True, escape=False)
    return str(tokens)


def detokenized(text: str, language: str) -> str:
    """Return the text of tokens between blanks."""
    if is_character_based(language):
        return text
    return str(_tools(language)[2].detokenize(text.split(), unescape=False))


@cache
def _tools(language: str) -> tuple[Any, Any, Any]:
    """Return sacremoses' tools for a language; it treats those that it does not know as English."""
    # Models without Moses' tokens do without the package.
    from sacremoses import (  # type: ignore[import-untyped]
        MosesDetokenizer,
        MosesPunctNormalizer,
        MosesTokenizer,
    )

    code = Language.get(language).language or language
    return MosesPunctNormalizer(code), MosesTokenizer(code), MosesDetokenizer(code)
