"""Write tables 6 and 7 of Cheng et al. (2023): metrics over the campaigns of a study."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core import numbers
from dashboards.comparisons.selection import EVERY, leading
from dashboards.papers.averages import Line, columns_of, latex_table, line
from dashboards.papers.fitting import Table
from extensions.layers.page import LayerLine, LayersOfStudy
from extensions.paper.choices import BEST, HYBRIDS, SCORED
from extensions.paper.gather import (
    GROUPS,
    OF_SYSTEMS,
    Paper,
    encoder_name,
    group_of,
    names,
    place_of,
)

PLACES = 4


@dataclass(frozen=True)
class Level:
    """A table of metrics: its number, part of the paper, published order and caption."""

    number: str
    part: str
    printed: str
    caption: str


LEVELS = (
    Level("6", "system", "r_hybrid", "System-level agreement of metrics with humans"),
    Level("7", "segment", "tau", "Segment-level agreement of metrics with humans"),
)


def metric_tables(paper: Paper, layers: LayersOfStudy | None) -> dict[str, Table]:
    """Return tables 6 and 7 by number."""
    return {level.number: _table(paper, level, layers) for level in LEVELS}


def chosen_layers(paper: Paper, layers: LayersOfStudy | None) -> dict[str, LayerLine]:
    """Return the layer of each encoder that table 8 lists and tables 6 and 7 use, by encoder."""
    if layers is None or paper.choices.layers == SCORED:
        return {}
    is_best = paper.choices.layers == BEST
    rows = {each.metric: each.best if is_best else each.recommended for each in layers.metrics}
    return {metric: row for metric, row in rows.items() if row is not None}


def _table(paper: Paper, level: Level, layers: LayersOfStudy | None) -> Table:
    places = paper.in_order(paper.choices.order)
    documents = [paper.of(level.part)[place] for place in places]
    rows = _lines(paper, level, places, layers)
    heads = dict.fromkeys((*GROUPS, ""))
    grouped = [(head, [row for row in rows if group_of(row.label) == head]) for head in heads]
    statistic = str(documents[0].statistic_label) if documents else ""
    caption = (
        f"{level.caption}: {statistic}. Bold: the highest value of each column, whether or not it "
        "differs significantly from the others."
    )
    if level.part == "system" and paper.choices.level == HYBRIDS and chosen_layers(paper, layers):
        caption += " Rows of BERTScore are the limit over all hybrids."
    columns = columns_of([paper.campaigns[place] for place in places])
    without = [paper.campaigns[place].name for place in places if paper.refused(place)]
    if without:
        caption += (
            f" Nothing is bold in {', '.join(without)} and in the average: the judgments do not "
            "support their numbers."
        )
    label = f"{paper.study}-table-{level.number}"
    return latex_table(caption, label, columns, [each for each in grouped if each[1]])


def _lines(
    paper: Paper, level: Level, places: Sequence[int], layers: LayersOfStudy | None
) -> list[Line]:
    """Return a line per metric, in the published order, then the others in that of their pages."""
    documents = [paper.of(level.part)[place] for place in places]
    every = {metric.key: metric for each in reversed(documents) for metric in each.metrics}
    wanted = set(paper.choices.metrics)
    if not wanted:
        known = set(names(level.printed))
        wanted = {each.key for each in leading(list(every.values()))} | (known & every.keys())
    keys = [key for key in every if key in wanted or EVERY in wanted]
    printed, by_key = names(level.printed), {}
    for key in keys:
        label = printed.get(key, str(every[key].label))
        values = [{m.key: m.value for m in each.metrics}.get(key) for each in documents]
        by_key[key] = line(key, label, values)
    for metric, row in chosen_layers(paper, layers).items():
        found = next(each for each in layers.metrics if each.metric == metric)  # type: ignore[union-attr]
        name = encoder_name(found)
        of_layers = [paper.of(f"layers-{level.part}")[place] for place in places]
        values = [{r.key: r.value for r in each.rows}.get(row.key) for each in of_layers]
        same = [
            key
            for key, each in by_key.items()
            if each.label == name or (key in every and every[key].metric == metric)
        ]
        if paper.choices.metrics and not same:
            continue
        for key in same:
            del by_key[key]
        by_key[row.key] = line(row.key, name, values)
    lines = [
        each
        for key, each in by_key.items()
        if level.part == "system" or not {key, each.label} & OF_SYSTEMS
    ]
    order = list(printed.values())
    allowed = [paper.refused(place) is None for place in places]
    return _bold(sorted(lines, key=lambda each: place_of(each.label, order)), allowed)


def _bold(rows: Sequence[Line], allowed: Sequence[bool]) -> list[Line]:
    """Mark the highest value of every column, and those that are printed as the same number.

    Columns of campaigns that are not `allowed`, and then the average, have no mark.
    """
    may = [*allowed, all(allowed)]
    columns = list(zip(*([*row.values, row.average] for row in rows), strict=True))
    best = [
        numbers.decimals(max((v for v in column if v is not None), default=None), PLACES)
        for column in columns
    ]
    return [
        replace(
            row,
            best=[
                is_allowed and value is not None and numbers.decimals(value, PLACES) == highest
                for value, highest, is_allowed in zip(
                    [*row.values, row.average], best, may, strict=True
                )
            ],
        )
        for row in rows
    ]
