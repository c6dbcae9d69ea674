"""Does active assignment decide pairs of systems with fewer judgments? On simulated judgments.

    python -m benchmarks.annotation.active [--seeds 50]

A score is the system's quality, plus how hard the segment is, plus noise. Both ways of assigning
are stopped by the same rule: every pair is decided, as `metaeval.judgments.allocation` says. Prints
the ratio of judgments needed, how often a decision is wrong, and how far the means are off then.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.judgments.planning import allocate
from metaeval.repeats import refuse_repeats

# Adequacy of five systems: two close pairs among clear ones, as campaigns often come out.
QUALITIES = (72.0, 70.0, 60.0, 50.0, 48.0)
SEGMENT_SD, NOISE_SD = 12.0, 10.0
# How many screens of a system a claim chooses among, about.
OFFERED = 8


@dataclass(frozen=True)
class Run:
    """`means` at the end; `n_wrong` pairs decided the wrong way round."""

    n_judgments: int
    n_undecided: int
    n_wrong: int
    means: np.ndarray
    truth: np.ndarray


def simulate(
    seed: int,
    *,
    is_active: bool,
    is_paired: bool = True,
    qualities: Sequence[float] = QUALITIES,
    segments: int = 2_000,
    step: int = 25,
) -> Run:
    """Judge until every pair is decided or nothing is left; shares are renewed every `step`.

    With `is_paired`, segments on which other systems were judged come first.
    """
    rng = np.random.default_rng(seed)
    truth = np.array(qualities)
    hardness = rng.normal(0, SEGMENT_SD, segments)
    complete = truth[:, None] + hardness + rng.normal(0, NOISE_SD, (len(truth), segments))
    scores = np.full_like(complete, np.nan)
    shares = np.full(len(truth), 1 / len(truth))
    plan = allocate(scores)
    while plan.n_undecided and np.isnan(scores).any():
        for _ in range(step):
            open_ = np.isnan(scores).any(axis=1)
            if not open_.any():
                break
            system = rng.choice(len(truth), p=np.where(open_, shares, 0) / shares[open_].sum())
            segment = _segment(scores, system, is_paired, rng)
            scores[system, segment] = complete[system, segment]
        plan = allocate(scores)
        if is_active:
            shares = plan.shares
    decided = ~plan.undecided & (np.abs(truth[:, None] - truth) > 0)
    wrong = decided & (np.sign(plan.means[:, None] - plan.means) != np.sign(truth[:, None] - truth))
    return Run(plan.n, plan.n_undecided, int(np.triu(wrong, 1).sum()), plan.means, truth)


def _segment(scores: np.ndarray, system: int, is_paired: bool, rng: np.random.Generator) -> int:
    free = np.flatnonzero(np.isnan(scores[system]))
    if not is_paired:
        return int(rng.choice(free))
    offered = rng.choice(free, min(OFFERED, len(free)), replace=False)
    n_others = (~np.isnan(scores[:, offered])).sum(axis=0)
    return int(offered[n_others.argmax()])


WAYS = {
    "uniform": {"is_active": False, "is_paired": False},
    "uniform, shared segments first": {"is_active": False, "is_paired": True},
    "active": {"is_active": True, "is_paired": True},
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=50)
    seeds = range(refuse_repeats(parser).parse_args().seeds)
    runs = {name: [simulate(seed, **way) for seed in seeds] for name, way in WAYS.items()}
    for name, those in runs.items():
        describe(name, those)
    for name in list(WAYS)[:2]:
        pairs = zip(runs["active"], runs[name], strict=True)
        ratios = [active.n_judgments / other.n_judgments for active, other in pairs]
        low, middle, high = np.percentile(ratios, (25, 50, 75))
        print(f"active / {name}: median {middle:.2f}, quartiles {low:.2f}-{high:.2f}, "
              f"fewer in {sum(ratio < 1 for ratio in ratios)} of {len(ratios)}")  # fmt: skip


def describe(name: str, runs: Sequence[Run]) -> None:
    low, middle, high = np.percentile([run.n_judgments for run in runs], (25, 50, 75))
    print(f"{name}: median {middle:.0f} judgments (quartiles {low:.0f}-{high:.0f}), "
          f"{sum(run.n_undecided > 0 for run in runs)} runs undecided at the end, "
          f"{sum(run.n_wrong for run in runs)} wrong decisions")  # fmt: skip
    off = np.array([run.means - run.truth for run in runs])
    print(f"  means off by {summary(off)}")
    print(f"  neighbours' differences off by {summary(np.diff(off, axis=1))}")


def summary(errors: np.ndarray) -> str:
    error = errors.std(axis=0, ddof=1) / len(errors) ** 0.5
    return ", ".join(
        f"{m:+.2f} (SE {e:.2f})" for m, e in zip(errors.mean(axis=0), error, strict=True)
    )


if __name__ == "__main__":
    main()
