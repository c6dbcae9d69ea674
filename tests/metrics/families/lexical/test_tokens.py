"""Tokenizers by language, held to rouge-score's default and to Unicode's scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.tokenizers import DefaultTokenizer

from metrics.families.lexical.tokens import (
    ascii_tokens,
    base_language,
    bleu_tokenizer,
    character_tokens,
    misses_words,
    rouge_tokenizer,
    unicode_tokens,
)
from metrics.registry import METRICS, configure


@pytest.mark.parametrize(
    ("code", "language"),
    [
        *[("zh", "zh"), ("zh-CN", "zh"), ("zh_Hant", "zh"), ("cmn", "zh"), ("zho_Hans", "zh")],
        *[("ja", "ja"), ("jpn_Jpan", "ja"), ("ko-KR", "ko"), ("eng", "en"), (" EN-gb ", "en")],
        *[("de", "de"), ("zu", "zu"), ("jam", "jam"), ("", "")],
    ],
)
def test_base_language(code, language):
    assert base_language(code) == language


@pytest.mark.parametrize(
    ("language", "tokenizer"),
    [("zh-TW", "zh"), ("ja", "ja-mecab"), ("ko", "ko-mecab"), ("en", "13a"), ("hi", "13a")],
)
def test_bleu_tokenizer(language, tokenizer):
    assert bleu_tokenizer(language) == tokenizer


def test_metrics_that_take_phrases_for_words():
    assert misses_words(METRICS["bleu"][0], "tha_Thai")
    assert misses_words(METRICS["ter"][0], "km")
    assert not misses_words(METRICS["ter"][0], "ja")  # split into characters
    assert not misses_words(METRICS["chrf"][0], "th")
    assert not misses_words(METRICS["bleu"][0], "zh")
    for tokenizer, does in (("13a", True), ("whitespace", True), ("zh", False)):
        options = {"metric": "sentbleu", "tokenizer": tokenizer}
        assert misses_words(configure("lexical", "own", "Own", options), "zh") is does
    assert misses_words(METRICS["sentbleu-wmt"][0], "lo")
    assert not misses_words(METRICS["bleu"][0], "ko")


@given(st.text())
def test_ascii_tokens_are_those_of_rouge_score(text):
    assert ascii_tokens(text) == DefaultTokenizer().tokenize(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_unicode_tokens_equal_the_default_on_ascii(text):
    assert unicode_tokens(text) == DefaultTokenizer().tokenize(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Мама мыла раму!", ["мама", "мыла", "раму"]),
        ("ذهب الولد، إلى المدرسة؟", ["ذهب", "الولد", "إلى", "المدرسة"]),
        ("मैं हिन्दी बोलता हूँ।", ["मैं", "हिन्दी", "बोलता", "हूँ"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("나는 학교에 간다.", ["나는", "학교에", "간다"]),
        ("Größe cafe\u0301 naïve_x", ["größe", "cafe\u0301", "naïve", "x"]),
        ("ภาษาไทย", ["ภ", "า", "ษ", "า", "ไ", "ท", "ย"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("3D打印iPhone15，28岁。", ["3d", "打", "印", "iphone15", "28", "岁"]),
        ("コーヒー、人々〇", ["コ", "ー", "ヒ", "ー", "人", "々", "〇"]),
        ("か\u3099", ["か\u3099"]),
        ("❤️ 😀 👩‍👧 — “”。", []),
        ("㌀⺀㊗", []),  # symbols, although of scripts without blanks
        ("", []),
    ],
)
def test_unicode_tokens_by_script(text, tokens):
    assert unicode_tokens(text) == tokens


def test_unicode_tokens_see_supplementary_han():
    assert unicode_tokens("𠮷野家") == ["𠮷", "野", "家"]


def test_character_tokens_drop_only_white_space():
    assert character_tokens("Ａ B\t。\u3000\n字") == ["ａ", "b", "。", "字"]


def test_rouge_tokenizer_by_language():
    assert rouge_tokenizer("en-US").tokenize is ascii_tokens
    for language in ("zh", "ja", "de", "th", "ko"):
        assert rouge_tokenizer(language).tokenize is unicode_tokens
