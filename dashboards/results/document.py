"""What the first page of a campaign's results shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.comparisons.document import Metric
from dashboards.documents.head import CampaignDocument
from dashboards.results.answer import Answer
from dashboards.results.ground import Standing


@dataclass(frozen=True)
class Mark:
    """A metric on one level: what is drawn of it. `is_best` is of the first rank's."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    rank: int | None = None
    is_best: bool = False


@dataclass(frozen=True)
class Line:
    """A metric on both levels; `beside` is the other level, `p` that the leader is better.

    `kind` tells it from a floor, the ceiling and people; `floor` says where it stands against the
    floor.
    """

    campaign: str
    key: str
    label: str
    value: float | None
    low: float | None
    high: float | None
    rank: int | None
    is_best: bool
    p: float | None
    beside: Mark
    kind: str = "metric"
    floor: str = ""

    @property
    def beside_value(self) -> float | None:
        """The other level's value, for tables."""
        return self.beside.value

    @property
    def beside_low(self) -> float | None:
        """The lower end of its interval."""
        return self.beside.low

    @property
    def beside_high(self) -> float | None:
        """The upper end."""
        return self.beside.high

    @property
    def beside_rank(self) -> int | None:
        """Its rank."""
        return self.beside.rank

    @property
    def beside_is_best(self) -> bool:
        """Whether it is of the first rank's there."""
        return self.beside.is_best


@dataclass(frozen=True)
class Rival:
    """The best metric that is not told from the leader, and how far apart they are.

    `level` is the p that would tell them apart, with the correction that ranks have.
    """

    key: str
    label: str
    difference: float
    low: float
    high: float
    level: float


@dataclass(frozen=True, kw_only=True)
class Home(CampaignDocument):
    """What the page shows, its data and its figures.

    `level` and `beside_level` name the levels of both panels, `marks` and `beside_marks` say what
    is bold on each, `older` which part is of older data. `n_judged` counts outputs with a human
    score. `humans` are human translations beside the MT systems. `rows` are metrics, best first;
    `rival` is set where one is not told from the best.
    """

    statistic: str
    statistic_label: str
    level: str
    beside_label: str
    beside_level: str
    correction: str
    correction_label: str
    interval: str
    n_judged: int
    n_outputs: int
    n_segments: int
    n_systems: int
    answer: Answer
    rows: Sequence[Line]
    metrics: Sequence[Metric]
    all_metrics: Sequence[Metric]
    systems: Sequence[Standing]
    humans: Sequence[Standing]
    marks: str
    floor_marks: str
    beside_marks: str
    alpha: float | None
    alpha_ends: Sequence[float | None] | None
    n_tested: int
    n_passed: int
    is_complete: bool
    older: Sequence[str] = ()
    rival: Rival | None = None

    @property
    def metric_rows(self) -> list[Line]:
        """The rows of metrics, without floors, ceiling and people."""
        return [line for line in self.rows if line.kind == "metric"]

    @property
    def bound_rows(self) -> list[Line]:
        """The others."""
        return [line for line in self.rows if line.kind != "metric"]
