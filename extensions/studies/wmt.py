"""Compute the tasks of a year of WMT over campaigns: values, tests, clusters and the ranking."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from annotation.filters import Filters
from annotation.filters.chosen import fitted
from annotation.models import Campaign
from dashboards.documents.computing import settled
from dashboards.documents.head import StudyDocument, UnitsOf, units_of
from dashboards.panel.choice import PooledChoice, general, others
from dashboards.panel.panel import Panel, read_panel
from dashboards.trust.amount import MIN_SYSTEMS
from extensions.studies.matrix import heads_of
from metaeval.messages import Message, message, truncated
from metaeval.scores import ScoreMatrix
from metaeval.wmt import (
    YEARS,
    Comparison,
    Pair,
    Ranking,
    TaskResult,
    rank_overall,
    run_task,
    tasks_over,
)
from metaeval.wmt.tasks import SEG, SYS, Statistic, TaskError

VERSION = 1
# The largest number of draws of each test, as in WMT.
N_DRAWS = 1000
NEWEST = str(max(YEARS))
# The name of the average over all tasks.
AVERAGE = "average"
# Human scores of a campaign.
HUMAN = Pair("human", "", with_human=True)
LABELS = {
    "accuracy": message("wmt-task.accuracy", "Pairwise accuracy of systems"),
    "sys-pearson": message("wmt-task.sys-pearson", "Pearson r of systems"),
    "seg-pearson": message("wmt-task.seg-pearson", "Pearson r of segments"),
    "acc-eq": message("wmt-task.acc-eq", "acc-eq"),
    "spa": message("wmt-task.spa", "SPA"),
}


@dataclass(frozen=True)
class WmtChoice(PooledChoice):
    """`year` is the year whose statistics are used."""

    year: str = NEWEST

    def __post_init__(self) -> None:
        """Check the year."""
        super().__post_init__()
        self.one_of("year", *map(str, YEARS))


FILTERS = WmtChoice


@dataclass(frozen=True)
class Place:
    """A metric in a task, or by its average over tasks.

    `rank` is the cluster by WMT's test, `mean_rank` the weighted mean of a metric's ranks. `value`
    to `own_rank` with `low` and `high` are our estimate, where the unit is documents.
    """

    metric: str
    label: str
    value: float | None
    rank: int | None
    mean_rank: float | None = None
    own_value: float | None = None
    low: float | None = None
    high: float | None = None
    own_rank: int | None = None


@dataclass(frozen=True, kw_only=True)
class Task:
    """One statistic of one campaign, or of all of them (`campaign` is empty), best metric first."""

    name: str
    campaign: str
    statistic: str
    weight: float
    n_systems: int
    n_segments: int | None
    unit: str
    n_units: int
    places: Sequence[Place]

    @property
    def label(self) -> Message:
        """The name of the statistic."""
        return LABELS[self.statistic]


@dataclass(frozen=True, kw_only=True)
class WmtTasks(StudyDocument):
    """The document: tasks, and `ranking`, the metrics that all tasks have by their average.

    `partial` are the labels of metrics that a task lacks; `names` are labels of the campaigns.
    """

    year: str
    n_draws: int
    seed: int
    names: Mapping[str, str]
    tasks: Sequence[Task]
    ranking: Sequence[Place]
    partial: Sequence[str]


DOCUMENT = WmtTasks


def compute(campaign: Campaign, filters: Filters) -> WmtTasks:
    """Run the year's tasks, with one language pair per campaign."""
    chosen = filters if isinstance(filters, WmtChoice) else WmtChoice(**vars(filters))
    campaigns = [campaign, *others(campaign, chosen)]
    own = general(chosen)
    panels = {each: read_panel(each, fitted(each, campaigns, own)) for each in campaigns}
    statistics = YEARS[int(chosen.year)].statistics
    read: dict[tuple[str, str], Comparison] = {}
    warnings: list[Message] = []
    for each, panel in panels.items():
        warnings += [_of(each, note) for note in panel.human.warnings]
        found = {level: compared(panel, level) for level in {s.level for s in statistics}}
        if lacking := next((f for f in found.values() if isinstance(f, Message)), None):
            warnings.append(_of(each, lacking))
            continue
        for level, scores in found.items():
            if isinstance(scores, Comparison):
                read[each.slug, level] = scores
        warnings += [_of(each, note) for note in _incomplete(panel, found)]
    used = [each for each in campaigns if any(slug == each.slug for slug, _ in read)]
    results = list(_run(used, statistics, read, campaign.seed))
    labels = {k: str(one.label) for panel in panels.values() for k, one in panel.measures.items()}
    ranking = rank_overall(results) if results else None
    return WmtTasks(
        study=campaign.study,
        year=chosen.year,
        n_draws=N_DRAWS,
        seed=campaign.seed,
        names={each.campaign: each.label for each in heads_of(used)},
        tasks=[_task(each, labels) for each in results],
        ranking=_ranking(ranking, labels) if ranking else [],
        partial=sorted(labels[key] for key in ranking.partial) if ranking else [],
        units=[
            UnitsOf(**units_of(panels[each].human.clusters), campaign=each.slug, name=each.name)
            for each in used
        ],
        warnings=list(dict.fromkeys(warnings)),
    )


def _of(campaign: Campaign, note: Message) -> Message:
    return message(
        "warning.of-campaign", "{campaign}: {warning}", campaign=campaign.name, warning=note
    )


