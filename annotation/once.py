"""What one computation asks for several times is read once, and forgotten when it ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_read: ContextVar[dict[Any, Any] | None] = ContextVar("read", default=None)


@contextmanager
def one_computation() -> Iterator[None]:
    """Within, whatever is marked `once` is read once for the same arguments.

    So all parts of a document rest on the same judgments, also where one comes in meanwhile. One
    inside another belongs to that. Nothing is shared between threads.
    """
    if _read.get() is not None:
        yield
        return
    token = _read.set({})
    try:
        yield
    finally:
        _read.reset(token)


def once(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a reader whose arguments are hashable and whose result nobody changes."""

    @wraps(function)
    def reader(*args: P.args, **kwargs: P.kwargs) -> R:
        read = _read.get()
        if read is None:
            return function(*args, **kwargs)
        key = (function, args, *sorted(kwargs.items()))
        if key not in read:
            read[key] = function(*args, **kwargs)
        found: R = read[key]
        return found

    return reader
