"""Split long sequences into batches, so that they never have to be in memory as a whole."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size` rows, the last one shorter."""
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch
