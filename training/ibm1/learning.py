"""Learn IBM model 1 by expectation maximisation (Brown et al. 1993), with an empty source word."""

import re
from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from core.languages import is_character_based
from training.ibm1.options import BLANKS, CHARACTERS, About, Table

EMPTY = ""
# Pairs whose links are counted at once.
SLICE = 2_000
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def units_of(text: str, about: About, language: str) -> list[str]:
    """Return the units of a text, n-grams of them for n above 1.

    A text of fewer than n units has one n-gram of all.
    """
    text = text.lower() if about.lower else text
    if about.units == BLANKS:
        units = text.split()
    elif about.units == CHARACTERS or is_character_based(language):
        units = [sign for sign in text if not sign.isspace()]
    else:
        units = _WORD_OR_MARK.findall(text)
    n = min(about.n, len(units))
    return [" ".join(units[at : at + n]) for at in range(len(units) - n + 1)] if n else []


def learn(
    pairs: Sequence[tuple[str, str]],
    about: About,
    report: Callable[[int], None] = lambda step: None,
) -> Table:
    """Return t(target | source) after the iterations, from equal probabilities on.

    Every target unit is linked to every source unit and to the empty word. Pairs with an empty side
    are ignored; ValueError if none is left.
    """
    sources, targets = {EMPTY: 0}, dict[str, int]()
    sides = [
        (
            [0, *_numbers(units_of(source, about, about.source_language), sources)],
            _numbers(units_of(target, about, about.target_language), targets),
        )
        for source, target in pairs
    ]
    sides = [(s, t) for s, t in sides if len(s) > 1 and t]
    if not sides:
        raise ValueError("no pair has units on both sides")
    width = len(targets)
    slices = [_links(sides[at : at + SLICE], width) for at in range(0, len(sides), SLICE)]
    keys = np.unique(np.concatenate([np.unique(each) for each, _ in slices]))
    entries = [(np.searchsorted(keys, each), groups) for each, groups in slices]
    rows, columns = keys // width, keys % width
    values: Floats = np.full(len(keys), 1.0 / width)
    for step in range(about.iterations):
        report(step)
        counts = np.zeros(len(keys))
        for places, groups in entries:
            share = values[places]
            share /= np.bincount(groups, share)[groups]
            counts += np.bincount(places, share, minlength=len(keys))
        values = counts / np.bincount(rows, counts)[rows]
    return Table(about, tuple(sources), tuple(targets), rows, columns, values)


def _numbers(units: Sequence[str], known: dict[str, int]) -> list[int]:
    fresh = count(len(known))
    return [known[each] if each in known else known.setdefault(each, next(fresh)) for each in units]


def _links(sides: Sequence[tuple[list[int], list[int]]], width: int) -> tuple[Ints, Ints]:
    """Return all links of some pairs as source × width + target, and each one's target unit."""
    keys, groups, first = [], [], 0
    for source, target in sides:
        keys.append((np.array(source)[None, :] * width + np.array(target)[:, None]).ravel())
        groups.append(np.repeat(np.arange(first, first + len(target)), len(source)))
        first += len(target)
    return np.concatenate(keys).astype(np.int64), np.concatenate(groups)
