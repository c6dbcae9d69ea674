"""Token ids of many texts at once: by the fast tokenizer, where it cuts them as the slow one does.

The metric that comes of a training reads texts with the slow one, as bert-score does.
"""

from collections.abc import Sequence
from typing import Any

from extensions.neural.encoding.token_vectors import tokenize

# Number of texts whose encodings by the fast tokenizer are in memory at a time.
SLICE = 1_000
# Number of texts that both tokenizers cut before the fast one is trusted.
COMPARED = 200
# Words repeat; what is longer is a text without blanks.
MOST_WORDS, LONGEST_WORD = 200_000, 40
BARE = {"return_attention_mask": False, "return_token_type_ids": False}
Ids = list[int]


class Pieces:
    """Cuts texts, to `limit` ids at most, and words as the encoder in a folder does."""

    def __init__(self, slow: Any, folder: str, limit: int) -> None:
        self.slow, self.limit = slow, limit
        self.fast = slow if slow.is_fast else _fast(slow, folder)
        self._is_trusted = slow.is_fast
        self._words: dict[str, Ids] = {}

    def of_texts(self, texts: Sequence[str]) -> list[Ids]:
        """Return the ids of each text, special ones included."""
        self._compare(texts)
        if self.fast is None:
            return [self._slowly(text) for text in texts]
        found = list[Ids]()
        for start in range(0, len(texts), SLICE):
            found += self._at_once(texts[start : start + SLICE])
        return found

    def of_words(self, words: Sequence[str]) -> list[Ids]:
        """Return the ids of each single word, without special ones."""
        self._compare(words)
        new = [word for word in dict.fromkeys(words) if word not in self._words]
        found = dict(zip(new, _cut(self.fast or self.slow, new), strict=True))
        ids = [found[word] if word in found else self._words[word] for word in words]
        self._keep({word: cut for word, cut in found.items() if len(word) <= LONGEST_WORD})
        return ids

    def _keep(self, found: dict[str, Ids]) -> None:
        if len(self._words) + len(found) > MOST_WORDS:
            self._words.clear()
        self._words |= found

    def _slowly(self, text: str) -> Ids:
        return tokenize(self.slow, text, self.limit)

    def _at_once(self, texts: Sequence[str]) -> list[Ids]:
        stripped = [text.strip() for text in texts]
        cut = self.fast(stripped, max_length=self.limit, truncation=True, **BARE)["input_ids"]
        empty = self._slowly("")
        return [list(ids) if text else empty for text, ids in zip(stripped, cut, strict=True)]

    def _compare(self, texts: Sequence[str]) -> None:
        """Give the fast one up where it cuts one of the first texts, or a word of them, otherwise;
        those differ where an encoder's authors changed one of the two."""
        if self._is_trusted or self.fast is None or not texts:
            return
        sample = texts[:COMPARED]
        words = list(dict.fromkeys(word for text in sample for word in text.split()))
        is_same = self._at_once(sample) == [self._slowly(text) for text in sample]
        is_same = is_same and _cut(self.fast, words) == _cut(self.slow, words)
        self._is_trusted, self.fast = is_same, self.fast if is_same else None


def _cut(tokenizer: Any, words: list[str]) -> list[Ids]:
    found = list[Ids]()
    for start in range(0, len(words), SLICE):
        found += tokenizer(words[start : start + SLICE], add_special_tokens=False, **BARE)[
            "input_ids"
        ]
    return found


def _fast(slow: Any, folder: str) -> Any:
    """Load the fast tokenizer of a folder; None where there is none."""
    from transformers import AutoTokenizer, GPT2Tokenizer, RobertaTokenizer

    tokenizers: Any = AutoTokenizer
    is_spaced = isinstance(slow, GPT2Tokenizer | RobertaTokenizer)
    spaced = {"add_prefix_space": True} if is_spaced else {}
    try:
        return tokenizers.from_pretrained(
            folder, use_fast=True, local_files_only=True, trust_remote_code=False, **spaced
        )
    except Exception:
        return None
