"""Provide word vectors: from an encoder, or from a text file in fastText's format.

The format is one line per word, ``word x1 … xd``, after an optional line ``words d``. Such files
contain millions of words, so the file is mapped and read once to index the words, and a line is
parsed only if a text contains its word. Aligned files: Joulin et al. 2018, Loss in translation
(RCSLS).
"""

import hashlib
import mmap
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metaeval.messages import Message, message
from metrics.base import MetricError
from metrics.families.lexical.sequences import WordTokenizer

Vector = NDArray[np.float64]
# Words with cached vectors: 120 MB with 300 numbers each.
KEPT = 50_000


def load(path: str) -> "StaticVectors":
    """Return the vectors of a file, cached in this process until the file changes.

    Raises a permanent :class:`MetricError` that names the wrong line.
    """
    try:
        state = Path(path).stat()
    except OSError as error:
        raise _unreadable(path, error) from error
    return _load(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=4)
def _load(path: str, size: int, changed: int) -> "StaticVectors":
    return StaticVectors(path)


class StaticVectors:
    """Map a file with ``width`` numbers per word.

    ``digest`` is the beginning of the SHA-256 of its bytes.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._bytes = _map(path)
        self._first_line, self.width, stated = self._read_header()
        self._hashes, self._starts, self._lines = self._index()
        if stated is not None and stated != len(self._starts):
            problem = message(
                "vectors.word-count",
                "the header gives {stated} words, but the file has {actual}",
                stated=stated,
                actual=len(self._starts),
            )
            raise self._error(1, problem)
        self.digest = hashlib.sha256(self._bytes).hexdigest()[:12]
        self._parsed: dict[str, Vector | None] = {}

    def __len__(self) -> int:
        return len(self._starts)

    def find(self, word: str) -> Vector | None:
        """Return the vector of a word (width,), or of its lower-cased form; None for unknown words.

        Raises a permanent :class:`MetricError` if its line contains something other than numbers.
        """
        if word not in self._parsed:
            if len(self._parsed) >= KEPT:
                self._parsed.clear()
            found = self._parse(word)
            self._parsed[word] = self._parse(word.lower()) if found is None else found
        return self._parsed[word]

    def _read_header(self) -> tuple[int, int, int | None]:
        fields = self._line(0).split(b" ")
        if len(fields) == 2 and all(field.isdigit() for field in fields):
            return self._end(0) + 1, int(fields[1]), int(fields[0])
        return 0, len(fields) - 1, None

    def _index(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the sorted hashes of all words, the positions of their lines, and line numbers."""
        hashes, starts = array("q"), array("q")
        start, first = self._first_line, 2 if self._first_line else 1
        while start < len(self._bytes):
            line = self._line(start)
            if line.count(b" ") != self.width or self.width < 1:
                problem = message(
                    "vectors.width",
                    "expected {width} numbers, but there are {actual}",
                    width=self.width,
                    actual=max(line.count(b" "), 0),
                )
                raise self._error(len(starts) + first, problem)
            hashes.append(hash(line[: line.index(b" ")]))
            starts.append(start)
            start = self._end(start) + 1
        # Stable sort: of two lines with the same word the first is used, as in fastText.
        order = np.argsort(np.asarray(hashes, dtype=np.int64), kind="stable")
        return (
            np.asarray(hashes, dtype=np.int64)[order],
            np.asarray(starts, dtype=np.int64)[order],
            order + first,
        )

    def _parse(self, word: str) -> Vector | None:
        wanted = word.encode()
        place = int(np.searchsorted(self._hashes, hash(wanted)))
        while place < len(self._hashes) and self._hashes[place] == hash(wanted):
            name, *numbers = self._line(int(self._starts[place])).split(b" ")
            if name == wanted:
                return self._numbers(numbers, int(self._lines[place]))
            place += 1
        return None

    def _numbers(self, fields: list[bytes], line: int) -> Vector:
        try:
            vector = np.array([float(field) for field in fields])
        except ValueError as error:
            raise self._error(line, _NOT_A_NUMBER) from error
        if not np.isfinite(vector).all():
            raise self._error(line, _NOT_FINITE)
        return vector

    def _line(self, start: int) -> bytes:
        # fastText writes a blank at the end of lines.
        return self._bytes[start : self._end(start)].rstrip(b" \r")

    def _end(self, start: int) -> int:
        end = self._bytes.find(b"\n", start)
        return len(self._bytes) if end < 0 else end

    def _error(self, line: int, problem: Message) -> MetricError:
        about = message(
            "vectors.line",
            "{path}, line {line}: {problem}.",
            path=self.path,
            line=line,
            problem=problem,
        )
        return MetricError(about, permanent=True)


_NOT_A_NUMBER = message("vectors.not-a-number", "expected numbers")
_NOT_FINITE = message("vectors.not-finite", "expected finite numbers")


def _unreadable(path: str, error: OSError) -> MetricError:
    problem = message(
        "file.unreadable", "{path} cannot be read: {error}.", path=path, error=error.strerror
    )
    return MetricError(problem, permanent=True)


def _map(path: str) -> mmap.mmap:
    try:
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError as error:
        problem = message("vectors.empty", "{path} is empty.", path=path)
        raise MetricError(problem, permanent=True) from error
    except OSError as error:
        raise _unreadable(path, error) from error


if TYPE_CHECKING:
    from extensions.neural.encoding.token_vectors import Embedded

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Words:
    """Hold the units of a text in order.

    ``forms`` is (n), ``vectors`` (n, width), ``known`` (n,) bool. The vector of an unknown unit is
    0.
    """

    forms: tuple[str, ...]
    vectors: Array
    known: NDArray[np.bool_]

    @property
    def unit_vectors(self) -> Array:
        """Return the vectors scaled to length 1; zero vectors stay zero, and nan stays nan."""
        norms = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        return np.divide(self.vectors, norms, where=norms != 0, out=np.zeros_like(self.vectors))


def of_pieces(found: "Embedded", states: Array) -> Words:
    """Return an encoder's pieces with their (pieces, width) states, without special tokens."""
    kept = ~np.array(found.is_special)
    vectors = states[kept]
    forms = tuple(piece for piece, is_kept in zip(found.pieces, kept, strict=True) if is_kept)
    return Words(forms, vectors, np.ones(len(forms), dtype=bool))


def of_words(texts: Iterable[str], vectors: StaticVectors, cut: WordTokenizer) -> dict[str, Words]:
    """Return the words of every distinct text with their vectors."""
    return {text: _look_up(cut(text), vectors) for text in dict.fromkeys(texts)}


def _look_up(forms: tuple[str, ...], vectors: StaticVectors) -> Words:
    rows = [vectors.find(form) for form in forms]
    found = np.zeros((len(forms), vectors.width))
    for position, row in enumerate(rows):
        if row is not None:
            found[position] = row
    return Words(forms, found, np.array([row is not None for row in rows], dtype=bool))
