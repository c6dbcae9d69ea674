"""What a process remembers between computations; what was least recently used is forgotten first.

Whoever keeps something here proves with every use that it still holds: the memory may be empty at
any time, and each process has its own.
"""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_memories: list["Kept[Any]"] = []


class Kept(Generic[T]):
    """Values by key, of at most so many bytes together; a larger one is not kept at all."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._found: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = Lock()
        _memories.append(self)

    def get(self, key: Hashable) -> T | None:
        """Return what is kept under a key, or None."""
        with self._lock:
            if key not in self._found:
                return None
            self._found.move_to_end(key)
            return self._found[key][0]

    def put(self, key: Hashable, value: T, size: int) -> None:
        """Keep a value of so many bytes instead of whatever the key had."""
        with self._lock:
            self._found.pop(key, None)
            self._found[key] = (value, size)
            while sum(each for _, each in self._found.values()) > self.limit:
                self._found.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._found.clear()


def forget() -> None:
    """Forget everything in every memory of this process."""
    for memory in _memories:
        memory.clear()
