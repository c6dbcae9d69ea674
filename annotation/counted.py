"""Counts in sentences: `1 system`, `12,345 systems`."""


def counted(n: int, one: str, many: str = "") -> str:
    """The number with what there is of it; `many` where it is not `one` with an s."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"
