"""Annotation time: measured by the server, reported by the browser, and paid."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from annotation.judging.answers import Answer, rated_text
from annotation.models import Assignment, Campaign, Judgment, Reference
from annotation.pay import limit_of
from core.text import seconds_to_read

# A slow network can put a report ahead of the server's clock by this much, not by more.
TOLERANCE_MS = 5_000
MAX_MS = 2**31 - 1

TimeDoubt = Judgment.TimeDoubt


def times_of(
    answer: Answer,
    *,
    before: datetime | None,
    now: datetime,
    cap: int,
    together: int,
    least: timedelta = timedelta(0),
) -> dict[str, Any]:
    """Return the time fields of a judgment; `cap` in seconds.

    The time begins when the item was issued, or at the answer `before` it if that was later,
    because screens are issued ahead. It ends now, minus the time that the browser waited for a
    connection, but not before the time that the item was visible has passed: the wait is measured
    by the browser's calendar clock, which may be set forward meanwhile. It does not end before the
    `least` time has passed either: an answer that was held back counts as given when it was
    accepted. So the times of an annotator never overlap, and their sum never exceeds the time that
    passed on the server. Idle time after the browser's question is not paid; such a report can only
    shorten the paid time. Reports are stored unchanged, with a `time_doubt` if they are impossible.
    """
    # The clocks of two web servers may differ by a moment.
    now = max(now, answer.started_at)
    began = min(now, max(answer.started_at, before or answer.started_at))
    visible = timedelta(milliseconds=_storable(answer.visible_ms) or 0)
    seen = began + max(visible, least)
    given = max(min(seen, now), now - timedelta(milliseconds=answer.waited_ms))
    return {
        "started_at": began,
        "submitted_at": given,
        "visible_ms": _storable(answer.visible_ms),
        "active_ms": _storable(answer.active_ms),
        "paid_ms": paid_milliseconds(
            given - began - timedelta(milliseconds=answer.idle_ms), cap=cap, together=together
        ),
        "time_doubt": _doubt(answer, round((given - began).total_seconds() * 1000)),
    }


def limit_of_rows(rows: Sequence[Assignment]) -> int:
    """Return the limit in seconds for the screen of some assignments, their texts loaded."""
    return limit_of(rows[0].annotator.campaign, [rated_text(row.item) for row in rows])


def least_time(rows: Sequence[Assignment]) -> timedelta:
    """Return the least time in which the texts of one screen can be skimmed.

    `rows` are its assignments, their texts loaded. Each text counts once, whatever kind of item
    shows it; a source that is a recording or a picture has none.
    """
    campaign = rows[0].annotator.campaign
    test_set, segments = campaign.test_set, {row.item.segment for row in rows}
    texts = {(rated_text(row.item), test_set.target_language) for row in rows}
    if campaign.shown_text == Campaign.ShownText.SOURCE:
        read = (each for each in segments if not (each.beside or {}).get("is_source"))
        texts |= {(each.source, test_set.source_language) for each in read}
    else:
        references = Reference.objects.filter(segment__in=segments).order_by("-name")
        shown = dict(references.values_list("segment", "text"))
        texts |= {(text, test_set.target_language) for text in shown.values()}
    return timedelta(seconds=math.fsum(seconds_to_read(*each) for each in texts))


def paid_milliseconds(passed: timedelta, *, cap: int, together: int = 1) -> int:
    """Return the time that is paid for one of the answers sent together; `cap` in seconds."""
    return round(min(max(0, passed.total_seconds()), cap) * 1000 / together)


def _storable(milliseconds: int | None) -> int | None:
    return None if milliseconds is None else min(milliseconds, MAX_MS)


def _doubt(answer: Answer, passed: int) -> str:
    if answer.visible_ms is None or answer.active_ms is None:
        return TimeDoubt.MISSING
    if max(answer.visible_ms, answer.active_ms) > passed + TOLERANCE_MS:
        return TimeDoubt.LONGER
    return TimeDoubt.ORDER if answer.active_ms > answer.visible_ms + 1_000 else TimeDoubt.NONE
