"""Rows of the table in docs/performance.md: a job and its peer on the same inputs, in one run."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
COLUMNS = ("job", "peer", "ours", "ratio", "bound", "limited by", "command")


def race(ours: Callable[[], T], peer: Callable[[], Any], repeats: int = 7) -> tuple[float, float]:
    """Run both in turn; return the smallest seconds of the processor that each took."""
    times: list[list[float]] = [[], []]
    for _ in range(repeats):
        for job, found in zip((ours, peer), times, strict=True):
            found.append(timed(job)[1])
    own, other = map(min, times)
    return own, other


def timed(job: Callable[[], T]) -> tuple[T, float]:
    """Return what a job gives, and its seconds of the processor, over all threads."""
    start = time.process_time()
    result = job()
    return result, time.process_time() - start


def row(
    job: str, peer: str, seconds: tuple[float, float], *, bound: float | None, limit: str
) -> bool:
    """Print a row; ``seconds`` are ours and the peer's. Returns whether the bound is kept."""
    ours, theirs = seconds
    spec = sys.modules["__main__"].__spec__
    command = f"`{spec.name}`" if spec else ""
    ratio = f"{theirs / ours:,.0f}" if theirs > 10 * ours else f"{theirs / ours:.2g}"
    shown = "–" if bound is None else f"{bound:g}"
    print(line(job, peer, f"{ours:.2g} s", ratio, shown, limit, command))
    sys.stdout.flush()
    return bound is None or theirs / ours >= bound


def line(*cells: str) -> str:
    """Return a line of the table."""
    return f"| {' | '.join(cells)} |"


def status(passed: Sequence[bool]) -> int:
    """Exit status: 1 where a bound is missed."""
    return 0 if all(passed) else 1
