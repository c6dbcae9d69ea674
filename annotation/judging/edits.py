"""Measure how much of an output a post-edit changed."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from annotation.judging.answers import rated_text
from annotation.models import Item
from annotation.protocols import Protocol, Span
from metaeval.edits import edit_count


def hter(output: str, post_edit: str) -> float:
    """Return the edits from an output to its post-edit in percent of the post-edit's tokens.

    Human-targeted translation edit rate (Snover et al. 2006, section 4): insertions, deletions,
    substitutions and shifts of words; case and punctuation count, and scripts without blanks go by
    character. It exceeds 100 where more was taken away than was left.

    >>> hter("the cat sat on mat", "the cat sat on the mat")
    16.666666666666664
    """
    text, edited = (_tokenizer()(each.rstrip()).split() for each in (output, post_edit))
    edits = edit_count(text, edited)
    return 100 * (edits / len(edited) if edited else float(edits > 0))


@cache
def _tokenizer() -> Any:
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    return TercomTokenizer(normalized=True, asian_support=True, case_sensitive=True)


def edits_of(
    protocol: Protocol,
    item: Item,
    *,
    score: int | None,
    post_edit: str | None,
    spans: Sequence[Span],
) -> dict[str, float | None]:
    """Return HTER, and the penalty of an answer without a score: of its spans, or of its edits.

    `spans` are those of the answer that count.
    """
    edited = None if post_edit is None else hter(rated_text(item), post_edit)
    penalty = protocol.spans.penalty(spans) if protocol.spans else edited
    return {"hter": edited, "penalty": penalty if score is None else None}
