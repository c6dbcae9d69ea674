"""Time metaeval's significance tests against plain scipy loops and sacrebleu, in one run.

``PYTHONPATH=. OMP_NUM_THREADS=1 python benchmarks/metaeval_significance.py [--growth]``. Times
are CPU seconds over all threads, which other work on the machine disturbs least. A loop is timed
on a part of the work and scaled up; its results on that part must equal ours.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest
from scipy.stats import kendalltau

import metaeval as me
from metaeval.measures import Measure
from metaeval.panels import Panel, panel
from metaeval.results import Notes
from metaeval.significance import permuted_differences
from metaeval.swaps import Swaps

SEED = 1


def scores(systems: int, segments: int, metrics: int, digits: int | None = None) -> Panel:
    """Return correlated random scores; ``digits`` rounds them, so that they tie."""
    rng = np.random.default_rng(0)
    names = [f"S{i}" for i in range(systems)], [str(j) for j in range(segments)]
    human = rng.normal(size=(systems, segments))
    noisy = [human / 2 + rng.normal(size=human.shape) for _ in range(metrics)]
    values = [human, *noisy] if digits is None else [v.round(digits) for v in [human, *noisy]]
    matrices = [me.ScoreMatrix(v, *names) for v in values]
    return panel(matrices[0], {str(k): m for k, m in enumerate(matrices[1:])}, Notes())


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
    swap = measure.default_swap()
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


def report(name: str, own: float, peer: float, bound: float, checked: str) -> None:
    """Print one line of the table."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    ratio = f"{peer / own:,.0f}x" if peer else "-"
    print(f"{name} | {own:.2f} s | bound {bound:g} s | loop {peer:,.1f} s | {ratio} | "
          f"{checked} | peak {memory:.2f} GiB", flush=True)  # fmt: skip


def kendall() -> None:
    """PERM-BOTH of tau-b, 17 metrics, 4 x 270, 1,000 permutations, with and without ties."""
    for digits, kind in ((None, "no ties"), (1, "ties")):
        data = scores(4, 270, 17, digits)
        for grouping, bound, part in (("none", 5.0, 20), ("item", 10.0, 2)):
            measure = Measure("kendall", grouping)
            own, deltas = ours(data, measure)
            peer, expected = loop(data, measure, part, grouping == "item")
            gap = float(np.abs(deltas[0][: part + 1] - expected).max())
            scale = 136 * 1000 / (part + 1)
            report(f"PERM-BOTH tau-b, {grouping}, {kind}", own, peer * scale, bound, f"{gap:.0e}")


def pairs() -> None:
    """acc_eq and SPA, 45 pairs of 10 metrics, 15 x 1,000, 1,000 permutations."""
    data = scores(15, 1000, 10)
    own, deltas = ours(data, Measure("acc_eq"))
    test, shape = Measure("acc_eq").test(data, "pairs", SEED)
    weights, outcomes = test.tables[0].weights, test.outcomes  # type: ignore[attr-defined]
    swaps = next(Swaps(SEED, 1000, shape, "pairs").chunks())[:21, 0] > 0

    def outcome_loop() -> np.ndarray:
        a, b = outcomes[:2]
        return np.array([weights @ np.where(s, a, b) - weights @ np.where(s, b, a) for s in swaps])

    peer, expected = seconds(outcome_loop, 1)
    gap = float(np.abs(deltas[0][:21] - expected).max())
    report("acc_eq, pairs", own, peer * 45 * 1000 / 21, 30.0, f"{gap:.0e}")
    own, deltas = ours(data, Measure("soft_pairwise_accuracy"))
    x, y = data.standardized()[:2]
    masks = next(Swaps(SEED, 1000, data.valid.shape, "both").chunks())[:4] > 0
    human = data.human_matrix()

    def spa(values: np.ndarray) -> float:
        return me.soft_pairwise_accuracy(human, human.with_values(values), rng=SEED).statistic

    def job() -> np.ndarray:
        mixed = [(np.where(mask, x, y), np.where(mask, y, x)) for mask in masks]
        return np.array([spa(a) - spa(b) for a, b in mixed])

    peer, expected = seconds(job, 1)
    gap = float(np.abs(deltas[0][:4] - expected).max())
    report("SPA", own, peer * 45 * 1000 / 4, 10.0, f"{gap:.0e} (1,000 flips)")


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
    metrics = {"BLEU": BLEU(references=[reference]), "chrF": CHRF(references=[reference])}
    extraction, stats = seconds(
        lambda: {
            name: np.array([m._extract_corpus_statistics(o, None) for o in outputs.values()])
            for name, m in metrics.items()
        },
        1,
    )
    scorers = {"BLEU": me.bleu_score, "chrF": me.chrf_score}
    corpora = [
        me.CorpusStatistics(stats[name], outputs, map(str, range(2000)), scorer)
        for name, scorer in scorers.items()
    ]
    own, _ = seconds(lambda: [me.paired_bootstrap(corpus, "A", rng=SEED) for corpus in corpora])
    test = PairedTest(
        list(outputs.items()), metrics, references=None, test_type="bs", n_samples=1000
    )
    whole, _ = seconds(test, 1)
    report("paired bootstrap, BLEU + chrF", own, whole - extraction, 0.0, "see tests")
    print(f"  one extraction {extraction:.2f} s, with ours {(extraction + own) / extraction:.3f}x")


def growth() -> None:
    """Print times over four sizes: segments for the pairs tests, metrics for tau."""
    for segments in (125, 250, 500, 1000):
        data = scores(15, segments, 10)
        row = [ours(data, Measure(name))[0] for name in ("acc_eq", "soft_pairwise_accuracy")]
        row += [ours(data, Measure("kendall", group))[0] for group in ("none", "item")]
        print(f"15 x {segments}: " + ", ".join(f"{value:.2f} s" for value in row), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", me.StatisticsWarning)
    if "--growth" in sys.argv:
        growth()
    else:
        kendall()
        pairs()
        systems()
