"""Three clocks, of which only the server's is trusted."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from annotation.judging.answers import Answer
from annotation.judging.timing import MAX_MS, times_of
from annotation.models import Judgment

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
Doubt = Judgment.TimeDoubt


def answer(seconds: float, visible: int | None, active: int | None) -> Answer:
    return Answer(
        public_id=uuid.uuid4(),
        submit_key=uuid.uuid4(),
        started_at=NOW - timedelta(seconds=seconds),
        seen=0,
        visible_ms=visible,
        active_ms=active,
    )


def test_the_three_are_kept_apart() -> None:
    assert times_of(answer(700, 690_000, 120_000), now=NOW, cap=600, together=1) == {
        "visible_ms": 690_000,
        "active_ms": 120_000,
        "paid_ms": 600_000,
        "time_doubt": Doubt.NONE,
    }


def test_answers_sent_together_share_their_time() -> None:
    paid = [times_of(answer(90, 1, 1), now=NOW, cap=600, together=3)["paid_ms"] for _ in range(3)]
    assert sum(paid) == 90_000


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
    times = times_of(answer(10, visible, active), now=NOW, cap=600, together=1)
    assert (times["time_doubt"], times["visible_ms"]) == (doubt, visible)
    assert times["paid_ms"] == 10_000


def test_a_report_of_centuries_fits_the_column() -> None:
    times = times_of(answer(10, 10**12, 10**12), now=NOW, cap=600, together=1)
    assert times["visible_ms"] == times["active_ms"] == MAX_MS
    assert times["time_doubt"] == Doubt.LONGER
