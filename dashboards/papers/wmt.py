"""The table of the WMT metrics tasks: values and cluster ranks of each task, and their averages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dashboards.papers import latex
from metaeval.messages import Message, message

# Values between 0 and 1; others are correlations, which an average takes as (value + 1) / 2.
ACCURACIES = frozenset({"acc-eq", "accuracy", "pa", "spa"})
RESCALED = message("wmt.averages", "In averages, correlations count as (r + 1) / 2.")


@dataclass(frozen=True)
class Place:
    """A metric's value in a task, and the rank of its cluster where ranks are supported."""

    label: str
    value: float | None
    rank: int | None
    is_best: bool = False


@dataclass(frozen=True)
class Task:
    """A campaign as a task: its name, its statistic with names, and its metrics by key."""

    name: str
    statistic: str
    label: Message | str
    short: str
    places: Mapping[str, Place]

    def rescaled(self, key: str) -> float:
        """Return a metric's value as averages take it; the metric has one."""
        value = self.places[key].value or 0.0
        return value if self.statistic in ACCURACIES else (value + 1) / 2


def wmt_table(
    tasks: Sequence[Task],
    label: str,
    methods: Sequence[Message | str] = (),
    overall: Mapping[str, tuple[float | None, int | None]] | None = None,
) -> latex.Table:
    """Return tasks side by side, best average first, ties by name.

    Averages are over metrics that all tasks have, as in WMT; others are named in a note. `methods`
    say how values and ranks were computed. `overall` has the average of each metric with the rank
    of its cluster, in their order; by default, tasks have the same weight, and ranks are averaged.
    """
    every = {key: place.label for task in tasks for key, place in task.places.items()}
    shared = [
        key for key in every
        if all(key in t.places and t.places[key].value is not None for t in tasks)
    ]  # fmt: skip
    averages: dict[str, float | None] = {
        key: sum(t.rescaled(key) for t in tasks) / len(tasks) for key in shared
    }
    ranks: dict[str, latex.Cell]
    if overall is None:
        shared.sort(key=lambda key: (-(averages[key] or 0.0), every[key]))
        ranks = {key: latex.number(_mean_rank(tasks, key), 1) for key in shared}
    else:
        shared = list(overall)
        averages = {key: value for key, (value, _) in overall.items()}
        ranks = {key: latex.texts(rank)[0] for key, (_, rank) in overall.items()}
    missing = sorted(every[key] for key in every.keys() - averages.keys())
    first = [latex.Cell(text, span=2) for text in ("Average", *(task.name for task in tasks))]
    second = ["Rank", "Value", *(text for task in tasks for text in ("Rank", task.short))]
    if len(tasks) == 1:
        first, second = first[1:], second[2:]
    body = []
    for key in shared:
        average = [ranks[key], latex.number(averages[key])]
        cells = average if len(tasks) > 1 else []
        for place in (task.places[key] for task in tasks):
            rank = latex.Cell("–" if place.rank is None else str(place.rank))
            cells += [rank, latex.number(place.value, is_bold=place.is_best)]
        body.append([latex.Cell(every[key]), *cells])
    caption: Sequence[Message | str] = [
        message(
            "wmt.caption",
            "In the layout of the WMT metrics tasks: {statistics}, and ranks of clusters.",
            statistics=list(dict.fromkeys(task.label for task in tasks)),
        ),
        *(
            [RESCALED]
            if len(tasks) > 1 and any(task.statistic not in ACCURACIES for task in tasks)
            else []
        ),
        *methods,
    ]
    without = (
        message("wmt.undefined", "Without a value: {metrics}.", metrics=missing)
        if len(tasks) == 1
        else message("wmt.without", "Not in all campaigns: {metrics}.", metrics=missing)
    )
    return latex.Table(
        caption,
        label,
        "l" + "r" * len(second),
        [[latex.Cell(""), *first], latex.texts("Metric", *second)],
        body,
        below=[without] if missing else (),
    )


def _mean_rank(tasks: Sequence[Task], key: str) -> float | None:
    ranks = [rank for task in tasks if (rank := task.places[key].rank) is not None]
    return sum(ranks) / len(ranks) if len(ranks) == len(tasks) else None
