"""Time metaeval's significance tests against plain scipy loops and sacrebleu, in one run.

``OMP_NUM_THREADS=1 python -m benchmarks.metaeval.significance [kendall] [pairs] [spa] [systems]
[growth]``, without a name all but growth. Times are CPU seconds over
all threads, which other work on the machine disturbs least. A loop is timed on a part of the work
and scaled up; its results on that part must equal ours. Real scores are read from TOUCHSTONE_DATA.
"""

from __future__ import annotations

import csv
import os
import sys
import time
import warnings
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest
from scipy.stats import kendalltau

from benchmarks.ratios import row
from metaeval import ScoreMatrix, StatisticsWarning
from metaeval.correlation import Measure
from metaeval.correlation.panel import Panel, panel
from metaeval.correlation.soft_pairwise import normal_pvalues, pair_pvalues, sign_flips
from metaeval.results import Notes
from metaeval.scores import CorpusStatistics, bleu_score, chrf_score
from metaeval.significance.permutation.masks import Chunk, Swaps
from metaeval.significance.permutation.tests import (
    default_swap,
    permuted_differences,
    permuted_pvalues,
    permuted_test,
)
from metaeval.systems import paired_bootstrap
from metrics.base import SegmentInput
from metrics.registry import load

SEED, PART = 1, 4
# The limit of infinitely many flips is computed in single precision.
LIMIT_GAP = 1e-5
DATA = Path(os.environ.get("TOUCHSTONE_DATA", "../shared/data"))


def scores(systems: int, segments: int, metrics: int, digits: int | None = None) -> Panel:
    """Return correlated random scores; ``digits`` rounds them, so that they tie."""
    rng = np.random.default_rng(0)
    names = [f"S{i}" for i in range(systems)], [str(j) for j in range(segments)]
    human = rng.normal(size=(systems, segments))
    noisy = [human / 2 + rng.normal(size=human.shape) for _ in range(metrics)]
    values = [human, *noisy] if digits is None else [v.round(digits) for v in [human, *noisy]]
    matrices = [ScoreMatrix(v, *names) for v in values]
    return panel(matrices[0], {str(k): m for k, m in enumerate(matrices[1:])}, Notes())


