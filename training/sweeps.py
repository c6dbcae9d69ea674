"""Sweeps: jobs that differ in a few settings and in the seed, and what they found side by side.

The ablations of the ReFreeEval paper are sweeps over one setting (:data:`TABLES`); its test of
significance compares the seeds of one setting with those of another, or with a metric that has
none.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.core.exceptions import ValidationError
from django.db import transaction

from metaeval import SeedComparison, compare_seeds
from training import jobs
from training.jobs import LONGEST_NAME
from training.models import ParallelCorpus, TrainingJob

# What the paper's tables vary; the seeds are those of its table 14.
SEEDS = (19, 27, 42, 55, 76, 80, 99, 153, 178, 200)
TABLES: dict[str, dict[str, tuple[Any, ...]]] = {
    "perturbation": {"rule": ("clauses", "released", "shuffle", "repeat")},
    "alpha": {"alpha": (0.0, 1.0, 10.0, 20.0, 30.0, 40.0, 50.0)},
    "c2": {"c2": (0.0, 1e-20, 1e-15, 1e-10, 1e-5)},
    "ablation": {"variant": ("word-level", "fluency", "sent-fa", "sent-level", "full")},
    "seeds": {},
}
MOST_JOBS = 200
Values = dict[int, float]
# Of every finished metric, by its name.
Column = Mapping[str, float]


@dataclass
class Setting:
    """The jobs of one choice of settings, by seed. ``varied`` is what tells it from the others."""

    varied: dict[str, Any]
    jobs: dict[int, TrainingJob] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The choice in words."""
        return ", ".join(f"{name}={value}" for name, value in self.varied.items()) or "all"

    @property
    def done(self) -> dict[int, TrainingJob]:
        """The jobs that finished, by seed."""
        finished = TrainingJob.Status.DONE
        return {seed: job for seed, job in self.jobs.items() if job.status == finished}


@transaction.atomic
def start(
    *,
    name: str,
    corpora: Sequence[ParallelCorpus],
    vary: Mapping[str, Sequence[Any]],
    seeds: Sequence[int] = SEEDS,
    given: Mapping[str, Any] | None = None,
    user: Any = None,
    enqueue: bool = True,
) -> list[TrainingJob]:
    """Start a job for every combination of values and every seed; all of them or none.

    ValidationError where a setting is wrong, the name taken or there are more than MOST_JOBS.
    """
    choices = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]
    _check(name, len(choices) * len(seeds), {"seed", *(given or {})} & set(vary))
    return [
        jobs.start(
            kind="refreeeval",
            name=f"{name}-{number}-{seed}",
            given={**(given or {}), **choice, "seed": seed},
            corpora=corpora,
            sweep=name,
            user=user,
            enqueue=enqueue,
        )
        for number, choice in enumerate(choices, start=1)
        for seed in seeds
    ]


def _check(name: str, n_jobs: int, doubled: set[str]) -> None:
    # A number and a seed of five digits come after it in the names of the jobs.
    if not name or len(name) > LONGEST_NAME - 10:
        raise ValidationError(f"Give the sweep a name of at most {LONGEST_NAME - 10} characters.")
    if TrainingJob.objects.filter(sweep=name).exists():
        raise ValidationError(f"There is a sweep named {name} already.")
    if not 0 < n_jobs <= MOST_JOBS:
        raise ValidationError(f"{n_jobs} jobs: a sweep has 1 to {MOST_JOBS}.")
    if doubled:
        message = f"{', '.join(sorted(doubled))} cannot be both fixed and varied."
        raise ValidationError(message)


def settings_of(sweep: str) -> list[Setting]:
    """Group the jobs of a sweep by their settings, the seed apart, in the order of their start.

    ValidationError where there is no such sweep.
    """
    found = list(TrainingJob.objects.filter(sweep=sweep).select_related("metric").order_by("pk"))
    if not found:
        raise ValidationError(f"There is no sweep named {sweep}.")
    names = [
        name
        for name in found[0].options
        if name != "seed" and len({repr(job.options.get(name)) for job in found}) > 1
    ]
    groups: dict[str, Setting] = {}
    for job in found:
        varied = {name: job.options.get(name) for name in names}
        groups.setdefault(repr(varied), Setting(varied)).jobs[int(job.options["seed"])] = job
    return list(groups.values())


def accuracies(setting: Setting) -> Values:
    """Accuracy on the test texts of the training, by seed."""
    return {seed: float(job.result["held_out"]["trained"]) for seed, job in setting.done.items()}


def variations(setting: Setting) -> Values:
    """Mean change of the sentence cosine by the perturbation (table 11), where a teacher ran."""
    levels = {seed: job.result["levels"].get("sentence", {}) for seed, job in setting.done.items()}
    return {
        seed: float(level["variation"]) for seed, level in levels.items() if "variation" in level
    }


def column(setting: Setting, values: Column) -> Values:
    """Return values of metrics by the seed of the metric; those that have none are left out."""
    named = {seed: job.metric.name for seed, job in setting.done.items() if job.metric}
    return {
        seed: values[name]
        for seed, name in named.items()
        if name in values and np.isfinite(values[name])
    }


def compare(first: Values, second: Values | float) -> SeedComparison | None:
    """Compare over the seeds that both have; a single number stands for a metric without seeds.

    None with fewer than two seeds.
    """
    seeds = sorted(first if isinstance(second, float) else first.keys() & second.keys())
    if len(seeds) < 2:
        return None
    others = [second if isinstance(second, float) else second[seed] for seed in seeds]
    return compare_seeds([first[seed] for seed in seeds], others, rng=1)


def metrics_of(found: Iterable[Setting]) -> list[str]:
    """Return the names of the metrics that came of the finished jobs."""
    return [job.metric.name for each in found for job in each.done.values() if job.metric]
