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
JOBS = {
    "PERM-BOTH of r, 390 metrics, 4 × 270": (Measure("pearson"), 390, 4, 270, 60, 1000),
    "acc-eq, 18 metrics, 100 × 300": (Measure("acc_eq"), 18, 100, 300, 10, 500),
    "acc-eq, 18 metrics, 10 × 3,000": (Measure("acc_eq"), 18, 10, 3_000, 10, 500),
    "PERM-BOTH of τ-b, 18 metrics, 10 × 3,000": (Measure("kendall"), 18, 10, 3_000, 10, 500),
    "SPA, 18 metrics, 10 × 3,000": (Measure("soft_pairwise_accuracy"), 18, 10, 3_000, 10, 500),
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
