"""Compute the table of MT systems: humans with clusters, metrics with marks, and lengths.

The columns follow tables 9 and 10 of Cheng et al. (2023).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.documents.computing import settled
from dashboards.documents.head import CampaignDocument, ends, head
from dashboards.documents.reasons import Number, measure_fields
from dashboards.panel.choice import Choice
from dashboards.panel.human import Floats, HumanScores, reweighted
from dashboards.panel.measures import CHARACTERS, WORDS, warnings_of
from dashboards.panel.panel import Panel, read_panel
from dashboards.systems.columns import AgreementGroup, Column, Compared, Row, agreement_groups
from dashboards.systems.outside import (
    HALF_EVEN,
    REFERENCE,
    SOURCE,
    UNROUNDED,
    Lengths,
    deviations,
    excluded,
    judged_of,
    others_of,
    outside,
)
from metaeval.correlation.measure import Measure
from metaeval.correlation.pairwise import pairwise_accuracy
from metaeval.messages import Message, message, plural
from metaeval.results import MissingDataWarning, StatisticsWarning
from metaeval.systems import MetricColumn, SystemTable, system_table
from metaeval.systems.ranking import TESTS

# Describe how many segments the numbers of the MT systems use.

AS_IMPORTED = message("basis.as-imported", "as imported")
IMPORTED = message(
    "basis.imported",
    "Imported scores of systems are shown unchanged, even if they differ from the mean of the "
    "output scores.",
)
PUBLISHED = message(
    "basis.published",
    "τ-b and accuracy compare metrics with human scores published for whole systems.",
)


def basis(table: SystemTable, n_segments: int, has_published: bool) -> list[Message]:
    """Return a description for all numbers.

    `has_published`: agreement is with human scores published for whole systems.
    """
    human = _judged(table)
    own = [column for column in table.columns if not column.is_given]
    scored = [count for column in own for count in column.counts.tolist()]
    is_imported = len(own) < len(table.columns)
    if set(human) | set(scored) == {n_segments} and not (has_published or is_imported):
        return [
            plural(
                "basis.all-segments",
                "All numbers use the only segment of the test set.",
                "All numbers use all {n} segments of the test set.",
                n=n_segments,
            )
        ]
    missing = [w.message for w in table.warnings if w.code == MissingDataWarning.code]
    found = [
        plural(
            "basis.test-set",
            "The test set has {n} segment.",
            "The test set has {n} segments.",
            n=n_segments,
        )
    ]
    if human:
        found.append(_of_humans(table, human))
    if scored:
        found += missing or [
            message(
                "basis.metrics",
                "Metric scores use {segments} segments per system.",
                segments=span(scored),
            )
        ]
    found += [IMPORTED] if is_imported else []
    found += _of_agreement(table, has_published) if scored or is_imported else []
    return found


def _judged(table: SystemTable) -> list[int]:
    found: list[int] = table.ranking.shared.diagonal().tolist() if table.ranking else []
    return found


def _of_humans(table: SystemTable, human: Sequence[int]) -> Message:
    if table.ranking is None or len(human) < 2:
        return message(
            "basis.humans",
            "Human scores are based on {segments} judged segments per system.",
            segments=span(human),
        )
    shared = table.ranking.shared[np.triu_indices(len(human), k=1)].tolist()
    return message(
        "basis.humans-shared",
        "Human scores are based on {segments} judged segments per system. Two systems share "
        "{shared} of them.",
        segments=span(human),
        shared=span(shared),
    )


def _of_agreement(table: SystemTable, has_published: bool) -> list[Message]:
    if has_published:
        return [PUBLISHED]
    judged = [n for column in table.columns for n in column.judged.tolist() if n]
    if not judged:
        return []
    return [
        message(
            "basis.agreement",
            "τ-b and accuracy use the {segments} segments per system that are judged and scored.",
            segments=span(judged),
        )
    ]


def span(counts: Sequence[int]) -> Message:
    """Return a range of counts as `690 to 732`, or the count that all share."""
    low, high = min(counts), max(counts)
    if low == high:
        return message("basis.count", "{n}", n=low)
    return message("basis.counts", "{low} to {high}", low=low, high=high)


# Compute unbiased means where items were drawn by the scores of systems.


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A system's plain mean, and its mean weighted by 1 / the probability of being drawn.

    `low` and `high` are the ends of the latter's interval, over `n` judgments of `documents`.
    """

    system: str
    n: int
    documents: int
    plain: Number
    mean: Number
    low: Number
    high: Number


