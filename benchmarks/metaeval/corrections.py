"""How often ranks err, and what they find, under each correction for many tests.

``PYTHONPATH=. python -m benchmarks.metaeval.corrections [samples]``. Real scores with their ties
(WMT23 en-de, TOUCHSTONE_DATA): the 13 metrics against MQM and against ESA, on segments drawn with
replacement. Every metric gets a twin: its scores with noise, half of the segments swapped between
the two, drawn anew each time, so that both agree equally well with the humans. Whoever tells twins
apart errs.
"""

from __future__ import annotations

import csv
import os
import sys
import warnings
from pathlib import Path

import numpy as np

from metaeval import ScoreMatrix, StatisticsWarning
from metaeval.arrays import FloatArray
from metaeval.replication.questions import ALPHA, Scored, adjusted, answer, parse
from metaeval.significance import rank_clusters

DATA = Path(os.environ.get("TOUCHSTONE_DATA", "../shared/data"))
CHOICES = (("holm", "table"), ("holm", "row"), ("bh", "table"), ("none", "table"))
SYSTEMS, NOISE = 6, 0.5
Sample = tuple[FloatArray, dict[str, FloatArray]]


def real(human: str) -> Sample:
    """Return human and metric scores, systems x segments, where all of them have one."""
    with (DATA / "wmt23-meta/en-de/segment-scores.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    names = [name for name in rows[0] if name.endswith(("-refA", "-src"))]
    known = [row for row in rows if row[human] and all(row[name] for name in names)]
    cell = {(row["system"], row["seg"]): row for row in known}
    systems = sorted({row["system"] for row in known})[:SYSTEMS]
    segments = [
        seg
        for seg in dict.fromkeys(row["seg"] for row in known)
        if all((name, seg) in cell for name in systems)
    ]

    def table(column: str) -> FloatArray:
        return np.array([[float(cell[name, seg][column]) for seg in segments] for name in systems])

    return table(human), {name: table(name) for name in names}


def drawn(found: Sample, n: int, rng: np.random.Generator) -> Scored:
    """Draw ``n`` segments, and a twin of every metric."""
    human, metrics = found
    at = rng.integers(human.shape[1], size=n)
    names = [f"s{k}" for k in range(len(human))], [str(k) for k in range(n)]
    pairs: dict[str, ScoreMatrix] = {}
    for name, values in metrics.items():
        one = (values[:, at] - values.mean()) / values.std()
        other = one + NOISE * rng.normal(size=one.shape)
        one = one + NOISE * rng.normal(size=one.shape)
        swap = rng.random(n) < 0.5
        pairs[name] = ScoreMatrix(np.where(swap, other, one), *names)
        pairs[f"{name}'"] = ScoreMatrix(np.where(swap, one, other), *names)
    return Scored(ScoreMatrix(human[:, at], *names), pairs, seed=1)


def judged(scored: Scored, question: str, truth: FloatArray) -> dict[tuple[str, str], FloatArray]:
    """Return by choice: twins distinguished, wrong order, share found, size and hit of rank 1."""
    found = answer(scored, parse(question))
    size = len(found.values)
    twins = np.equal.outer(np.arange(size) // 2, np.arange(size) // 2)
    better = np.subtract.outer(truth, truth) > 0.02
    told = {}
    for choice in CHOICES:
        pvalues, _ = adjusted(found.pvalues, *choice, None)
        says = np.nan_to_num(pvalues, nan=1.0) <= ALPHA
        first = rank_clusters(found.values, pvalues, alpha=ALPHA).ranks == 1
        best = truth == truth.max()
        told[choice] = np.array(
            [
                (says & twins).any(),
                (says & better.T).any(),
                says[better].mean(),
                first.sum(),
                first[best].all(),
            ]
        )
    return told


def run(samples: int) -> None:
    """Print a table for each kind of human score and number of segments."""
    for human in ("mqm", "esa_1"):
        found = real(human)
        for question in ("tau-b", "pearson"):
            everything = drawn(found, 6000, np.random.default_rng(0))
            truth = answer(everything, parse(question))
            values = truth.values.reshape(-1, 2).mean(axis=1).repeat(2)
            for n in (60, 200):
                rng = np.random.default_rng(n)
                rows = [judged(drawn(found, n, rng), question, values) for _ in range(samples)]
                print(f"{human}, {question}, {n} segments: twins, wrong, found, first, best")
                for choice in CHOICES:
                    means = np.mean([row[choice] for row in rows], axis=0)
                    print(f"  {' '.join(choice):12}", " ".join(f"{x:6.3f}" for x in means))
                sys.stdout.flush()


if __name__ == "__main__":
    warnings.simplefilter("ignore", StatisticsWarning)
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
