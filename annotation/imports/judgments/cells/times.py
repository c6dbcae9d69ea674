"""Times of tables: ISO 8601, Unix time, or day, month and year as spreadsheets write them."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from annotation.imports.judgments.options import ORDERS
from metaeval.files.cells import is_missing, parse_number

# A Unix time this large counts milliseconds: as seconds it would lie in the year 5138.
MILLISECONDS, MICROSECONDS = 1e11, 1e14
# Seconds to March 1973: a smaller number is a duration, whatever its column is called.
EARLIEST = 1e8
# Day, month and year, with dots; or with slashes, where either may come first.
DATE = re.compile(
    r"(?P<first>\d{1,2})(?P<sign>[./])(?P<second>\d{1,2})\.?(?P=sign)?(?P<year>\d{4})"
    r"(?:,?\s+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second_of>\d{2}))?\s*(?P<half>[AaPp][Mm])?)?"
)
DAY, MONTH = ORDERS
NO_START, REVERSED = "the start is 0", "the end lies before the start"


class AmbiguousDateError(ValueError):
    """A date may begin with the day or the month."""


@dataclass
class Clock:
    """Reads times; counts those that named no zone and those that cannot be.

    `order` is what comes first in dates with slashes, empty where the dates have to say it.
    """

    zone: str = ""
    order: str = ""
    twice: int = 0
    never: int = 0
    written: str = ""
    without_zone: int = 0
    doubtful: Counter[str] = field(default_factory=Counter)

    def learn(self, values: Iterable[Any]) -> None:
        """Find what comes first in dates: a number above 12 is no month."""
        found = [DATE.fullmatch(str(value).strip()) for value in values if value]
        dates = [each for each in found if each and each["sign"] == "/"]
        first = max((int(each["first"]) for each in dates), default=0)
        second = max((int(each["second"]) for each in dates), default=0)
        if not self.order and (first > 12) != (second > 12):
            self.order = DAY if first > 12 else MONTH

    def read(self, value: Any) -> datetime | None:
        """Return a time in UTC, None for a missing one. Raises ValueError for anything else."""
        if is_missing(value):
            return None
        number = parse_number(value)
        return self._calendar(str(value).strip()) if number is None else _unix(number)

    def _calendar(self, text: str) -> datetime:
        try:
            time = self._of_date(text) or datetime.fromisoformat(text)
        except AmbiguousDateError:
            raise
        except ValueError:
            raise ValueError(f"“{text[:40]}” is no time in ISO 8601 and no Unix time") from None
        if time.tzinfo is None:
            self.without_zone += 1
            zone: tzinfo = ZoneInfo(self.zone) if self.zone else UTC
            time = self._placed(time, zone)
        try:
            return time.astimezone(UTC)
        except OverflowError:
            raise ValueError(f"“{text[:40]}” is no time that can be kept") from None

    def _of_date(self, text: str) -> datetime | None:
        """Read `13.08.2025 12:31` and `8/13/2025 12:31 PM`; None for other layouts."""
        found = DATE.fullmatch(text)
        if found is None:
            return None
        order = DAY if found["sign"] == "." else self.order
        if not order:
            raise AmbiguousDateError(
                f"“{text[:40]}” may begin with the day or the month: state which (command line: "
                "--dates day or month; API: dates)"
            )
        self.written = f"“{text}” is read with the {order} first"
        day, month = (found["first"], found["second"])[:: 1 if order == DAY else -1]
        hour = int(found["hour"] or 0)
        if found["half"]:
            hour = hour % 12 + 12 * (found["half"].lower() == "pm")
        parts = (int(found["year"]), int(month), int(day), hour, int(found["minute"] or 0))
        return datetime(*parts, int(found["second_of"] or 0))

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
            self.doubtful[NO_START] += 1
            return None, None
        if start is not None and end is not None and end < start:
            self.doubtful[REVERSED] += 1
            return None, None
        return start, end


def _unix(number: float) -> datetime:
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"{number:g} is no Unix time")
    if 0 < number < EARLIEST:
        raise ValueError(
            f"{number:g} would be a time in the 1970s; a duration belongs into the field “seconds”"
        )
    if number >= MILLISECONDS:
        number /= 1_000_000 if number >= MICROSECONDS else 1_000
    try:
        return datetime.fromtimestamp(number, tz=UTC)
    except (OverflowError, ValueError, OSError):
        raise ValueError(f"{number:g} is no Unix time") from None
