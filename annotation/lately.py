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
# What takes long is kept for so many times as long, but no longer than that: who asks all the time
# has the database at work for a twentieth of it.
KEPT_TIMES, LONGEST_SECONDS = 20.0, 8.0
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
    """Return what `read` returned a moment ago in this process: at most `LONGEST_SECONDS`.

    A key names all that a reader changes by hand and expects to see at once, such as a state.
    """
    if not SECONDS:
        return read()
    one = _one(key)
    with one.lock:
        began = monotonic()
        if began >= one.until:
            one.value = read()
            ended = monotonic()
            kept = min(LONGEST_SECONDS, KEPT_TIMES * (ended - began))
            one.until = ended + max(SECONDS, kept)
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
