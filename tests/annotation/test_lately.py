"""Counts of the last moment: read once for all who ask, and read again after it."""

from collections.abc import Iterator
from itertools import count
from threading import Event, Thread

import pytest

from annotation import lately


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The time, as long as the test does not set another."""
    now = [100.0]
    monkeypatch.setattr(lately, "SECONDS", 2.0)
    monkeypatch.setattr(lately, "monotonic", lambda: now[0])
    yield now
    lately.forget()


def test_a_count_holds_for_a_moment(clock: list[float]) -> None:
    numbers = count()
    assert [lately.lately("a", lambda: next(numbers)) for _ in range(3)] == [0, 0, 0]
    clock[0] += 1.9
    assert lately.lately("a", lambda: next(numbers)) == 0
    clock[0] += 0.2
    assert lately.lately("a", lambda: next(numbers)) == 1
    assert lately.lately("b", lambda: next(numbers)) == 2


@pytest.mark.parametrize(("took", "kept"), [(0.01, 2.0), (0.2, 4.0), (3.0, 8.0)])
def test_what_takes_long_holds_longer(clock: list[float], took: float, kept: float) -> None:
    def read() -> float:
        clock[0] += took
        return clock[0]

    first = lately.lately("a", read)
    clock[0] += kept - 0.1
    assert lately.lately("a", read) == first
    clock[0] += 0.2
    assert lately.lately("a", read) > first


def test_an_error_is_not_kept(clock: list[float]) -> None:
    with pytest.raises(ZeroDivisionError):
        lately.lately("a", lambda: 1 // 0)
    assert lately.lately("a", lambda: 3) == 3


def test_who_asks_meanwhile_waits_for_the_same(clock: list[float]) -> None:
    begun, may_end, numbers, found = Event(), Event(), count(), []

    def read() -> int:
        begun.set()
        may_end.wait(10)
        return next(numbers)

    threads = [
        Thread(target=lambda: found.append(lately.lately("a", read)), daemon=True) for _ in range(4)
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
    monkeypatch.setattr(lately, "KEPT", 2)
    for key in ("a", "b", "a", "c"):
        lately.lately(key, key.upper)
    assert lately.lately("a", lambda: "new") == "A"
    assert lately.lately("b", lambda: "new") == "new"
