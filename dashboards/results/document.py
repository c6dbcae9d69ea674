"""The document of the first page of a campaign's results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.filters import IN, Filters
from annotation.models import Campaign
from annotation.quality import Verdict
from dashboards.comparisons.document import Metric
from dashboards.documents.head import CampaignDocument, Ends, head
from dashboards.panel.choice import general
from dashboards.panel.human import Floats, HumanScores, human_scores
from dashboards.results.answer import Answer
from dashboards.trust.judging import Evidence
from dashboards.trust.verdict import evidence_of
from metaeval import ScoreMatrix
from metaeval.messages import Message
from metaeval.systems import rank_systems

VERSION = 7


@dataclass(frozen=True)
class Standing:
    """An MT system by its human scores: mean over segments, interval, cluster, range of ranks."""

    system: str
    n: int
    value: float | None
    low: float | None
    high: float | None
    cluster: int | None = None
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, kw_only=True)
class Ground(CampaignDocument):
    """Systems by their human scores, agreement (`alpha`), and results of control items.

    Of `n_tested` annotators with control items, `n_passed` pass. `alpha` and its interval are None
    where they are undefined. `humans` are human translations, apart from `systems`. `gaps` are
    reasons why human scores are missing. `n_judged` counts outputs, `n_scored_whole` systems whose
    human scores came without scores of outputs.
    """

    n_judged: int
    n_scored_whole: int = 0
    gaps: Sequence[Message] = ()
    systems: Sequence[Standing] = ()
    humans: Sequence[Standing] = ()
    alpha: float | None = None
    alpha_ends: Ends | None = None
    n_tested: int = 0
    n_passed: int = 0


DOCUMENT = Ground


def compute(campaign: Campaign, filters: Filters) -> Ground:
    """Return the systems' standings and the agreement between annotators."""
    human = human_scores(campaign, filters)
    evidence = evidence_of(campaign, filters)
    known: dict[str, Any] = _checked(evidence) if evidence else {}
    matrix = human.matrix() if human.n else None
    return Ground(
        **head(campaign, human),
        n_judged=human.n,
        n_scored_whole=0 if human.n else _n_known(human.published_systems),
        systems=_standings(matrix) if matrix is not None else (),
        humans=_humans(campaign, filters, human),
        **known,
        gaps=human.gaps,
        warnings=human.warnings,
    )


def _n_known(scores: Floats | None) -> int:
    return 0 if scores is None else int(np.isfinite(scores).sum())


def _standings(matrix: ScoreMatrix) -> list[Standing]:
    ranking = rank_systems(matrix)
    counts = dict(zip(matrix.systems, matrix.mask.sum(axis=1).tolist(), strict=True))
    columns = ("scores", "lows", "highs", "clusters", "first", "last")
    numbers = zip(*(getattr(ranking, name).tolist() for name in columns), strict=True)
    return [
        Standing(name, counts[name], *found)
        for name, found in zip(ranking.systems, numbers, strict=True)
    ]


def _humans(campaign: Campaign, filters: Filters, human: HumanScores) -> list[Standing]:
    """Return the human translations that are excluded, without clusters, the best first."""
    if not human.humans:
        return []
    every = human_scores(campaign, replace(general(filters), humans=IN, outliers=IN))
    matrix = every.matrix().subset(systems=human.humans)
    known = [
        name for name, has_any in zip(human.humans, matrix.mask.any(axis=1), strict=True) if has_any
    ]
    standings = _standings(matrix.subset(systems=known)) if known else []
    return [replace(each, cluster=None, first=None, last=None) for each in standings]


def _checked(evidence: Evidence) -> dict[str, Any]:
    """Return agreement, and how many annotators pass their control items."""
    tested = [one for one in evidence.people if one.checks.parts]
    found: dict[str, Any] = {
        "n_tested": len(tested),
        "n_passed": sum(one.checks.verdict == Verdict.PASSES for one in tested),
    }
    if evidence.agreement:
        line = evidence.agreement
        value, ends = line.alpha_raw if evidence.is_raw else line.alpha_z
        found |= {"alpha": value, "alpha_ends": ends}
    return found


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
