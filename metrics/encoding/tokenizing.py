"""Tokenizers that are none, and those that do not belong to their model, are refused."""

from collections.abc import Callable
from typing import Any

from metrics.base import MetricError


def whole(load: Callable[[], Any]) -> Any:
    """Return what is loaded; ValueError where that is no tokenizer.

    Of a SentencePiece model that is not there or cut, transformers makes False or None, or an
    error of its own code that says nothing of the file.
    """
    try:
        tokenizer = load()
    except (AttributeError, TypeError) as error:
        raise ValueError("its tokenizer cannot be read") from error
    if tokenizer is None or isinstance(tokenizer, bool):
        raise ValueError("its tokenizer cannot be read")
    return tokenizer


def require_rows(checkpoint: str, tokenizer: Any, model: Any) -> None:
    """Raise a permanent :class:`MetricError` for a tokenizer with ids that have no embedding.

    Added tokens do not count: many language models come with a pad token that has none.
    """
    added = set(tokenizer.get_added_vocab().values())
    largest = max((each for each in tokenizer.get_vocab().values() if each not in added), default=0)
    rows = _rows(model)
    if rows is not None and largest >= rows:
        raise MetricError(
            f"The checkpoint {checkpoint} has {rows} embeddings, and its tokenizer ids up to "
            f"{largest}: they are not of one model.",
            permanent=True,
        )


def is_longer(tokenizer: Any, *texts: str, limit: int, **given: Any) -> bool:
    """Return whether a text, or a pair of texts in one sequence, has more tokens than a limit.

    To be asked only of what fills the limit when it is cut there: it tokenizes again.
    """
    return len(tokenizer(*texts, verbose=False, **given)["input_ids"]) > limit


def _rows(model: Any) -> int | None:
    """How many tokens have an embedding; None where a model embeds otherwise."""
    try:
        return int(model.get_input_embeddings().weight.shape[0])
    except (AttributeError, NotImplementedError):
        return None
