"""Read times: ISO 8601, Unix time, or day, month and year as spreadsheets write them."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from annotation.imports.judgments.options import ORDERS
from annotation.uploads.problems import Report
from metaeval.files.cells import is_missing, parse_number
from metaeval.messages import Message, MessageError, message

# A Unix time this large counts milliseconds: as seconds it would lie in the year 5138.
MILLISECONDS, MICROSECONDS = 1e11, 1e14
# Seconds to March 1973: a smaller number is a duration, whatever its column is called.
EARLIEST = 1e8
# Day, month and year, with dots; or with slashes, where either may come first.
DATE = re.compile(
    r"(?P<first>\d{1,2})(?P<sign>[./])(?P<second>\d{1,2})\.?(?P=sign)?(?P<year>\d{4})"
    r"(?:,?\s+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second_of>\d{2}))?\s*(?P<half>[AaPp][Mm])?)?"
)
# The year first, as Google Forms writes it: `2026/11/20 10:00:01 AM GMT+1`.
YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})[/-](?P<month>\d{1,2})[/-](?P<day>\d{1,2})"
    r",?\s+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second_of>\d{2}))?\s*(?P<half>[AaPp][Mm])?"
    r"(?P<gmt>\s*(?:GMT|UTC|Z)(?P<zone>[+-]\d{1,2})?(?::?(?P<minutes>\d{2}))?)?"
)
DAY, MONTH = ORDERS


class TimeError(MessageError):
    """A cell is not a time."""


class AmbiguousDateError(TimeError):
    """A date may begin with the day or the month."""


@dataclass
class Clock:
    """Reads times; counts those that named no zone and those that cannot be.

    `order` is what comes first in dates with slashes, empty to infer it. Numbers below `earliest`
    are no Unix times.
    """

    zone: str = ""
    order: str = ""
    earliest: float = EARLIEST
    twice: int = 0
    never: int = 0
    written: Message | None = None
    without_zone: int = 0
    without_start: int = 0
    reversed: int = 0

    def warn(self, report: Report) -> None:
        """Report times that were dropped or are uncertain."""
        report.warn_of(
            self.without_start,
            "judgments.start-is-zero",
            "The start time of {n} judgment is 0. Its times were dropped.",
            "The start time of {n} judgments is 0. Their times were dropped.",
        )
        report.warn_of(
            self.reversed,
            "judgments.end-before-start",
            "{n} judgment ends before it starts. Its times were dropped.",
            "{n} judgments end before they start. Their times were dropped.",
        )
        if self.never or self.twice:
            report.warn(
                message(
                    "judgments.times-at-clock-change",
                    "Clock changes in {zone}: {never} times are in an hour that is skipped, and "
                    "{twice} in an hour that occurs twice, read as the first. Check the time zone.",
                    zone=self.zone,
                    never=self.never,
                    twice=self.twice,
                )
            )
        report.warn_of(
            self.without_zone,
            "judgments.times-without-zone",
            "{n} time has no time zone and was read as {zone}.",
            "{n} times have no time zone and were read as {zone}.",
            zone=self.zone or "UTC",
        )
        if self.written:
            report.note(self.written)

    def learn(self, values: Iterable[Any]) -> None:
        """Find what comes first in dates: a number above 12 is no month."""
        found = [DATE.fullmatch(str(value).strip()) for value in values if value]
        dates = [each for each in found if each and each["sign"] == "/"]
        first = max((int(each["first"]) for each in dates), default=0)
        second = max((int(each["second"]) for each in dates), default=0)
        if not self.order and (first > 12) != (second > 12):
            self.order = DAY if first > 12 else MONTH

    def read(self, value: Any) -> datetime | None:
        """Return a time in UTC, None for a missing one. Raises TimeError for anything else."""
        if is_missing(value):
            return None
        number = parse_number(value)
        if number is None:
            return self._calendar(str(value).strip())
        return _unix(number, self.earliest)

    def _calendar(self, text: str) -> datetime:
        try:
            time = self._of_date(text) or _year_first(text) or datetime.fromisoformat(text)
        except AmbiguousDateError:
            raise
        except ValueError:
            raise TimeError(
                message(
                    "judgments.not-a-time",
                    "“{text}” is neither a time in ISO 8601 nor a Unix time.",
                    text=text[:40],
                )
            ) from None
        if time.tzinfo is None:
            self.without_zone += 1
            zone: tzinfo = ZoneInfo(self.zone) if self.zone else UTC
            time = self._placed(time, zone)
        try:
            return time.astimezone(UTC)
        except OverflowError:
            raise TimeError(
                message(
                    "judgments.time-out-of-range",
                    "The time “{text}” is outside the range that can be stored.",
                    text=text[:40],
                )
            ) from None

    def _of_date(self, text: str) -> datetime | None:
        """Read `13.08.2025 12:31` and `8/13/2025 12:31 PM`; None for other layouts."""
        found = DATE.fullmatch(text)
        if found is None:
            return None
        order = DAY if found["sign"] == "." else self.order
        if not order:
            raise AmbiguousDateError(
                message(
                    "judgments.ambiguous-date",
                    "“{text}” may begin with the day or the month. State which (command line: "
                    "--dates day or month; API: dates).",
                    text=text[:40],
                )
            )
        self.written = (
            message("judgments.day-first", "Dates are read day first, such as “{text}”.", text=text)
            if order == DAY
            else message(
                "judgments.month-first", "Dates are read month first, such as “{text}”.", text=text
            )
        )
        day, month = (found["first"], found["second"])[:: 1 if order == DAY else -1]
        return datetime(int(found["year"]), int(month), int(day), *_time_of_day(found))

    def _placed(self, time: datetime, zone: tzinfo) -> datetime:
        """Put a time into its zone, and count hours that clocks have twice or never."""
        early, late = (time.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
        if early.utcoffset() != late.utcoffset():
            is_there = early.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == time
            self.twice += is_there
            self.never += not is_there
        return early

    def both(
        self, start: datetime | None, end: datetime | None, seconds: float | None
    ) -> tuple[datetime | None, datetime | None]:
        """Complete a start or an end by a duration; drop a pair of times that cannot be."""
        if seconds is not None and (start is None) != (end is None):
            start = start or (end and end - timedelta(seconds=seconds))
            end = end or (start and start + timedelta(seconds=seconds))
        if start is not None and start.timestamp() == 0:
            self.without_start += 1
            return None, None
        if start is not None and end is not None and end < start:
            self.reversed += 1
            return None, None
        return start, end


def _year_first(text: str) -> datetime | None:
    """Read `2026/11/20 10:00:01 AM GMT+1`; None for other layouts, ValueError for no such time."""
    found = YEAR_FIRST.fullmatch(text)
    if found is None:
        return None
    hours, minutes = int(found["zone"] or 0), int(found["minutes"] or 0)
    sign = -1 if (found["zone"] or "").startswith("-") else 1
    zone = timezone(timedelta(hours=hours, minutes=sign * minutes)) if found["gmt"] else None
    year, month, day = (int(found[part]) for part in ("year", "month", "day"))
    return datetime(year, month, day, *_time_of_day(found), tzinfo=zone)


def _time_of_day(found: re.Match[str]) -> tuple[int, int, int]:
    """Return hour, minute and second of a date that was found."""
    hour = int(found["hour"] or 0)
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"].lower() == "pm")
    return hour, int(found["minute"] or 0), int(found["second_of"] or 0)


def _unix(number: float, earliest: float) -> datetime:
    if not math.isfinite(number) or number < 0:
        raise _no_unix_time(number)
    if 0 < number < earliest:
        raise TimeError(
            message(
                "judgments.time-in-the-1970s",
                "{number} would be a time in the 1970s. Put durations in the field “seconds”.",
                number=number,
            )
        )
    if number >= MILLISECONDS:
        number /= 1_000_000 if number >= MICROSECONDS else 1_000
    try:
        return datetime.fromtimestamp(number, tz=UTC)
    except (OverflowError, ValueError, OSError):
        raise _no_unix_time(number) from None


def _no_unix_time(number: float) -> TimeError:
    return TimeError(
        message("judgments.not-a-unix-time", "{number} is not a Unix time.", number=number)
    )
