"""The table of the WMT metrics tasks: values and cluster ranks of each task, and their averages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dashboards.papers import latex
from metaeval.messages import Message, message

# Values between 0 and 1; others are correlations, which an average takes as (value + 1) / 2.
ACCURACIES = frozenset({"acc-eq", "pa", "spa"})


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
    tasks: Sequence[Task], label: str, methods: Sequence[Message | str] = ()
) -> latex.Table:
    """Return tasks side by side, each with the same weight, best average first, ties by name.

    Averages are over metrics that all tasks have, as in WMT; others are named in a note. `methods`
    say how values and ranks were computed.
    """
    every = {key: place.label for task in tasks for key, place in task.places.items()}
    shared = [
        key for key in every
        if all(key in t.places and t.places[key].value is not None for t in tasks)
    ]  # fmt: skip
    averages = {key: sum(t.rescaled(key) for t in tasks) / len(tasks) for key in shared}
    shared.sort(key=lambda key: (-averages[key], every[key]))
    missing = sorted(every[key] for key in every.keys() - averages.keys())
    first = [latex.Cell(text, span=2) for text in ("Average", *(task.name for task in tasks))]
    second = ["Rank", "Value", *(text for task in tasks for text in ("Rank", task.short))]
    if len(tasks) == 1:
        first, second = first[1:], second[2:]
    body = []
    for key in shared:
        cells = [*(_average(tasks, key, averages[key]) if len(tasks) > 1 else ())]
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
            [message("wmt.averages", "In averages, correlations count as (r + 1) / 2.")]
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


def _average(tasks: Sequence[Task], key: str, average: float) -> list[latex.Cell]:
    ranks = [rank for task in tasks if (rank := task.places[key].rank) is not None]
    mean = sum(ranks) / len(ranks) if len(ranks) == len(tasks) else None
    return [latex.number(mean, 1), latex.number(average)]
