"""Prepare the next part of some work in a thread, while the device computes the present one."""

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Prepared = TypeVar("Prepared")


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
