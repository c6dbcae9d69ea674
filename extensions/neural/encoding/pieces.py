"""Cut many texts into token ids at once, by the fast tokenizer where it cuts as the slow one does.

A metric reads texts as its official package does: with the slow tokenizer where there is one. The
fast one differs from it in rare characters, beside odd white space, in unknown pieces and where two
cuts weigh the same. So a text is cut fast if none of this is in it and every character in it, with
its combining marks, was cut alike by both; otherwise slowly. Imports no torch.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from itertools import islice
from threading import Lock
from typing import Any

import regex  # type: ignore[import-untyped]

# Fewer new texts are not worth loading a second tokenizer.
LEAST = 16
# Ids that are kept for other metrics on the same encoder, of words and of texts; 40 take a KiB.
KEPT = {False: 200_000, True: 20_000}
# What is longer is not a word but a text without blanks.
LONGEST_WORD = 40
# Number of texts whose encodings by the fast tokenizer are in memory at a time.
SLICE = 1_000
BARE = {"return_attention_mask": False, "return_token_type_ids": False, "verbose": False}
# White space other than single blanks, what looks like a special piece, and three equal parts in a
# row, of which several cuts weigh the same.
UNSURE = re.compile(r"[^\S ]|  |</?\w+>|\[\w+\]|(.{1,8})\1{2}")
CHARACTERS = regex.compile(r"\X")
# What both must cut alike before the fast one is used for anything.
PROBES = (
    "The quick brown fox doesn't jump over 12,345.67 lazy dogs (at 9:30)!",
    "Ünïcode naïve façade – “quoted”, co-operation & e-mail: a@b.org/x?y=1",
    "Größere Straßen für alle; ÀÉÎÕÜ çñø",
    "Быстрая коричневая лиса прыгает через ленивую собаку.",
    "敏捷的棕色狐狸跳过了懒狗。2024年,价格上涨了3.5%!",
    "すばやい茶色の狐がのろまな犬を飛び越える。",
    "빠른 갈색 여우가 게으른 개를 뛰어넘는다.",
    "الثعلب البني السريع يقفز فوق الكلب الكسول.",
    "तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है।",
    "Con cáo nâu nhanh nhẹn nhảy qua con chó lười biếng.",
)
Ids = list[int]
Key = tuple[str, bool]


class Pieces:
    """Cut texts as a tokenizer does; the fast one of its folder is loaded when many texts come.

    ``spaced`` is that of :func:`.token_vectors.tokenize`. Ids are kept, so that a thread can cut
    texts before they are needed.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.fast: Any = tokenizer if tokenizer.is_fast else None
        self._is_tried = bool(tokenizer.is_fast)
        self._special = [str(each) for each in getattr(tokenizer, "all_special_tokens", ())]
        self._special += [*tokenizer.get_added_vocab()] if self._special else []
        self._known: dict[bool, dict[Key, Ids]] = {True: {}, False: {}}
        self._is_alike: dict[bool, dict[str, bool]] = {True: {}, False: {}}
        self._lock = Lock()
        self._takes_space = _takes_space(tokenizer)

    def of_texts(
        self, texts: Iterable[str], limit: int, *, spaced: bool = True
    ) -> dict[str, tuple[Ids, bool]]:
        """Return the ids of each distinct text, special ones included, and if it was truncated.

        ``limit`` truncates, as that of the tokenizer does.
        """
        distinct = list(dict.fromkeys(texts))
        found = self._cut(distinct, spaced=spaced, whole=True)
        limit = min(self.tokenizer.model_max_length, limit)
        return {text: self._limited(text, found[text], limit, spaced) for text in distinct}

    def keep(self, texts: Iterable[str], *, spaced: bool = True) -> None:
        """Cut texts that :meth:`of_texts` will be asked for."""
        self._cut(list(dict.fromkeys(texts)), spaced=spaced, whole=True)

    def forget(self) -> None:
        """Drop all ids; the tokenizers stay."""
        self._known = {True: {}, False: {}}

    def of_words(self, words: Iterable[str], *, spaced: bool = False) -> dict[str, Ids]:
        """Return the ids of each distinct word without special ones."""
        return self._cut(list(dict.fromkeys(words)), spaced=spaced, whole=False)

    def _limited(self, text: str, ids: Ids, limit: int, spaced: bool) -> tuple[Ids, bool]:
        if len(ids) <= limit or not text.strip():
            return ids, False
        with self._lock:
            is_spaced = spaced and self._takes_space
            cut = self._slow(text.strip(), is_spaced, max_length=limit, truncation=True)
        return cut, True

    def _cut(self, texts: Sequence[str], *, spaced: bool, whole: bool) -> dict[str, Ids]:
        known, spaced = self._known[whole], spaced and self._takes_space
        found = {text: known.get((text, spaced)) for text in texts}
        missing = [text for text, ids in found.items() if ids is None]
        with self._lock if missing else nullcontext():
            for start in range(0, len(missing), SLICE):
                part = missing[start : start + SLICE]
                stripped = [text.strip() if whole else text for text in part]
                for text, ids in zip(part, self._at_once(stripped, spaced, whole), strict=True):
                    found[text] = ids
                    if whole or len(text) <= LONGEST_WORD:
                        known[text, spaced] = ids
            for key in list(islice(known, max(0, len(known) - KEPT[whole]) if missing else 0)):
                del known[key]
        return {text: ids for text, ids in found.items() if ids is not None}

    def _at_once(self, texts: Sequence[str], spaced: bool, whole: bool) -> list[Ids]:
        if not self._is_tried and len(texts) >= LEAST:
            self._try()
        found: dict[str, Ids] = {}
        if self.fast is not None:
            given = self._sure(texts, spaced)
            found = dict(zip(given, self._fast(given, spaced, whole), strict=True))
        return [
            found[text]
            if text in found and not self._is_unknown(found[text])
            else self._slow(text, spaced, add_special_tokens=whole)
            for text in texts
        ]

    def _is_unknown(self, ids: Ids) -> bool:
        return not self.tokenizer.is_fast and self.tokenizer.unk_token_id in ids

    def _try(self) -> None:
        """Load the fast tokenizer; keep it if it cuts alike what is sure."""
        self._is_tried = True
        self.fast = _load(self.tokenizer)
        if self.fast is None:
            return
        for spaced in {self._takes_space, False}:
            probes = self._sure(PROBES, spaced)
            if len(probes) < len(PROBES) / 2:
                self.fast = None
                return
            cut = self._fast(probes, spaced, whole=True)
            pairs = [
                each for each in zip(probes, cut, strict=True) if not self._is_unknown(each[1])
            ]
            if any(self._slow(text, spaced) != ids for text, ids in pairs):
                self.fast = None
                return

    def _sure(self, texts: Sequence[str], spaced: bool) -> list[str]:
        """Return the texts without what the two tokenizers may cut otherwise."""
        if self.tokenizer.is_fast:
            return [text for text in texts if text]
        known = self._is_alike[spaced]
        new = sorted({each for text in texts for each in _characters(text)} - known.keys())
        shown = [f"{each} a{each}b {each}{each}" for each in new]
        for each, probe, ids in zip(new, shown, self._fast(shown, spaced, False), strict=True):
            known[each] = ids == self._slow(probe, spaced, add_special_tokens=False)
        unsure = [*self._special, *(each for each, is_alike in known.items() if not is_alike)]
        search = re.compile("|".join([UNSURE.pattern, *map(re.escape, unsure)])).search
        return [text for text in texts if text and not search(text)]

    def _fast(self, texts: Sequence[str], spaced: bool, whole: bool) -> list[Ids]:
        if not texts:
            return []
        texts = [f" {text}" for text in texts] if spaced else list(texts)
        # Without truncation: asking a tokenizer to truncate changes it.
        if self.tokenizer.is_fast:
            return list(self.fast(texts, add_special_tokens=whole, **BARE)["input_ids"])
        read = self.fast.backend_tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        if not whole:
            return [each.ids for each in read]
        return [list(self.tokenizer.build_inputs_with_special_tokens(each.ids)) for each in read]

    def _slow(self, text: str, spaced: bool, **given: Any) -> Ids:
        before = {"add_prefix_space": True} if spaced else {}
        return list(self.tokenizer.encode(text, verbose=False, **given, **before))


def _characters(text: str) -> set[str]:
    """Return the characters of a text but blanks, with the marks that combine with them."""
    found = set(text) if text.isascii() else set(CHARACTERS.findall(text))
    return found - {" "}


def _takes_space(tokenizer: Any) -> bool:
    from transformers import GPT2Tokenizer, RobertaTokenizer

    return isinstance(tokenizer, GPT2Tokenizer | RobertaTokenizer)


def _load(tokenizer: Any) -> Any:
    """Load the fast tokenizer of a slow one's folder; None where there is none."""
    from transformers import AutoTokenizer

    tokenizers: Any = AutoTokenizer
    try:
        fast = tokenizers.from_pretrained(
            tokenizer.name_or_path, use_fast=True, local_files_only=True, trust_remote_code=False
        )
    except Exception:
        return None
    if not fast.is_fast:
        return None
    fast.backend_tokenizer.no_truncation()
    fast.backend_tokenizer.no_padding()
    return fast
