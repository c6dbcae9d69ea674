"""Traps keep only the leading words, or characters in Chinese and Japanese."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.controls import cut_text


@pytest.mark.parametrize(
    ("text", "ratio", "language", "expected"),
    [
        ("one two three four five six seven eight nine ten", "0.8", "en",
         "one two three four five six seven eight"),
        ("one two three four five", "0.5", "en", "one two three"),  # 2.5 rounds up
        ("one two", "0.8", "en", "one"),  # never the whole text
        ("one two three", "0.05", "en", "one"),  # never nothing
        ("港口今天早上很安静。", "0.5", "zh", "港口今天早"),
        ("港口今天早上很安静。", "0.8", "zh-Hant", "港口今天早上很安"),
        ("私は 学生です。", "0.5", "ja", "私は 学生"),  # the blank is no character
        ("Die  Halle\twar  leer", "0.5", "de", "Die Halle"),
    ],
)  # fmt: skip
def test_cut(text: str, ratio: str, language: str, expected: str) -> None:
    assert cut_text(text, Decimal(ratio), language) == expected


@pytest.mark.parametrize(("text", "language"), [("word", "en"), ("", "en"), ("字", "zh")])
def test_too_short(text: str, language: str) -> None:
    assert cut_text(text, Decimal("0.5"), language) is None


@given(
    words=st.lists(st.text("abcdeé港", min_size=1, max_size=6), min_size=2, max_size=60),
    ratio=st.decimals("0.05", "0.95", places=2),
)
def test_cut_is_a_proper_beginning(words: list[str], ratio: Decimal) -> None:
    cut = cut_text(" ".join(words), ratio, "en")
    assert cut is not None
    kept = cut.split(" ")
    assert kept == words[: len(kept)]
    assert 1 <= len(kept) < len(words)
    assert (
        len(kept) == 1
        or abs(len(kept) - float(ratio) * len(words)) <= 0.5 + 1e-9
        or (len(kept) == len(words) - 1)
    )
