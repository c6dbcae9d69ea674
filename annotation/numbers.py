"""Whole numbers as people and programs write them."""


def whole(text: str, digits: int = 9) -> int | None:
    """Return the number that a text of decimal digits is, in any script; None for another text.

    Of some thousand digits `int` makes no number, but a ValueError.
    """
    return int(text) if text.isdecimal() and len(text) <= digits else None


def key(text: str) -> int:
    """Return the number of a row that a text names; 0, which no row has, for another text."""
    return whole(text, 18) or 0
