"""Three clocks, of which only the server's is trusted."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from annotation.judging.answers import Answer
from annotation.judging.timing import MAX_MS, times_of
from annotation.models import Judgment

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
Doubt = Judgment.TimeDoubt


def answer(
    seconds: float, visible: int | None, active: int | None, waited: int = 0, idle: int = 0
) -> Answer:
    return Answer(
        public_id=uuid.uuid4(),
        submit_key=uuid.uuid4(),
        started_at=NOW - timedelta(seconds=seconds),
        seen=0,
        visible_ms=visible,
        active_ms=active,
        waited_ms=waited,
        idle_ms=idle,
    )


def times(
    given: Answer, *, before: datetime | None = None, cap: int = 600, together: int = 1
) -> dict[str, Any]:
    return times_of(given, before=before, now=NOW, cap=cap, together=together)


def test_the_three_are_kept_apart() -> None:
    assert times(answer(700, 690_000, 120_000)) == {
        "started_at": NOW - timedelta(seconds=700),
        "submitted_at": NOW,
        "visible_ms": 690_000,
        "active_ms": 120_000,
        "paid_ms": 600_000,
        "time_doubt": Doubt.NONE,
    }


def test_answers_sent_together_share_their_time() -> None:
    paid = [times(answer(90, 1, 1), together=3)["paid_ms"] for _ in range(3)]
    assert sum(paid) == 90_000
    # The limit is that of the screen.
    paid = [times(answer(700, 1, 1), together=3)["paid_ms"] for _ in range(3)]
    assert sum(paid) == 600_000


@pytest.mark.parametrize(
    ("idle", "paid"),
    [
        (0, 600_000),
        (50_000, 600_000),  # 650 of 700 seconds, of which 600 are paid
        (400_000, 300_000),
        (10**12, 0),  # more than passed: nothing, and never less
    ],
)
def test_idle_time_is_not_paid(idle: int, paid: int) -> None:
    found = times(answer(700, 690_000, 120_000, idle=idle))
    assert found["paid_ms"] == paid
    assert found["submitted_at"] - found["started_at"] == timedelta(seconds=700)


@pytest.mark.parametrize(
    ("visible", "active", "doubt"),
    [
        (10_000, 10_000, Doubt.NONE),
        (14_999, 10_000, Doubt.NONE),  # a slow network
        (60_000, 10_000, Doubt.LONGER),
        (5_000, 9_000, Doubt.ORDER),
        (None, 9_000, Doubt.MISSING),
        (9_000, None, Doubt.MISSING),
    ],
)
def test_impossible_reports_are_doubted_and_kept(
    visible: int | None, active: int | None, doubt: str
) -> None:
    found = times(answer(10, visible, active))
    assert (found["time_doubt"], found["visible_ms"]) == (doubt, visible)
    assert found["paid_ms"] == 10_000


def test_a_report_of_centuries_fits_the_column() -> None:
    found = times(answer(10, 10**12, 10**12))
    assert found["visible_ms"] == found["active_ms"] == MAX_MS
    assert found["time_doubt"] == Doubt.LONGER


def test_screens_issued_together_are_paid_one_after_the_other() -> None:
    """Issued 100 s ago; the answer before it came 40 s ago."""
    found = times(answer(100, 39_000, 39_000), before=NOW - timedelta(seconds=40))
    assert (found["paid_ms"], found["time_doubt"]) == (40_000, Doubt.NONE)
    assert found["started_at"] == NOW - timedelta(seconds=40)


def test_answers_that_waited_are_paid_for_when_they_were_given_and_never_twice() -> None:
    """Three answers without a connection, each after 20 s, that arrive at once after 90 s."""
    before, paid = None, []
    for waited in (70_000, 50_000, 30_000):
        found = times(answer(90, 19_000, 19_000, waited), before=before)
        before = found["submitted_at"]
        paid.append((found["paid_ms"], found["time_doubt"]))
    assert paid == [(20_000, Doubt.NONE)] * 3
    # Whatever a browser says, the times do not overlap, nor lie outside what passed here.
    found = times(answer(90, 0, 0, 10**11), before=before)
    assert (found["started_at"], found["submitted_at"], found["paid_ms"]) == (before, before, 0)


def test_a_clock_put_forward_while_an_answer_waits_takes_no_pay() -> None:
    """Given after 20 s, sent 70 s later by a clock that is an hour ahead."""
    found = times(answer(90, 20_000, 19_000, waited=70_000 + 3_600_000))
    assert (found["paid_ms"], found["time_doubt"]) == (20_000, Doubt.NONE)
    # Nor is more paid than passed, whatever time the browser reports as visible.
    assert times(answer(90, 10**9, 19_000, waited=10**10))["paid_ms"] == 90_000
