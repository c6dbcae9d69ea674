"""Word alignment by a log-linear reparametrisation of IBM model 2, both ways, symmetrised.

Dyer, Chahuneau and Smith 2013, A simple, fast, and effective reparameterization of IBM model 2:
the model behind the alignments that Zhao et al. 2020 fitted projections to. Alignments favour the
diagonal, the tension is fitted, lexical probabilities are variational Bayes estimates. Written
anew on whole arrays; numpy and scipy only.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from metaeval.messages import Message, message
from training.contract import JobError

# Words of a text, as the published projections were fitted: BERT's basic tokens, cased.
#
# Zhao et al. 2020 counted and aligned them: blanks and punctuation separate, and every Chinese
# character is a word. Pure.


# The blocks of unified and compatibility ideographs that BERT's tokenizer takes apart.
IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def split_words(text: str) -> list[str]:
    """Return the words of a text; punctuation marks are words of their own."""
    return [word for part in text.split() for word in _split_part(part)]


def _split_part(part: str) -> Iterator[str]:
    word = ""
    for character in part:
        if not stands_alone(character):
            word += character
            continue
        if word:
            yield word
        yield character
        word = ""
    if word:
        yield word


def stands_alone(character: str) -> bool:
    """Return whether a character is a word: an ideograph, punctuation or an ASCII symbol."""
    code = ord(character)
    if any(first <= code <= last for first, last in IDEOGRAPHS):
        return True
    is_symbol = code < 128 and not character.isalnum()
    return is_symbol or unicodedata.category(character).startswith("P")


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = Sequence[str]
Links = set[tuple[int, int]]

# The defaults of the paper's section 2 and of its released aligner.
ROUNDS = 5
NO_LINK = 0.08
TENSION = 4.0
CONCENTRATION = 0.01
TENSION_LEAST, TENSION_MOST = 0.1, 14.0
TENSION_STEPS = 8
RARE = 1e-9
EMPTY = ""


def align(pairs: Sequence[tuple[Words, Words]]) -> list[Links]:
    """Return the links of every pair: both directions, lower-cased, grow-diag-final-and."""
    lowered = [(_lower(source), _lower(target)) for source, target in pairs]
    forward = Model.fit(lowered).links(lowered)
    turned = [(target, source) for source, target in lowered]
    backward = Model.fit(turned).links(turned)
    return [
        symmetrise(there, {(i, j) for j, i in back}, len(source), len(target))
        for there, back, (source, target) in zip(forward, backward, pairs, strict=True)
    ]


def _lower(words: Words) -> list[str]:
    return [word.lower() for word in words]


@dataclass(frozen=True)
class _Cells:
    """Every (source or none, target) position of all pairs, flat.

    ``kind`` numbers the two words, ``column`` the target position among all, ``offset`` is the
    distance from the diagonal, 0 to 1; ``is_none`` where the source is none. ``place`` is the
    source position, ``starts`` where each column's cells begin.
    """

    kind: Ints
    column: Ints
    offset: Floats
    is_none: NDArray[np.bool_]
    place: Ints
    starts: Ints


class Model:
    """p(target | source) of one direction: t(f | e) × diagonal, with a fixed share for none."""

    def __init__(self, table: dict[tuple[str, str], float], tension: float) -> None:
        self.table, self.tension = table, tension

    @classmethod
    def fit(cls, pairs: Sequence[tuple[Words, Words]], rounds: int = ROUNDS) -> "Model":
        """Fit by expectation maximisation over (source, target) words of each pair."""
        kinds = _number(pairs)
        cells = _lay_out(pairs, kinds)
        given = _number_sources(kinds)
        probabilities, tension = np.full(len(kinds), 1.0 / max(1, len(kinds))), TENSION
        for number in range(rounds):
            posterior = _posterior(cells, probabilities[cells.kind], tension)
            if number:
                tension = _update_tension(cells, posterior, tension)
            counts = np.bincount(cells.kind, weights=posterior, minlength=len(kinds))
            probabilities = _estimate(counts.astype(np.float64), given)
        return cls(dict(zip(kinds, probabilities.tolist(), strict=True)), tension)

    def links(self, pairs: Sequence[tuple[Words, Words]]) -> list[Links]:
        """Return for each target word its likeliest source word, as (source, target) positions."""
        found = []
        for source, target in pairs:
            cells = _lay_out([(source, target)], None)
            words = [EMPTY, *source]
            lexical = np.array([self.table.get((e, f), RARE) for f in target for e in words])
            weights = lexical * _prior(cells, self.tension)
            best = weights.reshape(len(target), len(words)).argmax(axis=1) if target else ()
            found.append({(int(i) - 1, j) for j, i in enumerate(best) if i})
        return found


def _number(pairs: Sequence[tuple[Words, Words]]) -> dict[tuple[str, str], int]:
    """Number every pair of words that occur in one sentence pair, none as a source included."""
    kinds: dict[tuple[str, str], int] = {}
    for source, target in pairs:
        for f in target:
            for e in chain((EMPTY,), source):
                kinds.setdefault((e, f), len(kinds))
    return kinds


def _number_sources(kinds: dict[tuple[str, str], int]) -> Ints:
    """Return the number of the source word of every kind."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(e, len(numbers)) for e, _ in kinds], dtype=np.int64)


