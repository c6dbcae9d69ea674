"""Whole numbers as people write them."""

import pytest

from core.text import key, whole


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("007", 7), ("123456789", 123456789), ("٣٢", 32), ("３", 3)],
)
def test_decimal_digits_of_any_script_are_a_number(text: str, number: int) -> None:
    assert whole(text) == number


@pytest.mark.parametrize("text", ["", " ", "-1", "+1", "1.0", "1_0", "²", "½", "ten", "1" * 10])
def test_anything_else_is_none(text: str) -> None:
    assert whole(text) is None


def test_more_digits_than_python_reads_are_none() -> None:
    """`int` refuses them with a ValueError, which a page would show as its own failure."""
    with pytest.raises(ValueError, match="4300 digits"):
        int("9" * 5000)
    assert whole("9" * 5000) is None
    assert key("9" * 5000) == 0


def test_the_number_of_a_row_fits_into_64_bits() -> None:
    assert key("9" * 18) == 10**18 - 1 < 2**63
