"""Simulated coverage of every interval and size of every test that Touchstone shows.

    OMP_NUM_THREADS=1 python -m benchmarks.metaeval.coverage [--replicates 1000] [--only WORDS]
        [--quick]

Each case makes data whose truth is known, calls the public function, and counts: an interval
should hold the truth in 95% of replicates, a test of a true null reject in 5%, and an estimate
without optimism exceed the truth in half. Prints the tables of benchmarks/results/coverage.md;
seeds are fixed, so the same versions give the same table. No peer: the truth is the yardstick.
"""

import argparse
import math
import os
import platform
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np
import scipy

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

from benchmarks.metaeval.covered import CASES
from benchmarks.metaeval.covered.case import (
    COVERS,
    EXCEEDS,
    NOMINAL,
    REJECTS,
    Case,
    Found,
    Size,
    replicate,
)
from metaeval.repeats import refuse_repeats

REPLICATES, QUICK, PROCESSES = 1000, 60, 2
# Fewer tell nothing.
FEWEST = 40
HEADS = {
    COVERS: "95% intervals: share that covers the true value, %",
    REJECTS: "Tests at .05: share that rejects a true null hypothesis, %",
    EXCEEDS: "Estimates: how often they lie above the truth, %",
}
Answers = dict[tuple[str, Size], Found]


def setup() -> None:
    """Load what the pages' own computations import."""
    import django

    django.setup()
    warnings.simplefilter("ignore")


def run(job: tuple[int, Size, int]) -> tuple[str, Size, Found]:
    """Run one case of the registry for one size."""
    place, size, replicates = job
    return CASES[place].name, size, replicate(CASES[place], size, replicates)


def jobs(only: str, replicates: int) -> Iterator[tuple[int, Size, int]]:
    """Yield what is to be run, by place in the registry."""
    for place, case in enumerate(CASES):
        if only.lower() in case.name.lower():
            for size in case.sizes:
                yield place, size, max(FEWEST, round(replicates * case.share))


def table(cases: Iterable[Case], answers: Answers) -> list[str]:
    """Return the lines of the document: one table for each kind."""
    lines, chosen = [], [case for case in cases if (case.name, case.sizes[0]) in answers]
    for kind, head in HEADS.items():
        rows = [case for case in chosen if case.kind == kind]
        if rows:
            lines += [
                "",
                f"| {head} | data | n | % | ± | |",
                "| --- | --- | --- | --- | --- | --- |",
            ]
            lines += [row(case, [answers[case.name, size] for size in case.sizes]) for case in rows]
    return lines


def row(case: Case, found: list[Found]) -> str:
    """Return one line; what lies outside the bounds by more than chance is in bold."""
    sizes = " / ".join(_size(size) for size in case.sizes)
    shares = " / ".join(_share(case, one) for one in found)
    error = max((100 * one.error for one in found if one.shown), default=0.0)
    return f"| {case.shown} | {case.data} | {sizes} | {shares} | {error:.1f} | {case.note} |"


def _size(size: Size) -> str:
    return f"{size[0]} × {size[1]}" if isinstance(size, tuple) else f"{size:,}"


def _share(case: Case, found: Found) -> str:
    """A dash where nothing is shown; in brackets where it is not always shown."""
    if found.shown < found.replicates / 2:
        return "–"
    text = f"{100 * found.rate:.1f}"
    text = f"**{text}**" if is_outside(case, found) else text
    return text if found.shown == found.replicates else f"({text})"


def is_outside(case: Case, found: Found) -> bool:
    """Tell whether a rate is outside its bounds by more than two standard errors."""
    nominal, slack = NOMINAL[case.kind]
    bound = (nominal + (slack if 100.0 * found.rate > nominal else -slack)) / 100.0
    error = math.sqrt(bound * (1.0 - bound) / max(found.shown, 1))
    return abs(found.rate - nominal / 100.0) > slack / 100.0 + 2.0 * error


def main() -> None:
    """Run the cases in two processes and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--only", default="", help="cases whose name holds these words")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} replicates a case")
    parser.add_argument("--seconds", action="store_true", help="print each job as it ends")
    options: Any = refuse_repeats(parser).parse_args()
    replicates = QUICK if options.quick else options.replicates
    start, answers = time.perf_counter(), Answers()
    with ProcessPoolExecutor(PROCESSES, initializer=setup) as pool:
        chosen = [pool.submit(run, job) for job in jobs(options.only, replicates)]
        for done in as_completed(chosen):
            name, size, found = done.result()
            answers[name, size] = found
            if options.seconds:
                print(f"{time.perf_counter() - start:7.1f} s {name} {size} {found}", flush=True)
    print("\n".join(table(CASES, answers)))
    versions = (
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}"
    )
    print(f"\n{versions}; {time.perf_counter() - start:.0f} s, {replicates} replicates.")


if __name__ == "__main__":
    main()
