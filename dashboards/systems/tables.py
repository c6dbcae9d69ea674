"""Write tables of MT systems for a paper."""

from collections.abc import Sequence

from dashboards.papers.latex import Cell, Table, number, small_number, texts
from dashboards.systems import columns as shown
from dashboards.systems.columns import AgreementGroup, Column, Row, by_name
from dashboards.systems.document import Systems
from metaeval.messages import Message

Line = list[Cell]
MARKS = "† p < .05, ‡ p < .01, two-sided paired bootstrap: {}"
NOT_JUDGED = "°"
UNJUDGED = "° Not judged: scored by metrics only, and not compared with judged systems."
VERSUS = {
    "next": "better than the next system below in the metric’s own order",
    "best": "worse than the metric’s best system",
}


def tables(document: Systems) -> list[Table]:
    """Return a campaign's scores with marks, and its lengths where they are known."""
    found = [_scores(document)]
    found += [_compared(document, group) for group in document.agreement if not group.is_shown]
    found += [_outside(document)] if document.outside else []
    found += [_excluded(document)] if document.excluded else []
    return found + ([_lengths(document)] if document.lengths.rows else [])


def _scores(document: Systems) -> Table:
    """Return a table with the longer of systems and metrics as rows, so that it fits."""
    grid = _grid(document)
    if len(grid[0]) > len(grid):
        grid = [list(line) for line in zip(*grid, strict=True)]
    caption: list[Message | str | None] = [
        f"MT systems, {document.direction} at {_percent(document)}: "
        f"{document.human_scores}, clusters by {document.test}; metrics with "
        f"{MARKS.format(VERSUS[document.versus])}.",
        *document.marks,
        "The last numbers are τ-b and pairwise accuracy of the metric’s ranking against the "
        "humans’ ranking.",
        *document.basis,
    ]
    columns = "l" + "r" * (len(grid[0]) - 1)
    return Table(caption, f"{document.campaign}-systems", columns, grid[:1], grid[1:])


def _compared(document: Systems, group: AgreementGroup) -> Table:
    """Return the scores that agreement compares, over the same segments on both sides."""
    human = "Human, published" if document.has_published_systems else "Human, these segments"
    head = texts("System", human, "Segments", *group.labels)
    body = [
        [
            Cell(line.system),
            number(line.human),
            Cell(f"{line.n:,}"),
            *(number(score) for score in line.scores),
        ]
        for line in group.lines
    ]
    caption = "Scores that τ-b and accuracy compare, over the same segments on both sides."
    label = f"{document.campaign}-systems-{group.keys[0]}"
    return Table(caption, label, "l" + "r" * (len(head) - 1), [head], body)


def _percent(document: Systems) -> str:
    return f"{100 * float(document.length_ratio):g}%"


def _grid(document: Systems) -> list[Line]:
    """Return systems as rows; human score, cluster, ranks and the metrics as columns."""
    human = by_name(document.human)
    named = [_name(column) for column in document.columns]
    grid = [texts("System", "Human", "Cluster", "Ranks", *named)]
    best = [by_name(column.rows) for column in document.columns]
    for name in document.systems:
        cells = [score_cell(found.get(name), 3) for found in best]
        grid.append([Cell(name), *_human(human.get(name)), *cells])
    if document.columns:
        taus = [number(column.tau) for column in document.columns]
        accuracies = [number(column.accuracy) for column in document.columns]
        grid.append([*texts("τ-b", "", "", ""), *taus])
        grid.append([*texts("Accuracy", "", "", ""), *accuracies])
    return grid


def _outside(document: Systems) -> Table:
    """Return systems that were not judged, with the number of judged systems below them."""
    caption = (
        "Systems that were not judged, and the number of judged systems that a metric ranks below "
        "them, each over shared segments."
    )
    return _placed(document, document.outside, caption, "outside")


def _excluded(document: Systems) -> Table:
    """Return human translations and other excluded judged systems."""
    caption = (
        "Judged systems that are excluded from comparisons of metrics, and the number of other "
        "systems that the humans and metrics rank below them, each over shared segments."
    )
    return _placed(document, document.excluded, caption, "beside")


def _placed(document: Systems, rows: Sequence[Row], caption: str, name: str) -> Table:
    labels = {"human": "Human"} | {column.key: _name(column) for column in document.columns}
    body = [
        [
            *texts(row.system, labels[row.measure], row.n),
            number(row.score),
            Cell(f"{row.above} of {row.against}"),
        ]
        for row in rows
    ]
    head = texts("System", "Metric", "Segments", "Score", "Above")
    return Table(caption, f"{document.campaign}-{name}", "llrrr", [head], body)


def _name(column: Column) -> str:
    return f"{column.label} ↓" if column.is_turned else column.label


def _human(row: Row | None) -> Line:
    if row is None:
        return texts(None, None, None)
    first, last = row.first, row.last
    ranks = None if first is None else f"{first}" if first == last else f"{first}–{last}"
    return [number(row.score), *texts(row.cluster, ranks)]


def score_cell(row: shown.Cell | None, places: int) -> Cell:
    """Return a score with its mark of significance, or the mark of a system without judgments."""
    if row is None:
        return Cell("–")
    mark = row.mark if row.is_judged else NOT_JUDGED
    return number(row.score, places, is_bold=row.is_best, mark=mark)


def _lengths(document: Systems) -> Table:
    lengths = document.lengths
    body = [
        [
            Cell(row.system if row.is_judged else f"{row.system}{NOT_JUDGED}"),
            *map(small_number, (row.statistic, row.bias, row.median, row.pooled, row.within)),
            Cell(str(row.n)),
        ]
        for row in lengths.rows
    ]
    head = texts("System", "Mean", "Signed", "Median", "Of the sums", "Within 10%", "Outputs")
    caption = (
        f"Deviation from the target length, in {lengths.unit}. Mean and median: "
        "|length − target| / target; signed: the mean of (length − target) / target; of the sums: "
        "the same for all outputs together. The target length is "
        f"{_percent(document)} of that of the {lengths.of}"
        f"{', rounded half to even' if lengths.is_rounded else ''}."
    )
    if not all(row.is_judged for row in lengths.rows):
        caption += f" {NOT_JUDGED} Not judged."
    return Table(caption, f"{document.campaign}-lengths", "lrrrrrr", [head], body)
