"""Compare the trainings of a sweep: agreement with WMT's judgments, tests over seeds, a table.

The outputs of WMT's published files are matched with those of a test set: systems by name, segments
by key. As in the ReFreeEval paper, tests compare the seeds of one setting with those of another, or
with a metric without seeds.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

from annotation.models import Segment, TestSet
from metaeval import ScoreMatrix
from metaeval.correlation import correlate
from metaeval.files import FormatError, read_darr, read_mqm
from metaeval.messages import Message, MessageError, message
from metaeval.reasons import reason_of
from metaeval.significance import SeedComparison, compare_seeds
from metrics import catalogue
from metrics.scores import system_scores
from training.jobs.names import name_of
from training.jobs.presenting import Keys, findings, flatten, is_number, labels_of
from training.jobs.starting import refusal
from training.models import TrainingJob, stored_message

MetricValues = dict[str, float]


class ColumnError(MessageError, ValueError):
    """A file does not fit the test set; the message says how."""


def relative_ranks(path: Path, test_set: TestSet, metrics: Sequence[str]) -> MetricValues:
    """Compute the Kendall-like τ of WMT18/19 by metric; ties of the metric are discordant.

    Raises ColumnError where the file is no daRR file or has nothing of this language pair.
    """
    try:
        parts = read_darr(path)
    except (FormatError, OSError) as error:
        raise ColumnError(reason_of(error)) from error
    pair = "-".join(
        code.split("-")[0] for code in (test_set.source_language, test_set.target_language)
    )
    if pair not in parts:
        raise ColumnError(
            message(
                "column.pair",
                "{file} has no judgments of {pair}. It has: {pairs}.",
                file=path.name,
                pair=pair,
                pairs=list(parts),
            )
        )
    ranks = parts[pair]
    found = _matrices(test_set, metrics)
    values = {name: ranks.kendall_like(matrix) for name, matrix in found.items()}
    return _known(path, test_set, {name: result.statistic for name, result in values.items()})


def error_scores(
    path: Path, test_set: TestSet, metrics: Sequence[str], without: Sequence[str] = ()
) -> MetricValues:
    """Compute Kendall's τ-b of WMT21 with MQM by metric, over all systems and segments.

    Outputs without a human score and the systems ``without`` (human translations) are excluded.
    Raises ColumnError if the file is not an MQM file or does not fit the test set.
    """
    try:
        human = read_mqm(path)["mean"]
    except (FormatError, OSError) as error:
        raise ColumnError(reason_of(error)) from error
    unknown = sorted(set(without) - set(human.systems))
    if unknown:
        raise ColumnError(
            message(
                "columns.missing-systems",
                "{file} does not have these systems: {systems}.",
                file=path.name,
                systems=unknown,
            )
        )
    gold = human.subset(systems=[name for name in human.systems if name not in without])
    matrices = {
        name: gold.with_values(matrix.at(gold.systems, gold.segments))
        for name, matrix in _matrices(test_set, metrics).items()
    }
    found = {
        name: correlate(gold, matrix, "kendall", has_interval=False)
        for name, matrix in matrices.items()
    }
    return _known(path, test_set, {name: result.statistic for name, result in found.items()})


def _known(path: Path, test_set: TestSet, values: MetricValues) -> MetricValues:
    if values and not np.isfinite(list(values.values())).any():
        raise ColumnError(
            message(
                "column.outputs",
                "{file} and {test_set} have too few outputs in common. Systems are matched by "
                "name, segments by key.",
                file=path.name,
                test_set=test_set.slug,
            )
        )
    return values


def _matrices(test_set: TestSet, metrics: Sequence[str]) -> dict[str, ScoreMatrix]:
    """Return the first measure of each scored metric, negated if lower is better."""
    table = system_scores(test_set)
    systems = [system.name for system in table.systems]
    keys = dict(Segment.objects.filter(test_set=test_set).values_list("pk", "key"))
    segments = [keys[pk] for pk in table.segments]
    if len(set(systems)) < len(systems):
        raise ColumnError(
            message(
                "column.lengths",
                "{test_set} has several outputs of a system at different lengths.",
                test_set=test_set.slug,
            )
        )
    found = {}
    for name in metrics:
        measure = table.measures.get(catalogue.get(name).table_measures[0])
        if measure is not None:
            sign = 1.0 if measure.higher_is_better else -1.0
            found[name] = ScoreMatrix(sign * measure.values, systems, segments)
    return found


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


NO_SPREAD = message(
    "sweep.no-spread",
    "If a difference is the same with every seed, the t test and Wilcoxon’s test are undefined.",
)


@dataclass(frozen=True)
class Difference:
    """A setting minus the first over ``n`` common seeds; an undefined p-value is None.

    ``epsilon`` is that of almost stochastic order (:class:`metaeval.SeedComparison`).
    """

    setting: str
    n: int
    difference: float
    permutation: float
    t: float | None
    wilcoxon: float | None
    epsilon: float


@dataclass(frozen=True)
class Differences:
    """All settings against the first, those that cannot be tested yet, and warnings."""

    first: str
    rows: list[Difference]
    untested: list[str]
    warnings: list[Message]


def over_seeds(jobs: Sequence[TrainingJob]) -> Differences | None:
    """Compare the accuracies on held-out texts of a sweep of ReFreeEval trainings.

    Returns None if all jobs have the same settings.
    """
    first, *others = group(jobs)
    if not others:
        return None
    base = accuracies(first)
    found = {each.label: compare(accuracies(each), base) for each in others}
    tested = {label: each for label, each in found.items() if each is not None}
    rows = [_row(label, each) for label, each in tested.items()]
    untested = [label for label in found if label not in tested]
    return Differences(first.label, rows, untested, _warnings(rows, tested.values()))


def _row(label: str, found: SeedComparison) -> Difference:
    return Difference(
        setting=label,
        n=found.n,
        difference=found.difference,
        permutation=found.permutation,
        t=_finite(found.t),
        wilcoxon=_finite(found.wilcoxon),
        epsilon=found.epsilon,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _warnings(rows: Iterable[Difference], tested: Iterable[SeedComparison]) -> list[Message]:
    found = dict.fromkeys(warning.message for each in tested for warning in each.warnings)
    has_no_spread = any(row.t is None for row in rows)
    return [*found, *([NO_SPREAD] if has_no_spread else [])]


# The method of the interval of a gain.
INTERVAL = ("held_out", "interval")
# The values of a setting, how many of its jobs have a result, mean and deviation of each measure.
Group = tuple[list[Any], int, list[tuple[float, float | None]]]


@dataclass(frozen=True)
class Sweep:
    """The jobs of a sweep as a table: settings that differ (name and label), and results.

    `groups` has a row for every setting, over its seeds: mean, standard deviation, number.
    `methods` say how the intervals of gains were computed, or why there are none.
    """

    settings: list[tuple[str, str | Message]]
    measures: list[Message]
    rows: list[tuple[TrainingJob, list[Any], list[Any]]]
    groups: list[Group]
    methods: list[Message]


def compare_jobs(jobs: Sequence[TrainingJob]) -> Sweep:
    """Compare the jobs of a sweep."""
    found = {job.pk: dict(flatten(findings(job))) for job in jobs}
    numbers = [{k for k, v in each.items() if is_number(v)} for each in found.values() if each]
    shared = set.intersection(*numbers) if numbers else set()
    order = list(dict.fromkeys(key for each in found.values() for key in each))
    names = varied(jobs)
    # Skip values that are the same in all jobs, such as the number of pairs.
    measures = [key for key in order if key in shared and _differs(found, key)]
    measures = [key for key in measures if key[-1] not in names]
    values = {pk: [each.get(measure) for measure in measures] for pk, each in found.items()}
    rows = [(job, [job.options.get(name) for name in names], values[job.pk]) for job in jobs]
    groups = _groups(group(jobs), values) if SEED in names else []
    methods = (stored_message(each[INTERVAL]) for each in found.values() if INTERVAL in each)
    labels = labels_of(jobs[0].kind)
    return Sweep(
        [(name, labels.get(name, name)) for name in names],
        list(map(name_of, measures)),
        rows,
        groups,
        list(dict.fromkeys(methods)),
    )


def _differs(found: Mapping[int, Mapping[Keys, Any]], key: Keys) -> bool:
    values = [each[key] for each in found.values() if key in each]
    return len(values) == 1 or len(set(values)) > 1


def _groups(found: Sequence[Setting], values: Mapping[int, list[Any]]) -> list[Group]:
    groups = []
    for each in found:
        rows = [
            row
            for row in (values[job.pk] for job in each.jobs.values())
            if any(value is not None for value in row)
        ]
        if rows:
            spreads = [_spread(numbers) for numbers in zip(*rows, strict=True)]
            groups.append((list(each.varied.values()), len(rows), spreads))
    return groups


def _spread(numbers: Sequence[Any]) -> tuple[float, float | None]:
    return mean(numbers), stdev(numbers) if len(numbers) > 1 else None