def compared(panel: Panel, level: str) -> Comparison | Message:
    """Return the scores that tasks compare at a level, or why there is nothing to compare.

    As in WMT, a metric that lacks a score of a judged output is not compared, whereas our pages
    compare metrics on the outputs that all of them scored.
    """
    scored = panel.scored
    if level == SYS:
        ours = panel.human.of_systems
        human = ScoreMatrix(ours[:, None], scored.human.systems, ["all"])
        values = {
            key: scored.system_level(key, scored.human.mask)[1][:, None] for key in scored.metrics
        }
    else:
        human = scored.human
        values = {key: scored.oriented(key).values for key in scored.metrics}
    judged = human.mask.any(axis=1)
    if judged.sum() < 2:
        return message("wmt-task.few-systems", "Fewer than two systems have human scores.")
    gold = human.subset(
        systems=[name for name, known in zip(human.systems, judged, strict=True) if known]
    )
    metrics, incomplete = {}, []
    for key, every in values.items():
        own = every[judged]
        if np.isnan(own[gold.mask]).any():
            incomplete.append(key)
        else:
            metrics[key] = gold.with_values(own)
    if not metrics:
        return message("wmt-task.no-metrics", "No metric has scores of all judged outputs.")
    return Comparison(gold, metrics, tuple(incomplete))


def _incomplete(panel: Panel, found: Mapping[str, Comparison | Message]) -> Iterator[Message]:
    keys = dict.fromkeys(
        key for each in found.values() if isinstance(each, Comparison) for key in each.incomplete
    )
    if keys:
        yield message(
            "wmt-task.incomplete",
            "Excluded, because they lack a score of a judged output: {metrics}.",
            metrics=truncated([str(panel.measures[key].label) for key in keys]),
        )


def _run(
    campaigns: Sequence[Campaign],
    statistics: Sequence[Statistic],
    read: Mapping[tuple[str, str], Comparison],
    seed: int,
) -> Iterator[TaskResult]:
    tasks = tasks_over(statistics, {each.slug: HUMAN for each in campaigns}) if campaigns else []
    for number, task in enumerate(tasks):
        scores = {slug: read[slug, task.statistic.level] for slug in task.pairs}
        # Campaigns that share no metric have no pooled task and no ranking.
        with suppress(TaskError):
            # Tasks draw on their own, as WMT's do.
            yield run_task(task, scores, n_draws=N_DRAWS, seed=seed + 1000 * number)


def _rank(value: int) -> int | None:
    return int(value) or None


def _task(result: TaskResult, labels: Mapping[str, str]) -> Task:
    own, statistic = result.own, result.task.statistic
    campaign = "" if statistic.is_pooled else next(iter(result.task.pairs))
    return Task(
        name=result.task.name,
        campaign=campaign,
        statistic=statistic.name,
        weight=result.task.weight,
        n_systems=sum(map(len, result.systems.values())),
        n_segments=result.n_segments if statistic.level == SEG else None,
        unit=own.unit,
        n_units=own.n_units,
        places=[
            settled(
                Place(
                    metric=key,
                    label=labels[key],
                    value=float(result.values[n]),
                    rank=_rank(result.ranks[n]),
                    own_value=float(own.values[n]),
                    low=float(own.lows[n]),
                    high=float(own.highs[n]),
                    own_rank=_rank(own.ranks[n]),
                )
            )
            for n, key in enumerate(result.metrics)
        ],
    )


def _ranking(ranking: Ranking, labels: Mapping[str, str]) -> list[Place]:
    return [
        settled(
            Place(
                metric=key,
                label=labels[key],
                value=float(ranking.averages[n]),
                rank=_rank(ranking.ranks[n]),
                mean_rank=float(ranking.mean_ranks[n]),
            )
        )
        for n, key in enumerate(ranking.metrics)
    ]


# Statistics over systems, which need some to be ranked.
OVER_SYSTEMS = ("accuracy", "sys-pearson", "spa")


def without_ranks(document: WmtTasks, refused: frozenset[str]) -> WmtTasks:
    """Return a document without ranks of these campaigns and of averages that include them.

    Tasks over too few systems of a campaign are not ranked either, and a warning names them.
    """
    of_campaign = {each.campaign: each.n_systems for each in document.tasks if each.campaign}
    few = {campaign for campaign, n in of_campaign.items() if n < MIN_SYSTEMS}

    def is_small(task: Task) -> bool:
        return task.statistic in OVER_SYSTEMS and bool(
            task.campaign in few if task.campaign else few
        )

    def is_refused(task: Task) -> bool:
        return is_small(task) or bool(task.campaign in refused if task.campaign else refused)

    if not refused and not any(map(is_small, document.tasks)):
        return document
    tasks = [
        replace(task, places=[replace(each, rank=None, own_rank=None) for each in task.places])
        if is_refused(task)
        else task
        for task in document.tasks
    ]
    small = dict.fromkeys(task.label for task in document.tasks if is_small(task))
    notes = [
        message(
            "wmt-task.few-systems-to-rank",
            "Not ranked over fewer than {least} systems: {statistics}. So few do not predict how "
            "metrics would do on other systems.",
            least=MIN_SYSTEMS,
            statistics=list(small),
        )
    ]
    ranking = [replace(each, rank=None, mean_rank=None) for each in document.ranking]
    warnings = [*document.warnings, *(notes if small else ())]
    return replace(document, tasks=tasks, ranking=ranking, warnings=warnings)
