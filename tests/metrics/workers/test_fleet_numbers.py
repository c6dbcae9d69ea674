from datetime import UTC, datetime

import pytest

from metrics.templatetags.run_numbers import in_bytes, moment


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, ""),
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (1023 * 1024, "1,023 KiB"),
        (1_451_000_000, "1.35 GiB"),
        (85_520_809_984, "79.6 GiB"),
        (5 * 2**50, "5,120 TiB"),
    ],
)
def test_bytes(count: int | None, text: str) -> None:
    assert in_bytes(count) == text


def test_moment() -> None:
    assert moment(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert moment(None) is None
