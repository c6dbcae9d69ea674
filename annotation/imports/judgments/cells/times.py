"""Times of tables: ISO 8601, or Unix time in seconds, milliseconds or microseconds."""

import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from metaeval.files.cells import is_missing, parse_number

# A Unix time this large counts milliseconds: as seconds it would lie in the year 5138.
MILLISECONDS, MICROSECONDS = 1e11, 1e14
# Seconds to March 1973: a smaller number is a duration, whatever its column is called.
EARLIEST = 1e8
NO_START, REVERSED = "the start is 0", "the end lies before the start"


@dataclass
class Clock:
    """Reads times; counts those that named no zone and those that cannot be."""

    zone: str = ""
    without_zone: int = 0
    doubtful: Counter[str] = field(default_factory=Counter)

    def read(self, value: Any) -> datetime | None:
        """Return a time in UTC, None for a missing one. Raises ValueError for anything else."""
        if is_missing(value):
            return None
        number = parse_number(value)
        return self._calendar(str(value).strip()) if number is None else _unix(number)

    def _calendar(self, text: str) -> datetime:
        try:
            time = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(f"“{text[:40]}” is no time in ISO 8601 and no Unix time") from None
        if time.tzinfo is None:
            self.without_zone += 1
            zone: tzinfo = ZoneInfo(self.zone) if self.zone else UTC
            time = time.replace(tzinfo=zone)
        try:
            return time.astimezone(UTC)
        except OverflowError:
            raise ValueError(f"“{text[:40]}” is no time that can be kept") from None

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
