"""Bad references: texts with a random run of words replaced by a run of another text.

Source: Graham et al. 2017, "Can machine translation systems be evaluated by the crowd alone";
lengths as in their program `prep-hits/bad-refs.py`.
"""

import random
import unicodedata
from collections.abc import Sequence

from core.languages import is_character_based

# Texts of fewer units than the first number lose the second number of units.
RUNS = ((4, 1), (6, 2), (8, 3), (15, 4), (20, 5))
MOST_IN = 6
TRIES = 20
JOINERS = {"\u200c", "\u200d"}


def run_lengths(n: int) -> tuple[int, int]:
    """Return how many of `n` words are taken out, and how many are put in."""
    for below, length in RUNS:
        if n < below:
            return length, length
    return n // 4, min(n // 4, MOST_IN)


def degrade(text: str, donors: Sequence[str], language: str, rng: random.Random) -> str | None:
    """Replace a random run of words by a run of one of the donors.

    In Chinese, Japanese and other languages written without blanks the units are characters with
    their marks. In texts of three or more units the first and the last stay. Returns None where
    nothing different can be made: an empty text, or donors without anything new.
    """
    by_character = is_character_based(language)
    own = split_units(text, by_character)
    if not own or not donors:
        return None
    out, into = run_lengths(len(own))
    edge = 1 if len(own) >= 3 else 0
    for _ in range(TRIES):
        run = _run(split_units(rng.choice(donors), by_character), into, rng)
        start = rng.randint(edge, len(own) - edge - out)
        if run and [unit.strip() for unit in run] != [
            unit.strip() for unit in own[start : start + out]
        ]:
            units = [*own[:start], *run, *own[start + out :]]
            return ("" if by_character else " ").join(units).strip()
    return None


def _run(units: Sequence[str], length: int, rng: random.Random) -> Sequence[str]:
    """Return a random run of `length` units, or all of them if there are fewer."""
    start = rng.randint(0, max(0, len(units) - length))
    return units[start : start + length]


def split_units(text: str, by_character: bool) -> list[str]:
    """Split into words, or into characters that keep their marks and the blanks behind them."""
    if not by_character:
        return text.split()
    units: list[str] = []
    for character in text.strip():
        if units and (_continues(character) or units[-1][-1] in JOINERS):
            units[-1] += character
        else:
            units.append(character)
    return units


def _continues(character: str) -> bool:
    return (
        character.isspace()
        or character in JOINERS
        or unicodedata.category(character).startswith("M")
    )