def drawn(campaign: Campaign, filters: Filters, human: HumanScores) -> list[Drawn]:
    """Return a row per judged system, the best first; empty where items were not drawn."""
    found = reweighted(campaign, filters, human)
    if found is None:
        return []
    names = human.names
    ends = zip(found.lows.tolist(), found.highs.tolist(), strict=True)
    return [
        Drawn(
            system=names[system],
            n=int(found.counts[row]),
            documents=int(found.documents[row]),
            plain=float(found.plain[row]),
            mean=float(found.means[row]),
            low=low if low == low else None,
            high=high if high == high else None,
        )
        for row, (system, (low, high)) in sorted(
            enumerate(zip(found.systems, ends, strict=True)), key=lambda each: -found.means[each[0]]
        )
    ]


VERSION = 12
N_RESAMPLES = 1000


@dataclass(frozen=True)
class SystemsChoice(Choice):
    """The comparison of marks, the test of clusters, and the unit and target of lengths.

    `length_unit` is words, characters or a checkpoint; the default depends on the target language.
    `rounding` applies to the target length.
    """

    versus: str = "next"
    test: str = "rank-sum"
    length_unit: str = ""
    wanted: str = REFERENCE
    rounding: str = UNROUNDED

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("versus", "next", "best")
        self.one_of("test", *TESTS)
        self.one_of("wanted", REFERENCE, SOURCE)
        self.one_of("rounding", UNROUNDED, HALF_EVEN)


@dataclass(frozen=True, kw_only=True)
class Systems(CampaignDocument):
    """The table. `systems` are in the human order; `marks` explain marks or their absence.

    `systems` are the judged ones, or all where none was judged. `outside` are the others of the
    same length ratio, which have no marks. `excluded` are judged systems that are excluded from
    comparisons of metrics, such as human translations. `drawn` has unbiased means where better
    systems were shown more often.
    """

    has_published_systems: bool
    versus: str
    test: str
    n_resamples: int = N_RESAMPLES
    seed: int
    basis: Sequence[Message]
    systems: Sequence[str]
    human: Sequence[Row]
    columns: Sequence[Column]
    agreement: Sequence[AgreementGroup]
    lengths: Lengths
    length_units: Sequence[str] = (WORDS, CHARACTERS)
    rows: Sequence[Row]
    outside: Sequence[Row] = ()
    excluded: Sequence[Row] = ()
    drawn: Sequence[Drawn] = ()
    marks: Sequence[Message] = ()


FILTERS = SystemsChoice
DOCUMENT = Systems


def compute(campaign: Campaign, filters: Filters) -> Systems:
    """Return the table, with one row per system and measure."""
    if not isinstance(filters, SystemsChoice):
        filters = SystemsChoice(**vars(filters))
    panel = read_panel(campaign, filters)
    table = table_of(panel, filters)
    has_published = panel.human.published_systems is not None
    human = _human(panel, table)
    is_judged = table.ranking is not None or has_published
    columns = [settled(_column(panel, c, is_judged=is_judged)) for c in table.columns]
    shown = [*judged_of(panel), *others_of(campaign, panel)]
    lengths, notes = deviations(
        campaign, panel, filters.length_unit, filters.wanted, filters.rounding, systems=shown
    )
    # The basis covers missing data.
    others = [w.message for w in table.warnings if w.code != MissingDataWarning.code]
    notices = [*panel.human.warnings, *warnings_of(panel.measures), *others, *notes]
    return Systems(
        **head(campaign, panel.human),
        has_published_systems=has_published,
        versus=filters.versus,
        test=filters.test,
        seed=campaign.seed,
        basis=basis(table, len(panel.human.segments), has_published),
        systems=_in_order(panel, table, human),
        human=human,
        columns=columns,
        agreement=agreement_groups(human, columns),
        lengths=lengths,
        warnings=list(dict.fromkeys(notices)),
        rows=[*human, *(row for column in columns for row in column.rows)],
        outside=outside(campaign, panel),
        excluded=excluded(campaign, filters, panel),
        drawn=drawn(campaign, filters, panel.human),
    )


