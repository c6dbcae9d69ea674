"""Provide three caches per process: for one computation, for a few seconds, and by size."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from itertools import count
from threading import Lock
from time import monotonic
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

# Shortest lifetime of a value of `ttl_cache` in seconds; 0 disables it.
SECONDS = 2.0
# A slow read is kept for this many times its duration, up to the limit: a reader that polls all
# the time then keeps the database busy for a twentieth of the time.
KEPT_TIMES, LONGEST_SECONDS = 20.0, 8.0
# Keys of `ttl_cache`; the least recently used is dropped first.
MAX_KEYS = 512

_computed: ContextVar[dict[Any, Any] | None] = ContextVar("computed", default=None)
# The number of the running computation, 0 outside of any.
_computation: ContextVar[int] = ContextVar("computation", default=0)
_numbers = count(1)


@contextmanager
def memoized() -> Iterator[None]:
    """Memoize functions marked with :func:`memo` until the context ends.

    All parts of a document then use the same judgments, even if one is stored meanwhile. A nested
    context uses the outer one's values. Threads share nothing.
    """
    if _computed.get() is not None:
        yield
        return
    token, number = _computed.set({}), _computation.set(next(_numbers))
    try:
        yield
    finally:
        _computed.reset(token)
        _computation.reset(number)


def memo(function: Callable[P, R]) -> Callable[P, R]:
    """Compute a function once per arguments within :func:`memoized`.

    The arguments must be hashable, and nobody may change the result.
    """

    @wraps(function)
    def reader(*args: P.args, **kwargs: P.kwargs) -> R:
        values = _computed.get()
        if values is None:
            return function(*args, **kwargs)
        key = (function, args, *sorted(kwargs.items()))
        if key not in values:
            values[key] = function(*args, **kwargs)
        value: R = values[key]
        return value

    return reader


def forget_memos() -> None:
    """Drop what the running computation has memoized, because it reads no more of it."""
    if (values := _computed.get()) is not None:
        values.clear()


@dataclass
class _Entry:
    """One value of `ttl_cache`; `value` is None until it is known."""

    lock: Lock = field(default_factory=Lock)
    until: float = 0.0
    value: Any = None


_entries: OrderedDict[Hashable, _Entry] = OrderedDict()
_entries_lock = Lock()


def ttl_cache(key: Hashable, read: Callable[[], T]) -> T:
    """Return what `read` returned in this process at most `LONGEST_SECONDS` ago.

    For counts that pages poll many times a second; readers wait while one of them computes. What
    must be exact, such as whether a campaign is complete, is read afresh. The key includes
    everything that a reader changes and expects to see at once, such as a state.
    """
    entry = _entry(key)
    with entry.lock:
        return _newest(entry, read)


def ttl_cache_or_last(key: Hashable, read: Callable[[], T]) -> T | None:
    """Do the same, but return the last value, or None, while another thread computes."""
    entry = _entry(key)
    if not entry.lock.acquire(blocking=False):
        last: T | None = entry.value
        return last
    try:
        return _newest(entry, read)
    finally:
        entry.lock.release()


def _entry(key: Hashable) -> _Entry:
    if not SECONDS:
        return _Entry()
    with _entries_lock:
        entry = _entries.setdefault(key, _Entry())
        _entries.move_to_end(key)
        while len(_entries) > MAX_KEYS:
            _entries.popitem(last=False)
    return entry


def _newest(entry: _Entry, read: Callable[[], T]) -> T:
    began = monotonic()
    if began >= entry.until:
        entry.value = read()
        ended = monotonic()
        entry.until = ended + max(SECONDS, min(LONGEST_SECONDS, KEPT_TIMES * (ended - began)))
    value: T = entry.value
    return value


def clear_ttl_cache() -> None:
    """Drop every value of :func:`ttl_cache`."""
    with _entries_lock:
        _entries.clear()


_caches: list["Cache[Any]"] = []


@dataclass
class _Stored(Generic[T]):
    """A value, its size in bytes, and the last computation that used it."""

    value: T
    size: int
    computation: int


class Cache(Generic[T]):
    """Values by key, of at most `limit` bytes together; the least recently used is dropped first.

    What one computation (:func:`memoized`) uses is kept together, even beyond the limit: of a large
    campaign, each table would otherwise displace one that the next computation needs first. Beyond
    that a larger value is not kept, but with `keeps_newest` the newest always is. Callers check
    with every use that a value still holds: the cache may be empty at any time, and each process
    has its own.
    """

    def __init__(self, limit: int, *, keeps_newest: bool = False) -> None:
        self.limit, self._least = limit, int(keeps_newest)
        self._values: OrderedDict[Hashable, _Stored[T]] = OrderedDict()
        self._size = 0
        self._lock = Lock()
        _caches.append(self)

    def get(self, key: Hashable) -> T | None:
        """Return the value of a key, or None."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            entry = self._values[key]
            entry.computation = _computation.get()
            return entry.value

    def put(self, key: Hashable, value: T, size: int) -> None:
        """Set the value of a key; `size` is in bytes."""
        computation = _computation.get()
        with self._lock:
            before = self._values.pop(key, None)
            self._values[key] = _Stored(value, size, computation)
            self._size += size - (before.size if before else 0)
            while len(self._values) > self._least and self._size > self.limit:
                oldest = next(iter(self._values.values()))
                if computation and oldest.computation == computation:
                    break
                self._values.popitem(last=False)
                self._size -= oldest.size

    def clear(self) -> None:
        """Drop every value."""
        with self._lock:
            self._values.clear()
            self._size = 0


def clear_caches() -> None:
    """Drop every value of every :class:`Cache` of this process."""
    for cache in _caches:
        cache.clear()
