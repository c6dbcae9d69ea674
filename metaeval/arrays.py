"""Type aliases and the input checks that every statistic shares."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence, Sized
from hashlib import blake2b
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metaeval.messages import data_error

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
# A table of numbers has at most this many entries for each number that is looked up.
SPARSE = 4
BoolArray: TypeAlias = NDArray[np.bool_]


def as_floats(name: str, values: ArrayLike, *, ndim: int) -> FloatArray:
    """Return ``values`` as float64 with ``ndim`` axes; nan means missing.

    Raises
    ------
    DataError
        If the values are not numbers, have another number of axes or hold an infinity.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise data_error(
            "argument.numbers", "{name}: expected numbers (nan for missing): {text}.",
            name=name, text=str(error),
        ) from error  # fmt: skip
    if array.ndim != ndim:
        raise data_error(
            "argument.axes", "{name}: expected {axes} axes, got {got}.",
            name=name, axes=ndim, got=array.ndim,
        )  # fmt: skip
    if np.isinf(array).any():
        where = tuple(int(i) for i in np.argwhere(np.isinf(array))[0])
        raise data_error(
            "argument.infinite", "{name}: infinite value at index {where}.", name=name, where=where
        )
    return array


def as_pair(name_x: str, x: ArrayLike, name_y: str, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return two float vectors of one length, or raise DataError naming both."""
    first, second = as_floats(name_x, x, ndim=1), as_floats(name_y, y, ndim=1)
    one_length(**{name_x: first, name_y: second})
    return first, second


def as_mask(name: str, mask: ArrayLike | None, shape: tuple[int, ...]) -> BoolArray:
    """Return a boolean mask of ``shape``; None selects everything."""
    if mask is None:
        return np.ones(shape, dtype=np.bool_)
    array = np.asarray(mask)
    if array.dtype != np.bool_:
        raise data_error(
            "argument.booleans", "{name}: expected booleans, got {got}.",
            name=name, got=str(array.dtype),
        )  # fmt: skip
    of_shape(name, array, shape)
    return array


def of_shape(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Raise DataError unless an array has this shape."""
    if array.shape != shape:
        raise data_error(
            "argument.shape", "{name}: expected shape {shape}, got {got}.",
            name=name, shape=str(shape), got=str(array.shape),
        )  # fmt: skip


def one_length(**arrays: Sized) -> None:
    """Raise DataError unless all arrays, which are named, have one length."""
    lengths = [len(each) for each in arrays.values()]
    if len(set(lengths)) > 1:
        raise data_error(
            "argument.lengths", "{names} must have one length, got {lengths}.",
            names=list(arrays), lengths=lengths,
        )  # fmt: skip


def zero_or_one(name: str, values: NDArray[Any]) -> None:
    """Raise DataError unless all values are 0 or 1."""
    if not np.isin(values, (0, 1)).all():
        raise data_error("argument.flags", "{name}: expected 0 or 1 everywhere.", name=name)


def one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    """Return ``value`` if it is allowed, or raise DataError with the allowed values."""
    if value not in allowed:
        raise data_error(
            "argument.choice", "{name}: expected one of {allowed}; got “{value}”.",
            name=name, allowed=list(allowed), value=value,
        )  # fmt: skip
    return value


def fraction(name: str, value: float) -> float:
    """Return ``value`` if it lies strictly between 0 and 1."""
    if not 0.0 < value < 1.0:
        raise data_error(
            "argument.fraction", "{name}: expected a number between 0 and 1, got {value}.",
            name=name, value=value,
        )  # fmt: skip
    return float(value)


def at_least(name: str, value: float, least: float) -> float:
    """Return ``value`` if it is finite and at least ``least``."""
    if not least <= value < np.inf:
        raise data_error(
            "argument.least", "{name}: expected at least {least}, got {value}.",
            name=name, least=least, value=value,
        )  # fmt: skip
    return float(value)


def between(name: str, value: float, low: float, high: float) -> float:
    """Return ``value`` if it is from ``low`` to ``high``."""
    if not low <= value <= high:
        raise data_error(
            "argument.range", "{name}: expected a number from {low} to {high}, got {value}.",
            name=name, low=low, high=high, value=value,
        )  # fmt: skip
    return value


def positive_int(name: str, value: int, *, minimum: int = 1) -> int:
    """Return ``value`` as an int of at least ``minimum``."""
    if isinstance(value, bool) or int(value) != value or value < minimum:
        raise data_error(
            "argument.integer", "{name}: expected an integer of at least {least}, got {value}.",
            name=name, least=minimum, value=value,
        )  # fmt: skip
    return int(value)


def factorize(labels: Iterable[Hashable]) -> tuple[tuple[Any, ...], IntArray]:
    """Return the sorted distinct labels and, per entry, the index of its label.

    Nothing that large is sorted: whole numbers close to each other are counted, and of all else a
    dictionary holds the distinct ones.
    """
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iub":
        if labels.dtype.kind in "iu" and labels.ndim == 1 and len(labels):
            low, high = int(labels.min()), int(labels.max())
            if high - low <= len(labels) and high < 2**63:
                offsets = labels.astype(np.int64) - low
                present = np.bincount(offsets) > 0
                distinct = np.flatnonzero(present) + low
                return tuple(distinct.tolist()), (np.cumsum(present) - 1)[offsets]
        unique, inverse = np.unique(labels, return_inverse=True)
        return tuple(unique.tolist()), inverse.reshape(-1).astype(np.int64)
    entries = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    names = _sorted(set(entries))
    index = {label: position for position, label in enumerate(names)}
    codes = np.fromiter(map(index.__getitem__, entries), dtype=np.int64, count=len(entries))
    return tuple(names), codes


def positions(keys: IntArray, wanted: IntArray) -> IntArray:
    """Return the position of each wanted number among distinct keys, -1 for those not there.

    Keys close to each other, as of rows stored together, are looked up in a table.

    Examples
    --------
    >>> positions(np.array([7, 5, 6]), np.array([5, 9, 7, 5])).tolist()
    [1, -1, 0, 1]
    """
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    low, high = int(keys.min()), int(keys.max())
    if high - low <= SPARSE * (len(keys) + len(wanted)):
        table = np.full(high - low + 1, -1, dtype=np.int64)
        table[keys - low] = np.arange(len(keys))
        is_inside = (wanted >= low) & (wanted <= high)
        return np.where(is_inside, table[np.where(is_inside, wanted, low) - low], -1)
    order = np.argsort(keys)
    places = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    return np.where(keys[places] == wanted, places, -1)


def _sorted(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))