def _in_order(panel: Panel, table: SystemTable, human: Sequence[Row]) -> list[str]:
    """Return the judged systems, those with a rank first; all where none was judged."""
    ranked = [row.system for row in human]
    left = {*ranked, *table.unjudged}
    return [*ranked, *(name for name in panel.human.names if name not in left)]


def table_of(panel: Panel, filters: SystemsChoice) -> SystemTable:
    """Return the statistics of the table."""
    scored, names = panel.scored, panel.human.names
    published = scored.human_systems
    return system_table(
        scored.human,
        {key: scored.counts.get(key, each) for key, each in scored.metrics.items()},
        lower=scored.lower,
        human_systems=None if published is None else _known(names, published),
        given={key: _known(names, each) for key, each in scored.given.items()},
        versus=filters.versus,
        test=filters.test,
        n_resamples=N_RESAMPLES,
        rng=panel.seed,
        labels={key: measure.label for key, measure in panel.measures.items()},
    )


def _known(names: Sequence[str], scores: Floats) -> dict[str, float]:
    pairs = zip(names, scores.tolist(), strict=True)
    return {name: score for name, score in pairs if score == score}


def _human(panel: Panel, table: SystemTable) -> list[Row]:
    """Return a row per system in the human order; without segment scores in the published order."""
    ranking, published = table.ranking, panel.human.published_systems
    if ranking is None:
        scores = {} if published is None else _known(panel.human.names, published)
        ordered = sorted(((score, name) for name, score in scores.items()), reverse=True)
        return [
            Row(measure="human", system=name, score=score, rank=place, n=1)
            for place, (score, name) in enumerate(ordered, start=1)
        ]
    counts = dict(zip(panel.human.names, panel.human.matrix().mask.sum(axis=1), strict=True))
    return [
        Row(
            measure="human",
            system=name,
            score=float(ranking.scores[place]),
            rank=place + 1,
            n=int(counts[name]),
            cluster=int(ranking.clusters[place]),
            first=int(ranking.first[place]),
            last=int(ranking.last[place]),
            wins=int(ranking.wins[place]),
        )
        for place, name in enumerate(ranking.systems)
    ]


def _column(panel: Panel, column: MetricColumn, *, is_judged: bool) -> Column:
    measure = panel.measures[column.metric]
    judged = column.judged.tolist()
    tau, accuracy = _without_outliers(panel, column)
    return Column(
        **measure_fields(measure),
        is_given=column.is_given,
        is_corpus=measure.corpus is not None,
        tau=column.tau,
        accuracy=column.accuracy,
        accuracy_ends=ends(column.accuracy_interval),
        tau_without_outliers=tau,
        accuracy_without_outliers=accuracy,
        n_systems=column.n_shared,
        n=column.n,
        is_even=not column.reasons.get("output-without-score"),
        span=AS_IMPORTED if column.is_given else span(column.counts.tolist() or [0]),
        compared_span=span([n for n in judged if n] or [0]),
        rows=[_row(column, place, is_judged=is_judged) for place in range(len(column.systems))],
        compared=[
            Compared(*each)
            for each in zip(
                column.systems, column.human.tolist(), column.compared.tolist(), judged, strict=True
            )
        ],
    )


def _without_outliers(
    panel: Panel, column: MetricColumn
) -> tuple[float, float] | tuple[None, None]:
    """Return τ-b and accuracy without outlier systems; None where there are no outliers."""
    is_far = np.isin(column.systems, panel.human.outliers)
    if not is_far.any():
        return None, None
    both = ~(is_far | np.isnan(column.human) | np.isnan(column.compared))
    sides = column.human[both], column.compared[both]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        tau = float(Measure("kendall").over_systems(*sides))
        return tau, pairwise_accuracy(*sides).statistic


def _row(column: MetricColumn, place: int, *, is_judged: bool) -> Row:
    """Return a system's score, and its comparison with the next or best over shared segments."""
    return Row(
        measure=column.metric,
        system=column.systems[place],
        score=float(column.scores[place]),
        rank=place + 1,
        n=int(column.counts[place]),
        p=float(column.pvalues[place]),
        mark=column.marks[place],
        is_judged=is_judged,
        shared=int(column.shared[place]),
        difference=float(column.differences[place]),
    )
