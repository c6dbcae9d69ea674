"""Arrays that several tables compute from the same arrays: remembered by their content."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from threading import Lock

import numpy as np

from metaeval.arrays import FloatArray


def content(*parts: object) -> bytes:
    """Return a digest of arrays and plain values."""
    found = blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(f"{part.dtype}{part.shape}".encode())
            found.update(np.ascontiguousarray(part).data)
        else:
            found.update(f"{part!r};".encode())
    return found.digest()


class Remembered:
    """Arrays by the content they are computed from, at most `limit` bytes; the oldest go first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._found: OrderedDict[bytes, FloatArray] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes) -> FloatArray | None:
        """Return what is remembered; nobody may change it."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key: bytes, value: FloatArray) -> FloatArray:
        """Remember an array, which can be written to no more."""
        value.flags.writeable = False
        with self._lock:
            self._found[key] = value
            while sum(each.nbytes for each in self._found.values()) > self.limit:
                self._found.popitem(last=False)
        return value

    def of(self, key: bytes, compute: Callable[[], FloatArray]) -> FloatArray:
        """Return what is remembered, or compute it."""
        found = self.get(key)
        return self.put(key, compute()) if found is None else found