def real(systems: int, segments: int) -> Panel:
    """Return WMT23 en-de: MQM and the 13 metrics beside it, with their ties.

    Of the systems by name the first that have everything, on the first segments that all have.
    """
    with (DATA / "wmt23-meta/en-de/segment-scores.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    others = ("system", "seg", "mqm", "da_sqm", "esa_1", "esa_2")
    names = [name for name in rows[0] if name not in others]
    known = [row for row in rows if row["mqm"] and all(row[name] for name in names)]
    cell = {(row["system"], row["seg"]): row for row in known}
    chosen = sorted({row["system"] for row in known})[:systems]
    shared = [seg for seg in dict.fromkeys(row["seg"] for row in known)
              if all((name, seg) in cell for name in chosen)][:segments]  # fmt: skip

    def matrix(column: str) -> ScoreMatrix:
        values = [[float(cell[name, seg][column]) for seg in shared] for name in chosen]
        return ScoreMatrix(values, chosen, shared)

    return panel(matrix("mqm"), {name: matrix(name) for name in names}, Notes())


def seconds(job: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the least CPU time of a few runs, and the last result."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = job()
        times.append(time.process_time() - start)
    return min(times), result


def ours(data: Panel, measure: Measure, n: int = 1000) -> tuple[float, Any]:
    """Time all pairs of metrics."""
    pairs = list(combinations(range(len(data.names)), 2))
    swap = default_swap(measure)
    return seconds(lambda: permuted_differences(data, measure, swap, n, SEED, pairs))


def loop(data: Panel, measure: Measure, part: int, by_item: bool) -> tuple[float, np.ndarray]:
    """Time a scipy loop over ``part`` permutations of one pair of metrics."""
    x, y = data.standardized()[:2]
    masks = next(Swaps(SEED, 1000, data.valid.shape, "both").chunks())[: part + 1] > 0

    def tau(values: np.ndarray) -> float:
        if not by_item:
            return float(kendalltau(values.ravel(), data.human.ravel()).statistic)
        taus = [kendalltau(a, b).statistic for a, b in zip(values.T, data.human.T, strict=True)]
        return float(np.nanmean(taus))

    def job() -> np.ndarray:
        mixed = [(np.where(m, x, y).round(12), np.where(m, y, x).round(12)) for m in masks]
        return np.array([tau(a) - tau(b) for a, b in mixed])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return seconds(job, 1)


def report(
    name: str,
    own: float,
    loop: float,
    gap: float,
    limit: str,
    peer: str = "loop over scipy",
    largest: float = 1e-9,
    bound: float = 1,
) -> None:
    """Print a row of the table; leave with status 1 where the values differ from the peer's."""
    if gap > largest:
        sys.exit(f"{name}: the values differ from the peer's by {gap:.0e}")
    row(name, peer, (own, loop), bound=bound, limit=limit)


def kendall() -> None:
    """PERM-BOTH of tau-b, 4 x 270, 1,000 permutations: made-up scores without and with ties, 17
    metrics, and real ones."""
    made = {"no ties": scores(4, 270, 17), "ties": scores(4, 270, 17, 1)}
    for kind, data in (made | {"real scores": real(4, 270)}).items():
        n_pairs = len(data.names) * (len(data.names) - 1) // 2
        shape = "x".join(map(str, data.valid.shape))
        for grouping, part in (("none", 20), ("item", 2)):
            measure = Measure("kendall", grouping)
            deltas = ours(data, measure)[1]
            peer, expected = loop(data, measure, part, grouping == "item")
            gap = float(np.abs(deltas[0][: part + 1] - expected).max())
            all_pairs = list(combinations(range(len(data.names)), 2))
            own, _ = seconds(
                lambda data=data, measure=measure, all_pairs=all_pairs: permuted_pvalues(
                    data, measure, "both", 1000, SEED, all_pairs, "greater"
                )
            )
            by = ", by segment" if grouping == "item" else ""
            name = f"PERM-BOTH of τ-b{by}, {n_pairs} pairs of metrics, {shape}, {kind}"
            report(name, own, peer * n_pairs * 1000 / (part + 1), gap, "arithmetic")


def pairs() -> None:
    """acc_eq, 45 pairs of 10 metrics, 15 x 1,000, 1,000 permutations."""
    data = scores(15, 1000, 10)
    own, deltas = ours(data, Measure("acc_eq"))
    test, shape, _ = permuted_test(Measure("acc_eq"), data, "pairs", SEED)
    weights, outcomes = test.weights, test.outcomes  # type: ignore[attr-defined]
    swaps = next(Swaps(SEED, 1000, shape, "pairs").chunks())[:21, 0] > 0

    def outcome_loop() -> np.ndarray:
        a, b = outcomes[:2]
        return np.array([weights @ np.where(s, a, b) - weights @ np.where(s, b, a) for s in swaps])

    peer, expected = seconds(outcome_loop, 1)
    gap = float(np.abs(deltas[0][:21] - expected).max())
    report(
        "PERM-BOTH of acc-eq, 45 pairs, 15 × 1,000",
        own,
        peer * 45 * 1000 / 21,
        gap,
        "memory",
        "plain loop",
    )


def spa() -> None:
    """SPA, 45 pairs of 10 metrics, 15 x 1,000, 1,000 permutations; p-values within by the limit of
    infinitely many flips, which is the default, or by 1,000 flips, as published."""
    data = scores(15, 1000, 10)
    own, deltas = ours(data, Measure("soft_pairwise_accuracy"))
    flipped, same = with_flips(data)
    scale = 45 * 1000 / PART
    for name, n_flips, spent, found in (
        ("of SPA", None, own, deltas[0][:PART]),
        ("of SPA by 1,000 flips", 1000, flipped * scale, same),
    ):
        peer, expected = one_by_one(data, n_flips)
        gap = float(np.abs(found - expected).max())
        job = f"PERM-BOTH {name}, 45 pairs, 15 × 1,000"
        report(job, spent, peer * scale, gap, "memory", "plain loop", LIMIT_GAP)


def masks_of(data: Panel) -> np.ndarray:
    """The first permutations of a test, +-1."""
    return next(Swaps(SEED, 1000, data.valid.shape, "both").chunks())[:PART]


def one_by_one(data: Panel, n_flips: int | None) -> tuple[float, np.ndarray]:
    """Time the first permutations of the first pair of metrics, one at a time; flips and the
    humans' p-values are there before."""
    x, y = data.standardized()[:2]
    flips = None if n_flips is None else sign_flips(SEED, n_flips, data.valid.shape[1])

    def pvalues(values: np.ndarray) -> np.ndarray:
        if flips is None:
            return normal_pvalues(values[None], data.valid)[0]
        return pair_pvalues(values, data.valid, flips)

    human = pvalues(data.human)

    def value(values: np.ndarray) -> float:
        return float(1 - np.abs(human - pvalues(values)).mean())

    def job() -> np.ndarray:
        mixed = [(np.where(m > 0, x, y), np.where(m > 0, y, x)) for m in masks_of(data)]
        return np.array([value(a) - value(b) for a, b in mixed])

    return seconds(job, 1)


def with_flips(data: Panel) -> tuple[float, np.ndarray]:
    """Time the same permutations in the test itself, asked for 1,000 flips."""
    soft = Measure("soft_pairwise_accuracy", n_flips=1000)
    test, *_ = permuted_test(soft, data, "both", SEED)
    chunk = Chunk(masks_of(data), data.valid, "system")
    return seconds(lambda: test.differences([(0, 1)], [None], chunk)[0], 1)  # type: ignore[attr-defined]


def systems() -> None:
    """Paired bootstrap of BLEU and chrF, 2,000 segments x 3 systems x 1,000 resamples."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{k}" for k in range(3000)])
    reference = [" ".join(words[rng.zipf(1.3, 20) % 3000]) for _ in range(2000)]
    outputs = {
        name: [" ".join(w if rng.random() > noise else "x" for w in line.split())
               for line in reference]
        for name, noise in (("A", 0.3), ("B", 0.32), ("C", 0.4))
    }  # fmt: skip
    scorers = {"bleu": bleu_score, "chrf": chrf_score}
    inputs = [
        SegmentInput("", text, (wanted,))
        for texts in outputs.values()
        for text, wanted in zip(texts, reference, strict=True)
    ]

    def count() -> list[CorpusStatistics]:
        loaded = [load(name, source_language="de", target_language="en") for name in scorers]
        return [
            CorpusStatistics(
                metric.statistics(inputs).reshape(3, 2000, -1),  # type: ignore[attr-defined]
                *(outputs, map(str, range(2000)), scorer),
            )
            for metric, scorer in zip(loaded, scorers.values(), strict=True)
        ]

    counting, corpora = seconds(count)
    own, found = seconds(lambda: [paired_bootstrap(each, "A", rng=SEED) for each in corpora])

    def peer() -> Any:
        scorers = {"BLEU": BLEU(references=[reference]), "chrF": CHRF(references=[reference])}
        named = list(outputs.items())
        return PairedTest(named, scorers, references=None, test_type="bs", n_samples=1000)()

    whole, (_, expected) = seconds(peer)
    # The peer's baseline comes first.
    theirs = [results[0].score for name, results in expected.items() if name != "System"]
    gap = max(abs(a.baseline_score - b) for a, b in zip(found, theirs, strict=True))
    report("paired bootstrap of BLEU and chrF, n-grams counted", counting + own, whole, gap,
           "arithmetic", "sacrebleu", bound=5)  # fmt: skip


def growth() -> None:
    """Print times over four sizes: segments for the pairs tests, metrics for tau."""
    for segments in (125, 250, 500, 1000):
        data = scores(15, segments, 10)
        row = [ours(data, Measure(name))[0] for name in ("acc_eq", "soft_pairwise_accuracy")]
        row += [ours(data, Measure("kendall", group))[0] for group in ("none", "item")]
        print(f"15 x {segments}: " + ", ".join(f"{value:.2f} s" for value in row), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", StatisticsWarning)
    every = {each.__name__: each for each in (kendall, pairs, spa, systems, growth)}
    for name in sys.argv[1:] or list(every)[:-1]:
        every[name]()
