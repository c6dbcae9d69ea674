"""Time the statistics of metaeval that have a bound (PYTHONPATH=. python benchmarks/...)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import kendalltau, spearmanr

from metaeval import ScoreMatrix
from metaeval.correlation import acc_eq
from metaeval.correlation.hybrids import hybrid_supersample
from metaeval.judgments import z_scores
from metaeval.judgments.agreement import krippendorff_alpha
from metaeval.scores import CorpusStatistics, bleu_star_score
from metaeval.significance import boot_interval, zou_interval


def median_seconds(job: Callable[[], object], repeats: int = 5) -> float:
    """Return the median CPU time of a job after one warm-up."""
    job()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        job()
        times.append(time.process_time() - start)
    return float(np.median(times))


def matrix(rng: np.random.Generator, systems: int, segments: int) -> ScoreMatrix:
    """Return random normal scores."""
    values = rng.normal(size=(systems, segments))
    return ScoreMatrix(values, map(str, range(systems)), map(str, range(segments)))


def bootstrap(rng: np.random.Generator, segments: int, name: str, n_resamples: int = 100) -> None:
    """Print intervals over 15 systems, beside scipy on the copies of some of the samples."""
    human = matrix(rng, 15, segments)
    metric = human.with_values(human.values + rng.normal(size=human.shape))
    own = median_seconds(
        lambda: boot_interval(human, metric, name, n_resamples=n_resamples, rng=1), 3
    )
    draws = [rng.integers(size, size=size) for size in human.shape]
    copies = [each.values[np.ix_(*draws)].ravel() for each in (human, metric)]
    peer = kendalltau if name == "kendall" else spearmanr
    loop = n_resamples * median_seconds(lambda: peer(*copies), 3)
    ratio = loop / own
    print(
        f"{n_resamples} samples of {name}, 15 x {segments:,}: {own:.2f} s, {ratio:.1f} x the loop"
    )


def main() -> None:
    """Print one line per job: seconds and bound, or seconds and ratio to a peer."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    small, large = matrix(rng, 4, 270), matrix(rng, 15, 1000)
    metrics = {f"m{i}": small.with_values(rng.normal(size=(4, 270))) for i in range(17)}
    counts = rng.integers(1, 30, (4, 270, 10)).astype(float)
    bleu = CorpusStatistics(counts, small.systems, small.segments, bleu_star_score)
    other = large.with_values(large.values + rng.normal(size=(15, 1000)))
    ratings = rng.integers(0, 101, (5, 100_000)).astype(float)
    annotators = rng.integers(0, 300, 1_000_000).astype(str)
    scores = rng.integers(0, 101, 1_000_000).astype(float)

    def hybrids() -> None:
        result = hybrid_supersample(small, metrics, rng=1, statistics={"BLEU*": bleu})
        for a in range(18):
            for b in range(a):
                zou_interval(result.r[a], result.r[b], result.between[a, b], 10_000)

    jobs: list[tuple[str, Callable[[], object], float]] = [
        ("10,000 hybrids x 18 metrics, BLEU*, all Zou intervals", hybrids, 0.25),
        ("interval alpha, 100,000 x 5", lambda: krippendorff_alpha(ratings), 0.2),
        ("tie calibration, 15 x 1,000", lambda: acc_eq(large, other), 0.052),
        ("z-scores, 1,000,000 judgments", lambda: z_scores(scores, annotators), 0.5),
    ]
    for name, job, bound in jobs:
        print(f"{name}: {median_seconds(job):.3f} s (bound {bound} s)")
    for segments in (60, 200, 2000):
        for name in ("kendall", "spearman"):
            bootstrap(rng, segments, name)


if __name__ == "__main__":
    main()
