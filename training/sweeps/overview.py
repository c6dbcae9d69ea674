"""Compare the jobs of a sweep in a table, for pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from metaeval.messages import Message
from training.jobs.names import name_of
from training.jobs.presenting import Keys, findings, flatten, is_number, labels_of
from training.models import TrainingJob, stored_message
from training.sweeps import table
from training.sweeps.table import Setting

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


def compare(jobs: Sequence[TrainingJob]) -> Sweep:
    """Compare the jobs of a sweep."""
    found = {job.pk: dict(flatten(findings(job))) for job in jobs}
    numbers = [{k for k, v in each.items() if is_number(v)} for each in found.values() if each]
    shared = set.intersection(*numbers) if numbers else set()
    order = list(dict.fromkeys(key for each in found.values() for key in each))
    names = table.varied(jobs)
    # Skip values that are the same in all jobs, such as the number of pairs.
    measures = [key for key in order if key in shared and _differs(found, key)]
    measures = [key for key in measures if key[-1] not in names]
    values = {pk: [each.get(measure) for measure in measures] for pk, each in found.items()}
    rows = [(job, [job.options.get(name) for name in names], values[job.pk]) for job in jobs]
    groups = _groups(table.group(jobs), values) if table.SEED in names else []
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
        rows = [row for row in (values[job.pk] for job in each.jobs.values()) if _is_known(row)]
        if rows:
            spreads = [_spread(column) for column in zip(*rows, strict=True)]
            groups.append((list(each.varied.values()), len(rows), spreads))
    return groups


def _is_known(row: Iterable[Any]) -> bool:
    return any(value is not None for value in row)


def _spread(column: Sequence[Any]) -> tuple[float, float | None]:
    return mean(column), stdev(column) if len(column) > 1 else None
