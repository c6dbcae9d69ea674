"""Time the statistics of metaeval that have a bound (PYTHONPATH=. python benchmarks/...)."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import krippendorff
import numpy as np
from scipy.stats import kendalltau, spearmanr

from benchmarks.ratios import race, row
from metaeval import ScoreMatrix
from metaeval.correlation import acc_eq, kendall, spearman
from metaeval.correlation.hybrids import hybrid_supersample
from metaeval.correlation.soft_pairwise import pair_pvalues, sign_flips
from metaeval.files import EvalSet, read_evalset, write_evalset
from metaeval.files.evalset.folder import Scores
from metaeval.judgments import z_scores
from metaeval.judgments.agreement import krippendorff_alpha
from metaeval.scores import CorpusStatistics, bleu_star_score
from metaeval.significance import boot_interval
from metaeval.significance.dependent import zou_ends


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
    """Print the row of an interval over 15 systems, beside scipy on the copies of a sample."""
    human = matrix(rng, 15, segments)
    metric = human.with_values(human.values + rng.normal(size=human.shape))
    own = median_seconds(
        lambda: boot_interval(human, metric, name, n_resamples=n_resamples, rng=1), 3
    )
    draws = [rng.integers(size, size=size) for size in human.shape]
    copies = [each.values[np.ix_(*draws)].ravel() for each in (human, metric)]
    peer = kendalltau if name == "kendall" else spearmanr
    loop = n_resamples * median_seconds(lambda: peer(*copies), 3)
    job = f"{n_resamples} samples of {name}, 15 × {segments:,}"
    row(job, "loop over scipy", (own, loop), bound=1, limit="sorting")


def peers(rng: np.random.Generator) -> None:
    """Print rows of the table: plain numpy, scipy or a plain loop beside each job."""
    who, scores = rng.integers(0, 300, 1_000_000), rng.integers(0, 101, 1_000_000).astype(float)
    words = who.astype(str).tolist()
    names = np.array(words)
    ratings = rng.integers(0, 101, (5, 100_000)).astype(float)
    jobs: list[tuple[str, str, Callable[[], object], Callable[[], object], str]] = [
        (
            *("z-scores of 1,000,000 judgments", "`np.unique`, `np.bincount`"),
            *(lambda: z_scores(scores, who), lambda: plain_z(scores, who), "memory"),
        ),
        (
            *("the same by name", "`np.unique`, `np.bincount`"),
            *(lambda: z_scores(scores, words), lambda: plain_z(scores, names), "Python"),
        ),
        (
            *("Krippendorff's α, interval, 100,000 × 5", "krippendorff"),
            *(lambda: krippendorff_alpha(ratings), lambda: krippendorff.alpha(ratings), "memory"),
        ),
    ]
    for n in (50, 500, 5_000, 50_000):
        x = rng.normal(size=n).round(2)
        y = (x + rng.normal(size=n)).round(2)
        jobs += [
            (
                *(f"Kendall's τ-b with p, n = {n:,}", "scipy"),
                *(lambda x=x, y=y: kendall(x, y), lambda x=x, y=y: kendalltau(x, y), "sorting"),
            ),
            (
                *(f"Spearman's ρ with p, n = {n:,}", "scipy"),
                *(lambda x=x, y=y: spearman(x, y), lambda x=x, y=y: spearmanr(x, y), "sorting"),
            ),
        ]
    r = np.corrcoef(rng.normal(size=(19, 40)) + rng.normal(size=40))
    first, second = np.tril_indices(18, -1)
    three = r[0, 1:][first], r[0, 1:][second], r[1:, 1:][first, second]
    values, flips = rng.normal(size=(15, 1000)), sign_flips(1, 1000, 1000)
    single, known = flips.astype(np.float32), np.ones(values.shape, dtype=np.bool_)
    jobs += [
        (
            *("Zou's intervals of all pairs of 18 metrics", "the formula in `math`"),
            lambda: zou_ends(*three, 10_000),
            lambda: [plain_zou(*each) for each in zip(*(x.tolist() for x in three), strict=True)],
            "arithmetic",
        ),
        (
            *("p-values of SPA by 1,000 flips, 15 × 1,000", "one float32 product"),
            lambda: pair_pvalues(values, known, flips),
            *(lambda: plain_flips(values, single), "arithmetic"),
        ),
    ]
    for job, peer, ours, theirs, limit in jobs:
        row(job, peer, race(ours, theirs), bound=1, limit=limit)
    reading(rng)


def reading(rng: np.random.Generator) -> None:
    """Print the row of an mt-metrics-eval folder with 450,000 scores."""
    with TemporaryDirectory() as folder:
        systems, root = [f"S{k}" for k in range(15)], Path(folder)
        numbers = {f"m{k}-refA": rng.normal(size=(15, 1000)) for k in range(30)}
        named = {
            (name, "seg"): Scores(dict(zip(systems, each, strict=True)))
            for name, each in numbers.items()
        }
        texts = tuple(f"some words of segment {k}" for k in range(1000))
        write_evalset(
            EvalSet(
                name="made",
                language_pair="en-de",
                sources=texts,
                documents=(("news", "one"),) * 1000,
                references={"refA": texts},
                outputs=dict.fromkeys(systems, texts),
                metric_scores=named,
            ),
            root,
        )
        seconds = race(lambda: read_evalset(root, "en-de"), lambda: plain_reading(root))
    job = "reading 450,000 scores of an mt-metrics-eval folder, checked"
    row(job, "plain loop, unchecked", seconds, bound=1, limit="Python")


def plain_z(scores: np.ndarray, annotators: np.ndarray) -> np.ndarray:
    """z-scores by `np.unique` and `np.bincount`."""
    codes = np.unique(annotators, return_inverse=True)[1]
    counts = np.bincount(codes)
    away = scores - (np.bincount(codes, scores) / counts)[codes]
    return away / np.sqrt(np.bincount(codes, away**2) / (counts - 1))[codes]


def plain_zou(x: float, y: float, z: float, n: int = 10_000) -> tuple[float, float]:
    """Zou's formula in `math`."""
    half = 1.959963984540054 / math.sqrt(n - 3)
    (l1, u1), (l2, u2) = (
        (math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)) for r in (x, y)
    )
    c = ((z - x * y / 2) * (1 - x * x - y * y - z * z) + z**3) / ((1 - x * x) * (1 - y * y))
    low = (x - l1) ** 2 + (u2 - y) ** 2 - 2 * c * (x - l1) * (u2 - y)
    high = (u1 - x) ** 2 + (y - l2) ** 2 - 2 * c * (u1 - x) * (y - l2)
    return x - y - math.sqrt(low), x - y + math.sqrt(high)