def mean(values: FloatArray) -> float:
    """Return the mean of the values without nan (any shape); nan if all are missing."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else np.nan


def mean_of_all(values: FloatArray) -> float:
    """Return the mean of complete values; nan if any value is missing or there is none.

    Over those that happen to be there it would compare unlike things.
    """
    return float(np.mean(values)) if values.size else np.nan


def mean_along(values: FloatArray, *, axis: int = -1) -> FloatArray:
    """Return the mean along an axis without nan; nan if all are missing (numpy would warn)."""
    present = ~np.isnan(values)
    return ratio(np.where(present, values, 0.0).sum(axis=axis), present.sum(axis=axis))


def group_means(values: FloatArray, groups: IntArray, size: int) -> FloatArray:
    """Return the mean of the values (n,) of each of ``size`` groups; nan for an empty group."""
    return ratio(np.bincount(groups, values, size), np.bincount(groups, minlength=size))


def ratio(above: NDArray[Any], below: NDArray[Any]) -> FloatArray:
    """Return above / below; nan where below is 0."""
    found = np.full(np.broadcast_shapes(np.shape(above), np.shape(below)), np.nan)
    return np.divide(above, below, out=found, where=np.asarray(below) > 0)


def differences_of(values: FloatArray) -> FloatArray:
    """Return all differences of m values, row minus column (m, m); nan on the diagonal."""
    table = values[:, None] - values
    np.fill_diagonal(table, np.nan)
    return np.asarray(table)


# Arrays that several tables compute from the same arrays: remembered by their content.


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
    """Arrays by the content they are computed from, at most `limit` bytes; the oldest go first.

    The newest `least` are kept whatever their size.
    """

    def __init__(self, limit: int, least: int = 0) -> None:
        self.limit, self.least = limit, least
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
            size = sum(each.nbytes for each in self._found.values())
            while size > self.limit and len(self._found) > self.least:
                size -= self._found.popitem(last=False)[1].nbytes
        return value

    def of(self, key: bytes, compute: Callable[[], FloatArray]) -> FloatArray:
        """Return what is remembered, or compute it."""
        found = self.get(key)
        return self.put(key, compute()) if found is None else found
