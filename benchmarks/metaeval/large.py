"""Permutation tests of all pairs of many metrics: seconds of the processor, and peak memory.

    OMP_NUM_THREADS=1 python -m benchmarks.metaeval.large

Each runs in a process of its own, 1,000 permutations. Bounds: 10 s and 500 MB with 18 metrics, 60 s
and 1 GB with 390. Exit status 1 where one is missed.
"""

import resource
import subprocess
import sys
import time
from itertools import combinations

from benchmarks.metaeval.significance import SEED, scores
from metaeval.correlation import Measure
from metaeval.significance.permutation.tests import default_swap, permuted_pvalues

# Measure, metrics, systems, segments, and the bounds.
JOBS = {"r, 390 metrics, 4 × 270": (Measure("pearson"), 390, 4, 270, 60, 1000)} | {
    f"{name}, 18 metrics, {systems} × {segments:,}": (
        *(Measure(measure), 18, systems, segments, 10, 500),
    )
    for systems, segments in ((10, 3_000), (100, 300))
    for name, measure in (
        *(("r", "pearson"), ("ρ", "spearman"), ("τ-b", "kendall")),
        *(("acc-eq", "acc_eq"), ("SPA", "soft_pairwise_accuracy")),
    )
}


def main() -> int:
    if len(sys.argv) == 1:
        command = [sys.executable, "-m", "benchmarks.metaeval.large"]
        return max(subprocess.run([*command, job]).returncode for job in JOBS)
    measure, metrics, systems, segments, most, memory = JOBS[sys.argv[1]]
    data = scores(systems, segments, metrics)
    pairs = list(combinations(range(metrics), 2))
    start = time.process_time()
    permuted_pvalues(data, measure, default_swap(measure), 1000, SEED, pairs, "greater")
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{sys.argv[1]}: {seconds:.1f} s, {peak:.0f} MiB (bounds {most} s, {memory} MB)")
    return 0 if seconds <= most and peak * 1.048576 <= memory else 1


if __name__ == "__main__":
    sys.exit(main())
