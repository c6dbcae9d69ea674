"""Parts are prepared one ahead, in a thread that ends with them, however they end."""

import threading
from collections.abc import Callable

import pytest

from extensions.neural.encoding.ahead import ahead


def threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.startswith("ahead")]


def test_the_next_part_is_prepared_during_the_work_on_the_present_one() -> None:
    """Each has its own, in order; one after the next is not begun."""
    events = {part: threading.Event() for part in range(5)}

    def prepare(part: int) -> int:
        events[part].set()
        return part * part

    found = []
    for part, prepared in ahead(prepare, range(5)):
        assert events[min(part + 1, 4)].wait(10)
        assert not any(events[later].is_set() for later in range(part + 2, 5))
        found.append((part, prepared))
    assert found == [(part, part * part) for part in range(5)]
    assert not threads()


def test_a_single_part_has_no_thread() -> None:
    found = list(ahead(lambda _: threading.current_thread(), ["only"]))
    assert found == [("only", threading.main_thread())]
    assert list(ahead(len, [])) == []


def fail(part: int) -> int:
    if part == 2:
        raise ValueError("in part 2")
    return part


def consume(stop: Callable[[int], None]) -> list[int]:
    found = []
    for part, _ in ahead(fail, range(5)):
        stop(part)
        found.append(part)
    return found


def test_an_error_is_raised_where_its_part_would_come() -> None:
    seen: list[int] = []
    with pytest.raises(ValueError, match="in part 2"):
        consume(seen.append)
    assert seen == [0, 1]
    assert not threads()


def test_who_stops_early_leaves_no_thread() -> None:
    parts = ahead(fail, range(5))
    assert next(parts) == (0, 0)
    parts.close()
    assert not threads()
