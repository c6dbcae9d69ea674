"""The document of the first page of a campaign's results."""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.comparisons.document import Metric
from dashboards.documents.head import CampaignDocument
from dashboards.results.answer import Answer
from dashboards.results.ground import Standing
from metaeval.messages import Message


@dataclass(frozen=True)
class Mark:
    """The mark of a metric on one level; `is_best` marks the best cluster."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    rank: int | None = None
    is_best: bool = False


@dataclass(frozen=True)
class Line:
    """A metric on both levels; `other` is the other level, `p` that of the leader being better.

    `kind` distinguishes metrics from baselines, the human ceiling and annotators; `floor` is the
    result of the test against the baselines.
    """

    campaign: str
    key: str
    label: Message | str
    value: float | None
    low: float | None
    high: float | None
    rank: int | None
    is_best: bool
    p: float | None
    other: Mark
    kind: str = "metric"
    floor: str = ""
    origin: str = ""

    @property
    def beside_value(self) -> float | None:
        """The other level's value, for tables."""
        return self.other.value

    @property
    def beside_low(self) -> float | None:
        """The lower end of its interval."""
        return self.other.low

    @property
    def beside_high(self) -> float | None:
        """The upper end."""
        return self.other.high

    @property
    def beside_rank(self) -> int | None:
        """Its rank."""
        return self.other.rank

    @property
    def beside_is_best(self) -> bool:
        """Whether it is in the best cluster there."""
        return self.other.is_best


@dataclass(frozen=True)
class Rival:
    """The best metric that cannot be distinguished from the leader, and their difference.

    `level` is the p at which they would be distinguished, with the correction that ranks have.
    """

    key: str
    label: str
    difference: float
    low: float
    high: float
    level: float


@dataclass(frozen=True, kw_only=True)
class Home(CampaignDocument):
    """The page with its data and figures.

    `level` and `beside_level` name the levels of both panels, `marks` and `beside_marks` explain
    the bold metrics of each, `baseline_marks` the tests against the baselines, and `older` names
    parts with older data. `n_judged` counts outputs with a human score. `humans` are human
    translations, shown with the MT systems. `rows` are metrics, best first; `rival` is set where a
    metric cannot be distinguished from the best.
    """

    statistic: str
    statistic_label: Message | str
    level: Message | str
    beside_label: Message | str
    beside_level: Message | str
    correction: str
    correction_label: Message | str
    interval: Message | str | None
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
    marks: Sequence[Message]
    baseline_marks: Sequence[Message]
    beside_marks: Sequence[Message]
    alpha: float | None
    alpha_ends: Sequence[float | None] | None
    n_tested: int
    n_passed: int
    is_complete: bool
    older: Sequence[Message] = ()
    rival: Rival | None = None

    @property
    def metric_rows(self) -> list[Line]:
        """The rows of metrics, without baselines and the human ceiling."""
        return [line for line in self.rows if line.kind == "metric"]

    @property
    def bound_rows(self) -> list[Line]:
        """The other rows."""
        return [line for line in self.rows if line.kind != "metric"]
