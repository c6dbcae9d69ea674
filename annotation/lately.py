"""Counts of the last moment, read once a process for all who ask meanwhile.

Pages and their scripts ask many times a second how far a campaign is, which takes the database as
long as all the rest of an answer. What must be exact, such as whether a campaign is complete, does
not come from here.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Any, TypeVar

T = TypeVar("T")

SECONDS = 2.0
# Keys in memory; what was least recently asked for is forgotten first.
KEPT = 512


@dataclass
class _Read:
    """One value; whoever asks while it is read waits for it."""

    lock: Lock = field(default_factory=Lock)
    until: float = 0.0
    value: Any = None


_found: OrderedDict[Hashable, _Read] = OrderedDict()
_lock = Lock()


def lately(key: Hashable, read: Callable[[], T]) -> T:
    """Return what `read` returned at most `SECONDS` ago in this process.

    A key names all that a reader changes by hand and expects to see at once, such as a state.
    """
    if not SECONDS:
        return read()
    one = _one(key)
    with one.lock:
        if monotonic() >= one.until:
            one.value = read()
            one.until = monotonic() + SECONDS
        found: T = one.value
        return found


def _one(key: Hashable) -> _Read:
    with _lock:
        one = _found.setdefault(key, _Read())
        _found.move_to_end(key)
        while len(_found) > KEPT:
            _found.popitem(last=False)
        return one


def forget() -> None:
    """Forget everything."""
    with _lock:
        _found.clear()
