"""Prepare the next part of some work in a thread, while the device computes the present one.

Scores are computed in slices so, which bounds the memory for vectors.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

import numpy as np

from metrics.base import Scores, SegmentInput

Part = TypeVar("Part")
Prepared = TypeVar("Prepared")
# Segments of 40 pieces on both sides with 768 numbers per piece take 126 MB.
SIZE = 512


def ahead(
    prepare: Callable[[Part], Prepared], parts: Iterable[Part]
) -> Generator[tuple[Part, Prepared], None, None]:
    """Yield each part, in order, with what ``prepare`` returns for it.

    The next part is taken and prepared while the caller works on the present one, so ``prepare``
    must not compute on the device. An error of it is raised where its part would come. The thread
    has ended when the iterator has, also if it is closed early; a single part has none.
    """
    rest = iter(parts)
    for present in rest:
        prepared = prepare(present)
        with ThreadPoolExecutor(1, thread_name_prefix="ahead") as threads:
            for part in rest:
                waiting = threads.submit(prepare, part)
                yield present, prepared
                present, prepared = part, waiting.result()
        yield present, prepared


def score_in_slices(
    score: Callable[[Sequence[SegmentInput]], Scores],
    inputs: Sequence[SegmentInput],
    prepare: Callable[[Sequence[SegmentInput]], None],
) -> Scores:
    """Return the rows of all inputs; texts shared by slices are encoded once while cached.

    ``prepare`` is called with the next slice while the present one is scored.
    """
    starts = range(0, len(inputs), SIZE) or [0]
    slices = (inputs[start : start + SIZE] for start in starts)
    with closing(ahead(prepare, slices)) as prepared:
        return np.vstack([score(part) for part, _ in prepared])
