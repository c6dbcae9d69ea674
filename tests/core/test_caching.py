"""Counts of the last moment: read once for all who ask, and read again after it."""

from collections.abc import Iterator
from itertools import count
from threading import Event, Thread

import pytest

from core import caching


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The time, as long as the test does not set another."""
    now = [100.0]
    monkeypatch.setattr(caching, "SECONDS", 2.0)
    monkeypatch.setattr(caching, "monotonic", lambda: now[0])
    yield now
    caching.clear_ttl_cache()


def test_a_count_holds_for_a_moment(clock: list[float]) -> None:
    numbers = count()
    assert [caching.ttl_cache("a", lambda: next(numbers)) for _ in range(3)] == [0, 0, 0]
    clock[0] += 1.9
    assert caching.ttl_cache("a", lambda: next(numbers)) == 0
    clock[0] += 0.2
    assert caching.ttl_cache("a", lambda: next(numbers)) == 1
    assert caching.ttl_cache("b", lambda: next(numbers)) == 2


@pytest.mark.parametrize(("took", "lifetime"), [(0.01, 2.0), (0.2, 4.0), (3.0, 8.0)])
def test_what_takes_long_holds_longer(clock: list[float], took: float, lifetime: float) -> None:
    def read() -> float:
        clock[0] += took
        return clock[0]

    first = caching.ttl_cache("a", read)
    clock[0] += lifetime - 0.1
    assert caching.ttl_cache("a", read) == first
    clock[0] += 0.2
    assert caching.ttl_cache("a", read) > first


def test_an_error_is_not_kept(clock: list[float]) -> None:
    with pytest.raises(ZeroDivisionError):
        caching.ttl_cache("a", lambda: 1 // 0)
    assert caching.ttl_cache("a", lambda: 3) == 3


def test_who_asks_meanwhile_waits_for_the_same(clock: list[float]) -> None:
    begun, may_end, numbers, found = Event(), Event(), count(), []

    def read() -> int:
        begun.set()
        may_end.wait(10)
        return next(numbers)

    threads = [
        Thread(target=lambda: found.append(caching.ttl_cache("a", read)), daemon=True)
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    may_end.set()
    for thread in threads:
        thread.join(10)
    assert found == [0, 0, 0, 0]


def test_what_was_least_asked_for_is_forgotten(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching, "MAX_KEYS", 2)
    for key in ("a", "b", "a", "c"):
        caching.ttl_cache(key, key.upper)
    assert caching.ttl_cache("a", lambda: "new") == "A"
    assert caching.ttl_cache("b", lambda: "new") == "new"


def test_what_one_computation_uses_is_kept_together() -> None:
    cache = caching.Cache[str](10)
    with caching.memoized():
        for key in "abc":
            cache.put(key, key.upper(), 8)
        assert [cache.get(key) for key in "abc"] == ["A", "B", "C"]
    with caching.memoized():
        assert [cache.get(key) for key in "abc"] == ["A", "B", "C"]
    # Another computation displaces what it does not use itself.
    with caching.memoized():
        assert cache.get("b") == "B"
        cache.put("d", "D", 8)
        assert [cache.get(key) for key in "abcd"] == [None, "B", None, "D"]
    # Outside of any, the limit holds.
    cache.put("e", "E", 8)
    assert [cache.get(key) for key in "abcde"] == [None] * 4 + ["E"]
    cache.put("large", "L", 11)
    assert cache.get("large") is None


def test_a_computation_within_another_is_part_of_it() -> None:
    cache = caching.Cache[int](1)
    with caching.memoized():
        cache.put("outer", 1, 1)
        with caching.memoized():
            cache.put("inner", 2, 1)
        assert (cache.get("outer"), cache.get("inner")) == (1, 2)
