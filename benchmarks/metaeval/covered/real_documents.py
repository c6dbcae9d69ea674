"""Real documents drawn from all there are: MQM of TED talks, and sets of error spans (WMT23 en-de).

A draw is of documents with replacement, each a document of its own; the truth is that of all of
them. Files are read from TOUCHSTONE_DATA. Sizes are documents drawn.
"""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.metaeval.covered.case import Case, Size, count_of, holds, seed_of
from metaeval import ScoreMatrix
from metaeval.arrays import FloatArray, IntArray
from metaeval.correlation import pearson
from metaeval.correlation.intervals import correlation_intervals, mean_interval
from metaeval.spans import MPP, SpanTable, compare_spans, detect
from metaeval.systems import paired_bootstrap

DATA = Path(os.environ.get("TOUCHSTONE_DATA", "../shared/data"))
PASSAGE = 10
TED, SPANS = "documents: ten segments of a TED talk (MQM, zh-en)", "documents of WMT23 en-de"
GOLD, FOUND, OTHER = "WMT-MQM", "ESA-1", "ESA-2"
Row = dict[str, str]


def rows(name: str) -> list[Row]:
    """Return the rows of a tab-separated file."""
    with (DATA / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def numbered(labels: list[str]) -> IntArray:
    """Return labels as numbers, in order of appearance."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels])


def table(found: list[Row], segments: list[str], column: str, systems: list[str]) -> FloatArray:
    """Return systems x segments of a column."""
    cell = {(row["system"], row.get("seg_id") or row["seg"]): row[column] for row in found}
    return np.array([[float(cell[name, seg]) for seg in segments] for name in systems])


@cache
def talks() -> tuple[FloatArray, IntArray]:
    """Return MQM scores, systems x segments, and the passage of each segment."""
    texts = rows("mqm-ted/zh-en/segments.tsv")
    at: defaultdict[str, int] = defaultdict(int)
    passages = []
    for text in texts:
        passages.append(f"{text['doc']} {at[text['doc']] // PASSAGE}")
        at[text["doc"]] += 1
    found = rows("mqm-ted/zh-en/seg-scores.tsv")
    systems = sorted({row["system"] for row in found})
    values = table(found, [text["seg_id"] for text in texts], "mqm", systems)
    return values, numbered(passages)


@cache
def judged() -> tuple[list[FloatArray], IntArray]:
    """Return scores of the three sets, systems x segments each, and documents."""
    texts = rows("spans/en-de/segments.tsv")
    every = rows("spans/en-de/judgments.tsv")
    segments = [text["seg"] for text in texts]
    systems = sorted({row["system"] for row in every})
    scores = [
        table([row for row in every if row["set"] == one], segments, "score", systems)
        for one in (GOLD, FOUND, OTHER)
    ]
    kept = ~np.isnan(np.array(scores)).any(axis=(0, 1))
    of = numbered([text["document"] for text in texts])[kept]
    return [each[:, kept] for each in scores], of


@cache
def spans() -> tuple[FloatArray, IntArray]:
    """Return the components of all outputs, one set as gold, and their documents."""
    place = {text["seg"]: text["document"] for text in rows("spans/en-de/segments.tsv")}
    items = {
        (row["system"], row["seg"]): n
        for n, row in enumerate(
            row for row in rows("spans/en-de/judgments.tsv") if row["set"] == GOLD
        )
    }
    held: dict[str, list[list[Row]]] = {one: [[] for _ in items] for one in (GOLD, FOUND)}
    for row in rows("spans/en-de/spans.tsv"):
        if row["set"] in held and (row["system"], row["seg"]) in items:
            held[row["set"]][items[row["system"], row["seg"]]].append(row)
    gold, found = (SpanTable.of_lists(held[one]) for one in (GOLD, FOUND))
    documents = numbered([place[segment] for _, segment in items])
    return compare_spans(gold, found, MPP).values, documents


def draw(rng: np.random.Generator, of: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Return the entries of n documents drawn with replacement, and which draw each is of."""
    chosen = rng.integers(int(of.max()) + 1, size=n)
    entries = [np.flatnonzero(of == one) for one in chosen]
    return np.concatenate(entries), np.repeat(np.arange(n), [len(one) for one in entries])


def mean_of_a_system(rng: np.random.Generator, size: Size) -> float:
    values, of = talks()
    row = values[rng.integers(len(values))]
    at, drawn = draw(rng, of, count_of(size))
    low, high, _ = mean_interval(row[at], clusters=drawn)
    return holds(low, high, float(row.mean()))


def of_two_systems(source: str, rng: np.random.Generator, size: Size) -> float:
    """Any two of them; the truth is their difference over all documents."""
    values, of = talks() if source == TED else (judged()[0][0], judged()[1])
    two = values[rng.choice(len(values), size=2, replace=False)]
    at, drawn = draw(rng, of, count_of(size))
    matrix = ScoreMatrix(two[:, at], "AB", map(str, range(len(at))), map(str, drawn))
    found = paired_bootstrap(matrix, "A", n_resamples=500, rng=seed_of(rng))
    if found.lows is None or found.highs is None:
        return np.nan
    return holds(float(found.lows[0]), float(found.highs[0]), float(two[1].mean() - two[0].mean()))


def correlation(is_difference: bool, rng: np.random.Generator, size: Size) -> float:
    """One set of human scores as a metric of the other."""
    sets, of = judged()
    at, drawn = draw(rng, of, count_of(size))
    names = [f"S{n}" for n in range(len(sets[0]))], [str(n) for n in range(len(at))]
    human, first, second = (ScoreMatrix(one[:, at], *names, map(str, drawn)) for one in sets)
    found = correlation_intervals(human, {"a": first, "b": second})
    truths = [pearson(sets[0].ravel(), one.ravel()).statistic for one in sets[1:]]
    if is_difference:
        ends = float(found.difference_lows[0, 1]), float(found.difference_highs[0, 1])
        return holds(*ends, truths[0] - truths[1])
    return holds(float(found.lows[0]), float(found.highs[0]), truths[0])


def detected(rng: np.random.Generator, size: Size) -> float:
    """F1 of the spans of one set against the other."""
    values, of = spans()
    at, drawn = draw(rng, of, count_of(size))
    found = detect(values[at], documents=drawn.tolist(), n_resamples=400, rng=seed_of(rng))
    ends = found.f1_interval
    return holds(ends[0], ends[1], detect(values).f1) if ends else np.nan


SIZES: tuple[Size, ...] = (10, 20, 40)
SKEWED = "documents differ much in size and penalties: with few a warning is shown"
CASES = (
    Case("mean of a system", TED, mean_of_a_system, SIZES),
    Case("difference of two systems", TED, partial(of_two_systems, TED), SIZES),
    Case("difference of two systems", f"MQM; {SPANS}", partial(of_two_systems, SPANS), SIZES,
         note=SKEWED),
    Case("pooled r", f"ESA against MQM; {SPANS}", partial(correlation, False), SIZES,
         share=0.5, note=SKEWED),
    Case("difference of pooled r", f"two ESA sets against MQM; {SPANS}",
         partial(correlation, True), SIZES, share=0.5, note=SKEWED),
    Case("F1 of spans", f"ESA against MQM; {SPANS}", detected, SIZES, share=0.5, note=SKEWED),
)  # fmt: skip