def plain_flips(values: np.ndarray, flips: np.ndarray) -> np.ndarray:
    """The p of each pair of systems by one product in single precision."""
    upper, lower = np.triu_indices(len(values), 1)
    gaps = (values[upper] - values[lower]).astype(np.float32)
    return (flips @ gaps.T >= gaps.sum(axis=1)).mean(axis=0)


def plain_reading(root: Path) -> dict[str, object]:
    """Every file line by line, unchecked."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*.score")):
        scores: dict[str, list[float | None]] = {}
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                system, score = line.split()
                scores.setdefault(system, []).append(None if score == "None" else float(score))
        found[path.name] = scores
    for path in sorted([*root.rglob("*.txt"), *root.rglob("*.docs")]):
        with path.open(encoding="utf-8") as lines:
            found[path.name] = [line.strip() for line in lines]
    return found


def main() -> None:
    """Print seconds and bound of jobs without a peer, then a row for each of the others."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    small, large = matrix(rng, 4, 270), matrix(rng, 15, 1000)
    metrics = {f"m{i}": small.with_values(rng.normal(size=(4, 270))) for i in range(17)}
    counts = rng.integers(1, 30, (4, 270, 10)).astype(float)
    bleu = CorpusStatistics(counts, small.systems, small.segments, bleu_star_score)
    other = large.with_values(large.values + rng.normal(size=(15, 1000)))
    ratings = rng.integers(0, 101, (5, 1_000_000)).astype(float)

    def hybrids() -> None:
        result = hybrid_supersample(small, metrics, rng=1, statistics={"BLEU*": bleu})
        first, second = np.tril_indices(18, -1)
        zou_ends(result.r[first], result.r[second], result.between[first, second], 10_000)

    jobs: list[tuple[str, Callable[[], object], float]] = [
        ("10,000 hybrids x 18 metrics, BLEU*, all Zou intervals", hybrids, 0.25),
        ("interval alpha, 1,000,000 x 5", lambda: krippendorff_alpha(ratings), 0.2),
        ("tie calibration, 15 x 1,000", lambda: acc_eq(large, other), 0.052),
    ]
    for name, job, bound in jobs:
        print(f"{name}: {median_seconds(job):.3f} s (bound {bound} s)")
    peers(rng)
    for segments in (60, 200, 2000):
        for name in ("kendall", "spearman"):
            bootstrap(rng, segments, name)


if __name__ == "__main__":
    main()
