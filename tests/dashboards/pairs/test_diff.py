"""Differences of two texts: words, or characters where a script has no spaces."""

import pytest

from dashboards.pairs.page import clusters, difference, units


def others(first: str, second: str) -> tuple[list[str], list[str]]:
    left, right = difference(first, second)
    for pieces, text in ((left, first), (right, second)):
        assert "".join(piece.text for piece in pieces) == text
    return ([p.text for p in left if p.is_other], [p.text for p in right if p.is_other])


@pytest.mark.parametrize(
    ("first", "second", "left", "right"),
    [
        ("The cat sat.", "The dog sat.", ["cat"], ["dog"]),
        ("a b", "a b", [], []),
        ("don’t go", "do go", ["don’t"], ["do"]),
        ("", "new", [], ["new"]),
        ("诊所免费接种", "诊所提供接种", ["免费"], ["提供"]),
        ("猫が好き", "犬が好き", ["猫"], ["犬"]),
        ("แมวดำ", "แมวขาว", ["ดำ"], ["ขาว"]),
        ("Привет, мир", "Привет, мама", ["мир"], ["мама"]),
        ("naïve", "nai\u0308ve", ["naïve"], ["nai\u0308ve"]),
        ("प्रिय मित्र", "प्रिय शत्रु", ["मित्र"], ["शत्रु"]),
        ("50 off", "60 off", ["50"], ["60"]),
    ],
)
def test_what_differs(first: str, second: str, left: list[str], right: list[str]) -> None:
    assert others(first, second) == (left, right)


def test_marks_stay_with_their_letters() -> None:
    assert list(clusters("e\u0301x")) == ["e\u0301", "x"]
    assert list(units("nai\u0308ve ก็")) == ["nai\u0308ve", " ", "ก็"]
