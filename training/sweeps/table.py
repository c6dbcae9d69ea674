"""Group the jobs of a sweep by settings, and compare results over seeds.

The significance test of the ReFreeEval paper compares the seeds of one setting with those of
another, or with a metric without seeds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from metaeval.messages import message
from metaeval.significance import SeedComparison, compare_seeds
from training.jobs.starting import refusal
from training.models import TrainingJob

SEED = "seed"
Values = dict[int, float]
# Values of finished metrics, by name.
Column = Mapping[str, float]


@dataclass
class Setting:
    """The jobs of one combination of settings, by seed; ``varied`` are those that differ."""

    varied: dict[str, Any]
    jobs: dict[int, TrainingJob] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Return the settings as text."""
        return ", ".join(f"{name}={value}" for name, value in self.varied.items()) or "all"

    @property
    def done(self) -> dict[int, TrainingJob]:
        """Return the finished jobs, by seed."""
        finished = TrainingJob.Status.DONE
        return {seed: job for seed, job in self.jobs.items() if job.status == finished}


def trainings_of(sweep: str) -> list[TrainingJob]:
    """Return the jobs of a sweep of ReFreeEval trainings, in the order of their start.

    ValidationError if there is no such sweep.
    """
    found = list(TrainingJob.objects.filter(sweep=sweep).select_related("metric").order_by("pk"))
    if not found:
        raise refusal(message("sweep.unknown", "There is no sweep named {sweep}.", sweep=sweep))
    if found[0].kind != "refreeeval":
        raise refusal(
            message(
                "sweep.other-kind",
                "{sweep} is a sweep of the kind {kind}, not of ReFreeEval.",
                sweep=sweep,
                kind=found[0].label,
            )
        )
    return found


def varied(jobs: Sequence[TrainingJob]) -> list[str]:
    """Return the names of the settings in which the jobs of a sweep differ, the seed included."""
    names = jobs[0].settings
    return [name for name in names if len({repr(job.options.get(name)) for job in jobs}) > 1]


def group(jobs: Sequence[TrainingJob]) -> list[Setting]:
    """Group the jobs of a sweep over seeds by their other settings, in the order of their start."""
    names = [name for name in varied(jobs) if name != SEED]
    groups: dict[str, Setting] = {}
    for job in jobs:
        chosen = {name: job.options.get(name) for name in names}
        groups.setdefault(repr(chosen), Setting(chosen)).jobs[int(job.options[SEED])] = job
    return list(groups.values())


def accuracies(setting: Setting) -> Values:
    """Return accuracies on the test texts of the training, by seed."""
    return {seed: float(job.result["held_out"]["trained"]) for seed, job in setting.done.items()}


def variations(setting: Setting) -> Values:
    """Return mean changes of the sentence cosine by perturbation (table 11), with a teacher."""
    levels = {seed: job.result["levels"].get("sentence", {}) for seed, job in setting.done.items()}
    return {
        seed: float(level["variation"]) for seed, level in levels.items() if "variation" in level
    }


def column(setting: Setting, values: Column) -> Values:
    """Return values of metrics by seed; metrics without a value are skipped."""
    named = {seed: job.metric.name for seed, job in setting.done.items() if job.metric}
    return {
        seed: values[name]
        for seed, name in named.items()
        if name in values and np.isfinite(values[name])
    }


def compare(first: Values, second: Values | float) -> SeedComparison | None:
    """Compare over common seeds; a single number is the value of a metric without seeds.

    Returns None with fewer than two seeds.
    """
    seeds = sorted(first if isinstance(second, float) else first.keys() & second.keys())
    if len(seeds) < 2:
        return None
    others = [second if isinstance(second, float) else second[seed] for seed in seeds]
    return compare_seeds([first[seed] for seed in seeds], others, rng=1)


def metrics_of(found: Iterable[Setting]) -> list[str]:
    """Return the names of the metrics of the finished jobs."""
    return [job.metric.name for each in found for job in each.done.values() if job.metric]
