"""Text and sequences: counts in English, length and reading time, safe CSV cells, batches."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from core.languages import is_character_based

# The length of a text, and the shortest time in which it can be read.

# Silent reading of English non-fiction in words per minute (Brysbaert 2019, a meta-analysis of 190
# studies), and of Japanese, the faster of the two languages without blanks, in characters per
# minute (Trauzettel-Klosinski and Dietz 2012).
WORDS, CHARACTERS = 238, 357
# Factor by which skimming is assumed to be faster, to avoid false alarms.
GENEROUS = 4


def words_in(text: str, language: str) -> int:
    """Count words, or characters without blanks if the language is measured in those.

    >>> words_in("The harbour was quiet.", "en"), words_in("港口很 安静。", "zh")
    (4, 6)
    """
    return sum(map(len, text.split())) if is_character_based(language) else len(text.split())


def seconds_to_read(text: str, language: str) -> float:
    """Return the shortest time in which a text can be skimmed: a quarter of silent reading."""
    per_minute = CHARACTERS if is_character_based(language) else WORDS
    return 60 * words_in(text, language) / (GENEROUS * per_minute)


# Split long sequences into batches, so that they never have to be in memory as a whole.

T = TypeVar("T")


def batched(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size` rows, the last one shorter."""
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch


# Texts that are looked through together: one by one takes several times as long.
TOGETHER = 1_000


def has_sign(texts: Iterable[str], *signs: str) -> bool:
    """Return True if one of some texts has one of these signs.

    >>> has_sign(["Q & A", "fine"], "&", "<")
    True
    """
    together = map("".join, batched(texts, TOGETHER))
    return any(sign in whole for whole in together for sign in signs)


def pluralize(n: int, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 system`, `12,345 systems`.

    `many` is the plural, by default `one` with an s.
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def whole(text: str, digits: int = 9) -> int | None:
    """Return the number that a text of decimal digits in any script represents, or None.

    More than `digits` digits give None, because `int` raises ValueError for thousands of digits.
    """
    return int(text) if text.isdecimal() and len(text) <= digits else None


def key(text: str) -> int:
    """Return the primary key in a text, or 0, which is not the key of any row."""
    return whole(text, 18) or 0


FORMULAS = "=+-@\t\r\n＝＋－＠"
# How a cell begins that may have to be changed.
RISKY = frozenset(f"'{FORMULAS}")
DANGEROUS = re.compile(f"'*[{re.escape(FORMULAS)}]")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)")


def neutralise(value: object) -> str:
    """Return the cell to write for a value; numbers, also negative ones, stay numbers.

    >>> neutralise("=1+1"), neutralise(-1.5), neutralise("-1.5"), neutralise(None)
    ("'=1+1", '-1.5', '-1.5', '')
    """
    text = "" if value is None else str(value)
    if DANGEROUS.match(text) and not NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def restore(cell: str) -> str:
    """Return the original value of a cell that `neutralise` wrote.

    >>> restore(neutralise("=1+1")), restore(neutralise("'=1+1")), restore("'tis")
    ('=1+1', "'=1+1", "'tis")
    """
    return cell[1:] if cell.startswith("'") and DANGEROUS.match(cell) else cell
