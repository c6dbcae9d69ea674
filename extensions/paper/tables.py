"""Write tables 2 to 5 and 8 to 14 of Cheng et al. (2023) with a study's own numbers."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.numbers import is_known
from dashboards.papers.averages import columns_of, direction_heads, direction_name, latex_table
from dashboards.papers.fitting import Cell, Row, Table
from dashboards.papers.latex import number, small_number, texts
from dashboards.systems.outside import HALF_EVEN, NO_WORDS
from extensions.layers.document import PARTS
from extensions.layers.page import Averaged, LayersOfStudy, combine
from extensions.paper.choices import BEST, FIRST, HELD_OUT, SCORED
from extensions.paper.gather import (
    ENCODERS,
    LAST_TABLE,
    STANDING,
    Paper,
    encoder_name,
    names,
    place_of,
)
from extensions.paper.metrics import chosen_layers, metric_tables
from extensions.studies.systems import TEXTS, UNITS

MARKS = {"†": "†", "‡": "††"}


@dataclass(frozen=True)
class Numbered:
    """A table with its number or name, under which its files are stored."""

    name: str
    table: Table


def tables(paper: Paper) -> list[Numbered]:
    """Return every table of the paper that the study has numbers for, in the paper's order."""
    layers = layers_of(paper, paper.in_order(paper.choices.order))
    found = [
        Numbered("2", _times(paper)),
        Numbered("3", _traps(paper)),
        Numbered(
            "4", _agreement(paper, "4", "one_vs_rest", "Pearson correlation (r)", ONE_VS_REST)
        ),
        Numbered("5", _agreement(paper, "5", "alpha_z", "Krippendorff’s α", ALPHA)),
        Numbered("annotators", _annotators(paper)),
        *(Numbered(n, table) for n, table in metric_tables(paper, layers).items()),
    ]
    if layers is not None and paper.choices.layers != SCORED:
        found.append(Numbered("8", _encoders(paper, layers)))
    found += [Numbered("9", _systems(paper)), Numbered("10", _lengths(paper))]
    found += _layer_tables(paper)
    return [each for each in found if each.table.body]


ONE_VS_REST = (
    "Agreement of annotators: mean Pearson correlation of each annotator’s z-scores with the mean "
    "of the others, with and without trap items."
)
ALPHA = (
    "Agreement of annotators: Krippendorff’s α (interval) on z-scores, with and without trap items."
)


def _label(paper: Paper, name: str) -> str:
    return f"{paper.study}-table-{name}"


def _by_direction(paper: Paper, cells: Callable[[int], Sequence[Cell]]) -> list[Row]:
    """Return a row per campaign; the direction is named in the first of its rows."""
    return [
        [
            Cell(name if place == places[0] else ""),
            Cell(paper.campaigns[place].percent),
            *cells(place),
        ]
        for name, places in paper.directions
        for place in places
    ]


def _times(paper: Paper) -> Table:
    found = [each.seconds for each in paper.of("quality")]
    known = [each for each in found if each]

    def cells(place: int) -> list[Cell]:
        own = found[place]
        return [number(value, 2) for value in ((own.mean, own.mean_cut) if own else (None, None))]

    cap = f"{known[0].cap:g} s" if known else "the cap"
    caption = (
        "Mean seconds per rating: over all ratings (All.Ave.), and with longer times cut "
        f"(Cut.Ave., cut at {cap})."
    )
    head = [texts("Direction", "Length", "All.Ave.", "Cut.Ave.")]
    body = _by_direction(paper, cells) if known else []
    return Table(caption, _label(paper, "2"), "llrr", head, body)


def _traps(paper: Paper) -> Table:
    """Return the number of trap ratings by score, with the length ratios as columns."""
    found = [each.traps for each in paper.of("quality")]
    known = [each for each in found if each]
    lengths = list(
        dict.fromkeys(paper.campaigns[p].percent for _, own in paper.directions for p in own)
    )
    scores = ("zero", "low", "high")
    body = []
    for name, places in paper.directions:
        at = {paper.campaigns[place].percent: found[place] for place in places}
        values = [getattr(at.get(length), each, None) for each in scores for length in lengths]
        body.append([Cell(name), *(Cell("–" if v is None else str(v)) for v in values)])
    head: list[Row] = [
        [Cell(""), *(Cell(each.capitalize(), span=len(lengths)) for each in scores)],
        texts("", *lengths * len(scores)),
    ]
    threshold = f"{known[0].threshold:g}" if known else "the threshold"
    caption = (
        f"Ratings of trap items by their score: zero, low (up to {threshold}) and high (above "
        f"{threshold})."
    )
    columns = "l" + "r" * len(lengths) * len(scores)
    return Table(caption, _label(paper, "3"), columns, head, body if known else [])


