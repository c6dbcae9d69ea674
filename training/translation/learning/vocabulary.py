"""Build a joint vocabulary of both languages with SentencePiece, for Marian's tokenizer.

Texts can be prepared as Cheng et al. (2023) give them to BPE: Moses' punctuation and tokens,
without escapes.
"""

import io
import json
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import regex  # type: ignore[import-untyped]
import sentencepiece
from langcodes import Language
from transformers import MarianTokenizer

from core.languages import is_character_based
from metaeval.messages import Message, message
from training.contract import JobError


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


END, UNKNOWN, PADDING = "</s>", "<unk>", "<pad>"
MODEL = "source.spm"
_HAN = regex.compile(r"\p{Han}")
_MOST = re.compile(r"value <= (\d+)")


@dataclass(frozen=True)
class Vocabulary:
    """The model of SentencePiece, its number of pieces and the requested number."""

    model: bytes
    n_pieces: int
    n_asked: int


def train(texts: Iterable[str], kind: str, size: int) -> Vocabulary:
    """Learn pieces; JobError if the text gives none.

    Each Chinese character is a piece. If the text has fewer pieces than requested, all are made.
    """
    lines = list(texts)
    han = sorted({sign for line in lines for sign in _HAN.findall(line)})
    found, asked = "", size + len(han)
    for n in (asked, None):
        try:
            model = _train(lines, kind, n if n is not None else _most(found), han)
        except RuntimeError as error:
            found = str(error)
            continue
        made = sentencepiece.SentencePieceProcessor(model_proto=model)
        return Vocabulary(model, made.get_piece_size(), size)
    raise JobError(_no_vocabulary(found))


def _most(refusal: str) -> int:
    """Return the largest size, which the error of SentencePiece names."""
    match = _MOST.search(refusal)
    if match is None:
        raise JobError(_no_vocabulary(refusal))
    return int(match[1])


def _no_vocabulary(reason: str) -> Message:
    return message(
        "mt.no-vocabulary",
        "No vocabulary could be built from this text: {reason}",
        reason=reason,
    )


def _train(lines: Sequence[str], kind: str, size: int, single: Sequence[str]) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type=kind,
        vocab_size=size,
        user_defined_symbols=list(single),
        character_coverage=1.0,
        # Corpora are in NFC with single spaces; NFKC would make Chinese punctuation Latin.
        normalization_rule_name="identity",
        num_threads=1,
        bos_id=-1,
        minloglevel=2,
    )
    return model.getvalue()


def write(
    vocabulary: Vocabulary,
    folder: Path,
    languages: tuple[str, str],
    n_lengths: int = 0,
    *,
    moses: bool = False,
) -> None:
    """Write the files of Marian's tokenizer, with tokens for lengths 1 to `n_lengths`.

    With `moses`, other programs refuse the tokenizer rather than leave Moses' tokens out.
    """
    made = sentencepiece.SentencePieceProcessor(model_proto=vocabulary.model)
    pieces = [made.id_to_piece(n) for n in range(made.get_piece_size())]
    rest = [piece for piece in pieces if piece not in (END, UNKNOWN)]
    lengths = [length_token(n) for n in range(1, n_lengths + 1)]
    every = [END, UNKNOWN, *rest, *lengths, PADDING]
    files: dict[str, Any] = {
        "vocab.json": {piece: n for n, piece in enumerate(every)},
        "tokenizer_config.json": {
            "tokenizer_class": (MosesMarianTokenizer if moses else MarianTokenizer).__name__,
            "source_lang": languages[0],
            "target_lang": languages[1],
            "model_max_length": 512,
            "separate_vocabs": False,
            "additional_special_tokens": lengths,
        },
    }
    for name, content in files.items():
        text = json.dumps(content, ensure_ascii=False, indent=0)
        (folder / name).write_text(text + "\n", encoding="utf-8")
    for name in (MODEL, "target.spm"):
        (folder / name).write_bytes(vocabulary.model)


def length_token(length: int) -> str:
    """Return the token that asks for a length."""
    return f"<len_{length}>"


class MosesMarianTokenizer(MarianTokenizer):
    """Splits Moses' tokens into pieces, and detokenises what it decodes."""

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        is_target = self.current_spm is self.spm_target
        language = self.target_lang if is_target else self.source_lang
        found: list[str] = super()._tokenize(tokenized(text, language), **kwargs)
        return found

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Return the detokenised text of pieces."""
        language = self.source_lang if self._decode_use_source_tokenizer else self.target_lang
        return detokenized(super().convert_tokens_to_string(tokens), language)


def load(folder: Path) -> Any:
    """Return the tokenizer of a folder."""
    settings = folder / "tokenizer_config.json"
    own = json.loads(settings.read_text(encoding="utf-8")) if settings.exists() else {}
    is_moses = own.get("tokenizer_class") == MosesMarianTokenizer.__name__
    with warnings.catch_warnings():
        # It would not use it.
        warnings.filterwarnings("ignore", "Recommended: pip install sacremoses")
        kind = MosesMarianTokenizer if is_moses else MarianTokenizer
        return kind.from_pretrained(folder, local_files_only=True)
