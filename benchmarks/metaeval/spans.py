"""Compare spans by metaeval with plain loops over texts and characters, in one run.

``PYTHONPATH=. OMP_NUM_THREADS=1 python benchmarks/metaeval/spans.py [texts]``: ten spans a text,
half of them gold, by default 100,000 texts. Times are CPU seconds. The loops take every hundredth
text and are scaled up; their results there must equal ours.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import permutations

import numpy as np

from metaeval.spans import CHARACTERS, MPP, SpanTable, compare_spans

EACH, PART = 5, 100
Span = tuple[int, int, int]


def made(rng: np.random.Generator, n: int) -> SpanTable:
    """Spans of 3 to 29 characters in texts of 200."""
    item = np.repeat(np.arange(n), EACH)
    start = rng.integers(0, 170, len(item))
    end = start + rng.integers(3, 30, len(item))
    return SpanTable(n, item, start, end, np.zeros_like(item), rng.integers(0, 2, len(item)))


def by_text(table: SpanTable) -> list[list[Span]]:
    found: list[list[Span]] = [[] for _ in range(table.n_items)]
    for item, *span in zip(table.item, table.start, table.end, table.severity, strict=True):
        found[item].append(tuple(map(int, span)))  # type: ignore[arg-type]
    return found


def characters(gold: list[Span], predicted: list[Span]) -> list[float]:
    """WMT25's definition, a character at a time."""
    counts = np.zeros((2, 2, 200), dtype=int)
    for side, spans in enumerate((gold, predicted)):
        for start, end, severity in spans:
            for place in range(start, end):
                counts[side, severity, place] += 1
    g, p = counts
    exact = np.minimum(g, p).sum(axis=0)
    half = 0.5 * np.minimum(np.maximum(g - p, 0).sum(axis=0), np.maximum(p - g, 0).sum(axis=0))
    credit = float((exact + half).sum())
    return [credit, float(p.sum()), credit, float(g.sum())]


def matched(gold: list[Span], predicted: list[Span]) -> list[float]:
    """Every matching of a text is tried."""
    shares = [
        [
            (overlap / (b - a), overlap / (d - c))
            for c, d, _ in gold
            for overlap in [max(0, min(b, d) - max(a, c))]
        ]
        for a, b, _ in predicted
    ]
    best: tuple[tuple[float, float, float], list[float]] = ((-1, 0, 0), [])
    for choice in permutations(range(len(gold))):
        x = sum(shares[n][place][0] for n, place in enumerate(choice)) / EACH
        y = sum(shares[n][place][1] for n, place in enumerate(choice)) / EACH
        f = 2 * x * y / (x + y) if x + y else 0.0
        rank = (round(f, 12), round(x + y, 12), x)
        best = max(best, (rank, [x * EACH, EACH, y * EACH, EACH]))
    return best[1]


def timed(work: Callable[[], object]) -> tuple[float, object]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rng = np.random.default_rng(1)
    gold, predicted = made(rng, n), made(rng, n)
    items = np.arange(0, n, PART)
    parts = [by_text(table.taken(items)) for table in (gold, predicted)]
    print(f"{2 * EACH * n:,} spans in {n:,} texts")
    for measure, loop in ((CHARACTERS, characters), (MPP, matched)):
        ours, found = timed(lambda m=measure: compare_spans(gold, predicted, m).values)  # type: ignore[misc]
        theirs, expected = timed(
            lambda each=loop: np.array([each(g, p) for g, p in zip(*parts, strict=True)])  # type: ignore[misc]
        )
        whole = theirs * PART
        np.testing.assert_allclose(found[items], expected, atol=1e-9)
        print(f"{measure.label}: {ours:.1f} s, loop {whole:.0f} s, {whole / ours:.0f} x")


if __name__ == "__main__":
    main()