def _agreement(paper: Paper, name: str, figure: str, heading: str, caption: str) -> Table:
    pairs = [(each.with_traps, each.without_traps) for each in paper.of("quality")]

    def cells(place: int) -> list[Cell]:
        return [number(getattr(own, figure).statistic if own else None, 4) for own in pairs[place]]

    head: list[Row] = [
        [Cell("Direction"), Cell("Length"), Cell(heading, span=2)],
        texts("", "", "w. Trap", "w.o. Trap"),
    ]
    body = _by_direction(paper, cells)
    if not any(is_known(value) for row in body for cell in row for value in cell.numbers):
        body = []
    return Table(caption, _label(paper, name), "llrr", head, body)


def _annotators(paper: Paper) -> Table:
    """Return the numbers of every annotator behind tables 2 to 4."""
    body: list[Row] = []
    for name, places in paper.directions:
        for place in places:
            for n, one in enumerate(paper.of("quality")[place].annotators):
                is_first = n == 0
                body.append(
                    [
                        Cell(name if is_first and place == places[0] else ""),
                        Cell(paper.campaigns[place].percent if is_first else ""),
                        *texts(one.annotator, one.n),
                        *(number(each, 2) for each in (one.mean, one.sd)),
                        *(number(each, 2) for each in (one.seconds_mean, one.seconds_mean_cut)),
                        *texts(one.traps_zero, one.traps_low, one.traps_high),
                        *(number(each, 4) for each in (one.r_with_traps, one.r_without_traps)),
                    ]
                )
    caption = (
        "Every annotator: ratings with their mean and standard deviation, seconds per rating, "
        "scores of trap items, and correlation with the mean of the others."
    )
    head: list[Row] = [
        [*texts("Direction", "Length", "Annotator"), Cell("Ratings", span=3),
         Cell("Seconds", span=2), Cell("Traps", span=3), Cell("Pearson r", span=2)],
        texts("", "", "", "n", "Mean", "SD", "All", "Cut", "Zero", "Low", "High", "w. Trap",
              "w.o. Trap"),
    ]  # fmt: skip
    return Table(caption, _label(paper, "annotators"), "lll" + "r" * 10, head, body)


def layers_of(paper: Paper, places: Sequence[int], level: str = "system") -> LayersOfStudy | None:
    """Return the layers of all encoders over the campaigns at some places; None without any."""
    documents = paper.of(f"layers-{level}")
    if not documents:
        return None
    found = combine([paper.campaigns[p] for p in places], [documents[p] for p in places])
    ordered = sorted(found.metrics, key=lambda each: place_of(encoder_name(each), ENCODERS))
    return replace(found, metrics=ordered) if ordered else None


def _encoders(paper: Paper, layers: LayersOfStudy) -> Table:
    order = list(names("tau").values())
    body = [
        [*texts(encoder_name(metric), row.layer, PARTS.get(row.part, row.part))]
        for metric in sorted(layers.metrics, key=lambda each: place_of(encoder_name(each), order))
        if (row := chosen_layers(paper, layers).get(metric.metric))
    ]
    how = {
        BEST: "the layer with the best average over all campaigns, chosen on the same segments",
        HELD_OUT: "the layer that most held-out folds chose",
    }[paper.choices.layers]
    caption = f"Layer of each BERTScore encoder: {how} ({layers.statistic_label})."
    return Table(caption, _label(paper, "8"), "lrl", [texts("Model", "Layer", "Type")], body)


def _heads(paper: Paper, places: Sequence[int]) -> list[list[Cell]]:
    columns = columns_of([paper.campaigns[place] for place in places])
    return direction_heads([(each.direction, each.percent) for each in columns])


def _systems(paper: Paper) -> Table:
    """Return table 9: the systems by the chosen metrics, with marks among the rows of a column."""
    places = paper.in_order(paper.choices.order)
    documents = [paper.of("standings")[place] for place in places]
    labels = {key: label for each in documents for key, label in each.labels.items()}
    systems = list(dict.fromkeys(name for each in documents for name in each.systems))
    unjudged = [n for n in systems if not any(n in d.systems[: d.n_judged] for d in documents)]
    bare = [paper.refused(place) is not None for place in places]
    body: list[Row] = []
    counts = set[int]()
    for key in _of_table9(paper, labels):
        found = [{row.system: row for row in d.rows if row.measure == key} for d in documents]
        lines = [
            [
                Cell(name),
                *(
                    _score(own.get(name), paper.choices.marked, is_bare=is_bare)
                    for own, is_bare in zip(found, bare, strict=True)
                ),
            ]
            for name in systems
            if any(name in own for own in found)
        ]
        body += [[Cell(STANDING.get(key, labels[key]), is_bold=True)], *lines] if lines else []
        of_columns = [{row.n for row in own.values()} for own in found]
        counts |= set().union(*(each for each in of_columns if len(each) > 1))
    which = "the best system against the second" if paper.choices.marked == FIRST else (
        "each system against the next below it"
    )  # fmt: skip
    caption = (
        f"MT systems by metrics, mean over {_segments(counts)}. † p < .05, †† p < .01: two-sided "
        f"paired bootstrap, {which} of the column."
    )
    if unjudged and documents and documents[0].n_judged:
        caption += f" Nobody judged {', '.join(unjudged)}."
    columns = "l" + "r" * len(places)
    return Table(caption, _label(paper, "9"), columns, _heads(paper, places), body)


