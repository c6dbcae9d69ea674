"""Build a study's matrix: metrics by campaigns, one statistic, with the best of each column.

The group of a column is its best metric with all metrics that cannot be distinguished from it,
after the chosen correction, above chance, and only where the campaign's verdict supports it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.http.request import QueryDict

from annotation.models import Campaign
from dashboards.comparisons import selection
from dashboards.comparisons.document import Comparison, Metric
from dashboards.comparisons.statistics import HUMAN_CEILING
from dashboards.correlations.document import CEILING, METRIC, Correlations, Row
from dashboards.documents.reasons import Verdict
from dashboards.panel.panel import baseline_label
from dashboards.papers.averages import Line
from dashboards.trust import marks
from extensions.studies.headline import Trend
from extensions.studies.published import Beside
from metaeval.messages import Message, message
from metaeval.replication.bounds import BELOW, NOT_ABOVE

STEPS = 10
# The most cells of the page, which has 100 KiB.
MOST_CELLS = 320
UNJUDGED = message("group.unjudged", "no output has a human score")
UNSCORED = message("group.unscored", "no metric has scored the outputs")
CONSTANT = message("group.constant", "no metric has a value")
DISTRUSTED = message("group.distrusted", "the judgments do not support it")
PENDING = message("group.pending", "intervals are being computed")
FAILED = message("group.failed", "intervals and ranks could not be computed")
AT_CHANCE = message("group.at-chance", "no metric is shown to be better than chance")


@dataclass(frozen=True)
class Group:
    """The best metrics of a column, by `case`; `why` is the reason where there are none.

    `leader` has the largest value; `keys` are the leader and the metrics that it cannot be
    distinguished from, empty where metrics are not comparable. `bold` are the same, or only the
    leader, and `marks` explain this, by the rule of the campaign's page (`dashboards.trust.marks`).
    """

    case: str
    leader: str = ""
    keys: frozenset[str] = frozenset()
    why: Message | None = None
    bold: frozenset[str] = frozenset()
    marks: Sequence[Message] = ()


@dataclass(frozen=True)
class Head:
    """The head of a column: the campaign's slug, the column's label, and its group."""

    campaign: str
    direction: str
    percent: str
    label: str
    group: Group

    @property
    def pair(self) -> str:
        """The direction in the form of papers: En–Zh."""
        return "–".join(part.capitalize() for part in self.direction.split("-"))


@dataclass(frozen=True)
class Cell:
    """One number; `step` is its shade, 0 lightest; all are None without a number.

    `floor` is the metric's state against the baselines of this campaign.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    step: int | None = None
    is_best: bool = False
    is_leader: bool = False
    floor: str = ""

    @property
    def is_floored(self) -> bool:
        """Whether the metric is below or not above the baselines."""
        return self.floor in (BELOW, NOT_ABOVE)


@dataclass(frozen=True)
class MatrixRow:
    """A metric over the campaigns, its average, and published numbers of the same metric.

    `kind` distinguishes metrics, baselines and the human ceiling.
    """

    key: str
    label: Message | str
    cells: Sequence[Cell]
    average: float | None
    published: Sequence[Cell] = ()
    kind: str = METRIC


@dataclass(frozen=True)
class Matrix:
    """Rows are sorted by average, best first; rows without an average come last.

    `published` has the published columns, with their average last where there are several.
    """

    heads: Sequence[Head]
    rows: Sequence[MatrixRow]
    published: Beside | None = None

    @property
    def directions(self) -> list[tuple[str, list[Head]]]:
        """Heads by language pair, where each pair is contiguous and has several."""
        found = [(pair, list(same)) for pair, same in groupby(self.heads, lambda h: h.direction)]
        return found if all(len(same) > 1 for _, same in found) else []

    @property
    def shown(self) -> Sequence[MatrixRow]:
        """The rows that fit the page, and any below them that is best in a column."""
        wide = len(self.heads) + (len(self.published.heads) if self.published else 0)
        room = max(8, MOST_CELLS // max(1, wide))
        leading = [row for row in self.rows[room:] if any(c.is_leader for c in row.cells)]
        return [*self.rows[:room], *leading]

    @property
    def has_floored(self) -> bool:
        """Whether a metric of the page is marked."""
        return any(cell.is_floored for row in self.shown for cell in row.cells)


def group_of(
    document: Correlations, correction: str, scope: str, wanted: frozenset[str] = frozenset()
) -> Group:
    """Return the group of a campaign's metrics; `wanted` are those shown, all if empty."""
    compared, trust = document.comparison, document.trust
    own = {metric.key for metric in (compared.metrics if compared else document.metrics)}
    metrics = [
        m for m in document.metrics if (not wanted or m.key in wanted) and (m.key in own or not own)
    ]
    known = [metric for metric in metrics if metric.value is not None]
    if not (document.n_judged or known):
        return Group("unjudged", why=UNJUDGED)
    if not metrics:
        return Group("unscored", why=UNSCORED)
    if not known:
        return Group("constant", why=CONSTANT)
    leader = max(known, key=_value)
    if trust is not None and trust.verdict == Verdict.DO_NOT_USE:
        return Group("distrusted", leader.key, why=DISTRUSTED)
    if document.failed:
        return Group("failed", leader.key, why=next(iter(marks.failure(document.failed)), FAILED))
    if compared is None or trust is None:
        return Group("pending", leader.key, why=PENDING)
    if reason := marks.refusal(trust, compared):
        return Group("refused", leader.key, why=reason)
    return _tested(document, compared, leader, correction, scope)


def _value(metric: Metric) -> float:
    return -math.inf if metric.value is None else metric.value


def _tested(
    document: Correlations, compared: Comparison, leader: Metric, correction: str, scope: str
) -> Group:
    """Return the metrics of rank 1 and those in bold, by the campaign's own rule."""
    known = [metric for metric in compared.metrics if metric.value is not None]
    ends = {metric.key: metric.low for metric in known}
    low = ends.get(leader.key)
    if low is None:
        return Group("uncertain", leader.key, why=marks.no_interval(compared))
    if low <= compared.chance:
        return Group("chance", leader.key, why=AT_CHANCE)
    if len(known) == 1:
        return Group("alone", leader.key, frozenset(ends))
    found = marks.marking(document.trust, compared, correction, scope)
    above = {key for key, end in ends.items() if end is not None and end > compared.chance}
    alike = selection.standing(compared, correction, scope).alike & above
    return Group("compared", leader.key, alike, bold=found.best, marks=found.notes)


def heads_of(campaigns: Sequence[Campaign]) -> list[Head]:
    """Return the heads of the columns; campaigns with equal labels get their names."""
    labels = [column_label(each) for each in campaigns]
    return [
        Head(
            campaign.slug,
            campaign.test_set.direction,
            campaign.percent,
            label if labels.count(label) == 1 else campaign.name,
            Group("pending"),
        )
        for campaign, label in zip(campaigns, labels, strict=True)
    ]


def column_label(campaign: Campaign) -> str:
    """Return `en–zh 80%`, without the length ratio where it is 1."""
    direction = campaign.test_set.direction.replace("-", "–")
    return direction if campaign.length_ratio == 1 else f"{direction} {campaign.percent}"


def matrix_of(
    heads: Sequence[Head],
    lines: Sequence[Line],
    found: Sequence[Mapping[str, Row]],
    published: Beside | None,
) -> Matrix:
    """Return the matrix of lines (`value` by campaign) with the campaigns' rows by metric."""
    known = [value for line in lines for value in line.values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    kinds = {key: row.kind for own in reversed(found) for key, row in own.items()}
    rows = [
        MatrixRow(
            line.key,
            HUMAN_CEILING
            if kinds.get(line.key, METRIC) == CEILING
            else baseline_label(line.key, line.label),
            [
                _cell(line.key, value, own.get(line.key), head.group, (low, high))
                for value, own, head in zip(line.values, found, heads, strict=True)
            ],
            line.average,
            _published_cells(line.key, published),
            kinds.get(line.key, METRIC),
        )
        for line in sorted(lines, key=_order)
    ]
    return Matrix(heads, rows or published_rows(published), published)


def _order(line: Line) -> tuple[bool, float]:
    if line.average is not None:
        return False, -line.average
    known = [value for value in line.values if value is not None]
    return True, -max(known, default=-math.inf)


def _cell(
    key: str, value: float | None, row: Row | None, group: Group, ends: tuple[float, float]
) -> Cell:
    if value is None or row is None:
        return Cell(None)
    is_best = key in group.bold
    leads = key in group.keys and key == group.leader
    return Cell(value, row.low, row.high, step_of(value, *ends), is_best, leads, row.floor)


def step_of(value: float, low: float, high: float) -> int:
    """Return the shade of a value between the lowest and the highest: 0 to STEPS - 1."""
    share = (value - low) / (high - low) if high > low else 0.5
    return min(STEPS - 1, int(share * STEPS))


def _published_cells(key: str, published: Beside | None) -> list[Cell]:
    """Return the published numbers of a metric; the largest of a column is bold, as printed."""
    if published is None:
        return []
    values = published.values.get(key, [None] * len(published.heads))
    pairs = zip(values, published.largest, strict=True)
    return [Cell(v, is_best=v is not None and v == largest) for v, largest in pairs]


def published_rows(published: Beside | None) -> list[MatrixRow]:
    """Return all rows of a published table, in its own order, for a matrix without campaigns."""
    if published is None:
        return []
    return [
        MatrixRow(key, label, [], None, _published_cells(key, published))
        for key, label in published.labels.items()
    ]


def groups_of(
    documents: Sequence[Correlations], query: QueryDict, wanted: frozenset[str]
) -> list[Group]:
    """Return the group of every campaign under an address's correction. Raises FilterError."""
    correction = selection.one_of(query, "correction", list(selection.CORRECTIONS))
    scope = selection.one_of(query, "scope", list(selection.SCOPES))
    return [group_of(each, correction, scope, wanted) for each in documents]


def trend_of(heads: Sequence[Head], lines: Sequence[Line]) -> Trend | None:
    """Return how agreement changes from the longest to the shortest length of every direction.

    None unless every direction has the same two or more lengths. A metric counts if it has all
    values and changes the same way in every direction.
    """
    places: dict[str, dict[str, int]] = {}
    for place, head in enumerate(heads):
        places.setdefault(head.direction, {})[head.percent] = place
    lengths = {tuple(sorted(own, key=_percent)) for own in places.values()}
    if len(lengths) != 1 or len(shared := next(iter(lengths))) < 2:
        return None
    shortest, longest = shared[0], shared[-1]
    pairs = [(own[shortest], own[longest]) for own in places.values()]
    changes = [_changes(line, pairs) for line in lines if None not in line.values]
    falling, rising = (sum(all(sign * c > 0 for c in each) for each in changes) for sign in (-1, 1))
    return Trend(longest, shortest, len(changes), falling, rising)


def _percent(text: str) -> float:
    return float(text.rstrip("%"))


def _changes(line: Line, pairs: Sequence[tuple[int, int]]) -> list[float]:
    """Return the changes from the longer to the shorter length, by direction."""
    values = [value or 0.0 for value in line.values]
    return [values[short] - values[long] for short, long in pairs]