def _lay_out(
    pairs: Sequence[tuple[Words, Words]], kinds: dict[tuple[str, str], int] | None
) -> _Cells:
    lists: list[tuple[Ints, Floats]] = []
    numbers: list[int] = []
    for source, target in pairs:
        m, n = len(source), len(target)
        if kinds is not None:
            numbers += [kinds[e, f] for f in target for e in chain((EMPTY,), source)]
        i, j = np.arange(m + 1), np.arange(1, n + 1)[:, None]
        offset = np.abs(i / max(m, 1) - j / max(n, 1))
        lists.append((np.tile(i - 1, n), offset.reshape(-1)))
    sizes = [len(source) + 1 for source, target in pairs for _ in target]
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64) if sizes else _ints(())
    place = np.concatenate([each for each, _ in lists]) if lists else _ints(())
    offsets = np.concatenate([each for _, each in lists]) if lists else np.zeros(0)
    column = np.repeat(np.arange(len(sizes)), sizes)
    return _Cells(_ints(numbers), column, offsets, place < 0, place, starts)


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def _prior(cells: _Cells, tension: float) -> Floats:
    """Compute equation 2: exp(-tension × offset), with the sum 1 − NO_LINK over source words."""
    if not len(cells.starts):
        return np.zeros(0)
    weights = np.exp(-tension * cells.offset)
    weights[cells.is_none] = 0.0
    sums = np.add.reduceat(weights, cells.starts)
    prior: Floats = (1 - NO_LINK) * weights / np.maximum(sums, 1e-300)[cells.column]
    prior[cells.is_none] = NO_LINK
    return prior


def _posterior(cells: _Cells, lexical: Floats, tension: float) -> Floats:
    weights = lexical * _prior(cells, tension)
    sums = np.add.reduceat(weights, cells.starts)
    posterior: Floats = weights / sums[cells.column]
    return posterior


def _estimate(counts: Floats, given: Ints) -> Floats:
    """Estimate by variational Bayes with a symmetric Dirichlet prior (section 2.2)."""
    smoothed = counts + CONCENTRATION
    totals = np.bincount(given, weights=smoothed)
    estimates: Floats = np.exp(digamma(smoothed) - digamma(totals)[given])
    return estimates


def _update_tension(cells: _Cells, posterior: Floats, tension: float) -> float:
    """Update the tension by gradient ascent (equation 4), with the published number of steps."""
    linked = np.where(cells.is_none, 0.0, posterior)
    mass = linked.sum()
    if not mass:
        return tension
    share = np.add.reduceat(linked, cells.starts)
    observed = -float((linked * cells.offset).sum()) / mass
    for _ in range(TENSION_STEPS):
        prior = np.where(cells.is_none, 0.0, _prior(cells, tension)) / (1 - NO_LINK)
        expected = -float((share[cells.column] * prior * cells.offset).sum()) / mass
        tension += (observed - expected) * 20
        tension = min(max(tension, TENSION_LEAST), TENSION_MOST)
    return tension


NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrise(forward: Links, backward: Links, n_source: int, n_target: int) -> Links:
    """Combine alignments of both directions by grow-diag-final-and (Koehn et al. 2005)."""
    union, links = forward | backward, forward & backward
    rows, columns = {i for i, _ in links}, {j for _, j in links}

    def add(link: tuple[int, int]) -> None:
        links.add(link)
        rows.add(link[0])
        columns.add(link[1])

    has_grown = True
    while has_grown:
        has_grown = False
        for i, j in sorted(links):
            for down, right in NEIGHBOURS:
                near = (i + down, j + right)
                is_free = near[0] not in rows or near[1] not in columns
                if near in union and near not in links and is_free:
                    add(near)
                    has_grown = True
    for direction in (forward, backward):
        for link in sorted(direction):
            if link[0] not in rows and link[1] not in columns:
                add(link)
    return {(i, j) for i, j in links if i < n_source and j < n_target}


_BLANKS = re.compile(r"\s+")
Pair = tuple[str, str]
Aligned = tuple[list[str], list[str], Links]


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


def read_links(path: Path) -> dict[Pair, Aligned]:
    """Read lines of source tokens, target tokens and links `i-j` from 0, by text without blanks.

    Raises JobError, which names the line, for an invalid link.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise JobError(_unreadable(path, error)) from error
    found = dict(_read_line(Place(str(path), n), line) for n, line in enumerate(lines, 1))
    if not found:
        raise JobError(
            message("alignments.empty", "{file} has no word alignments.", file=str(path))
        )
    return found


def _unreadable(path: Path, error: OSError | UnicodeDecodeError) -> Message:
    if isinstance(error, OSError):
        return message(
            "alignments.unreadable",
            "The word alignments in {file} cannot be read: {reason}.",
            file=str(path),
            reason=error.strerror,
        )
    return message(
        "alignments.not-utf8",
        "The word alignments in {file} cannot be read: not UTF-8.",
        file=str(path),
    )


def _read_line(place: Place, line: str) -> tuple[Pair, Aligned]:
    cells = line.split("\t")
    if len(cells) != 3:
        raise JobError(
            message(
                "alignments.columns",
                "{file}, line {line}: expected three columns (source tokens, target tokens, "
                "links), found {columns}.",
                **place._asdict(),
                columns=len(cells),
            )
        )
    source, target = cells[0].split(), cells[1].split()
    links = {_read_link(place, text) for text in cells[2].split()}
    for i, j in links:
        if i >= len(source) or j >= len(target):
            raise JobError(
                message(
                    "alignments.no-words",
                    "{file}, line {line}: the link {link} names a word that the texts do not have. "
                    "Words are counted from 0.",
                    **place._asdict(),
                    link=f"{i}-{j}",
                )
            )
    return (bare(cells[0]), bare(cells[1])), (source, target, links)


def _read_link(place: Place, text: str) -> tuple[int, int]:
    matched = re.fullmatch(r"(\d+)-(\d+)", text)
    if not matched:
        # Do not quote the file: the account that starts a job may not be allowed to read it.
        raise JobError(
            message(
                "alignments.link",
                "{file}, line {line}: a link must be two numbers, such as 3-4.",
                **place._asdict(),
            )
        )
    return int(matched[1]), int(matched[2])


def bare(text: str) -> str:
    """Return a text without spaces, so that tokenised and plain text are equal."""
    return _BLANKS.sub("", text)


def choose_links(
    pairs: Sequence[Pair], found: dict[Pair, Aligned], reverse: bool
) -> list[Aligned | None]:
    """Return the alignment of each pair, None for one that is not in the file.

    The file has the direction of the upload; with ``reverse`` the pairs are reversed.
    """
    if not reverse:
        return [found.get((bare(source), bare(target))) for source, target in pairs]
    return [_turn(found.get((bare(target), bare(source)))) for source, target in pairs]


def _turn(aligned: Aligned | None) -> Aligned | None:
    if aligned is None:
        return None
    source, target, links = aligned
    return target, source, {(j, i) for i, j in links}
