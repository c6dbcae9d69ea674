"""Results as plain JSON values."""

from typing import Any

from metaeval import Interval


def plain(value: Any) -> Any:
    """Return the same with None for nan, lists for tuples and [low, high] for intervals."""
    if isinstance(value, Interval):
        return plain([value.low, value.high])
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and value != value else value