def _segments(counts: Collection[int]) -> str:
    """Say of which segments scores are means; `counts` are those that differ within a column."""
    if not counts:
        return "all segments"
    return f"the {min(counts)} to {max(counts)} segments that a system has"


def _of_table9(paper: Paper, labels: Mapping[str, str]) -> list[str]:
    """Return the metrics of table 9: those chosen, else those of the paper, else the first two."""
    if paper.choices.table9:
        return [key for key in paper.choices.table9 if key in labels]
    usual = [key for name in STANDING.values() for key, label in labels.items()
             if name in (label, STANDING.get(key))]  # fmt: skip
    return usual or list(labels)[:2]


def _score(row: Any, marked: str, *, is_bare: bool) -> Cell:
    if row is None:
        return Cell("–")
    is_marked = not is_bare and (marked != FIRST or row.rank == 1)
    mark = MARKS.get(row.mark, "") if is_marked else ""
    return number(row.score, 4, mark=mark)


def _lengths(paper: Paper) -> Table:
    """Return table 10: mean absolute deviations from the target length, two digits each.

    The caption says why a campaign has none.
    """
    places = paper.in_order(paper.choices.order)
    found = [paper.of("standings")[place].lengths for place in places]
    known = [each for each in found if each.rows]
    systems = list(dict.fromkeys(row.system for each in found for row in each.rows))
    rows = [{row.system: row.statistic for row in each.rows} for each in found]
    body = [[Cell(n), *(_deviation(own.get(n)) for own in rows)] for n in systems]
    units = sorted({str(UNITS.get(each.unit, each.unit)) for each in known})
    of = sorted({str(TEXTS.get(each.of, each.of)) for each in known})
    rounding = (
        "rounded half to even and at least 1"
        if known and known[0].rounding == HALF_EVEN
        else "not rounded"
    )
    caption = (
        "Deviation from the target length: mean of |length − target| / target over the outputs, "
        f"in {' or '.join(units)}. The target is the length ratio times the length of the "
        f"{' or '.join(of)}, {rounding}."
    )
    wordless = dict.fromkeys(
        direction_name(each.direction)
        for each in (paper.of("standings")[place] for place in places)
        if NO_WORDS in each.warnings
    )
    if wordless:
        caption += f" {', '.join(wordless)}: none, because the source has no blanks between words."
    columns = "l" + "r" * len(places)
    return Table(caption, _label(paper, "10"), columns, _heads(paper, places), body)


def _deviation(value: float | None) -> Cell:
    """Return a deviation as the study prints it: 0, 7.4e-5, 0.019."""
    return Cell("0", numbers=(0.0,)) if value == 0 else small_number(value, 3)


def _layer_tables(paper: Paper) -> list[Numbered]:
    layers = layers_of(paper, paper.in_order(paper.choices.layer_order or paper.choices.order))
    if layers is None:
        return []
    further = iter(range(LAST_TABLE + 1, LAST_TABLE + 1 + len(layers.metrics)))
    found = []
    for metric in layers.metrics:
        number_ = ENCODERS.get(encoder_name(metric)) or next(further)
        found.append((number_, _layer_table(paper, layers, metric, str(number_))))
    return [Numbered(str(n), table) for n, table in sorted(found, key=lambda each: each[0])]


def _layer_table(paper: Paper, layers: LayersOfStudy, metric: Averaged, name: str) -> Table:
    top = paper.choices.top or len(metric.rows)
    rows = [replace(row, label=row.name) for row in metric.rows[:top]]
    cut = f" The first {top} of {len(metric.rows)}." if top < len(metric.rows) else ""
    caption = (
        f"Layers of {encoder_name(metric)}, best average first: {layers.statistic_label}.{cut}"
    )
    return latex_table(caption, _label(paper, name), layers.columns, [("", rows)])
