"""Correlate metrics with humans over documents: each system has one score per document."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.documents.computing import settled
from dashboards.documents.head import OfCampaign, about
from dashboards.panel.human import PARTS_ONLY
from dashboards.panel.panel import Panel, read_panel
from metaeval.arrays import FloatArray, mean_along
from metaeval.correlation.intervals.crossed import FEWEST_SEGMENTS, correlation_intervals
from metaeval.correlation.measure import Measure
from metaeval.messages import Message, message
from metaeval.results import StatisticsWarning
from metaeval.scores import ScoreMatrix
from metrics.grid import Corpus

VERSION = 2
LEVEL = "document"
FEW = message(
    "documents.few",
    "There are no intervals, because they need {n} documents.",
    n=FEWEST_SEGMENTS,
)
R, TAU = Measure("pearson", "none"), Measure("kendall", "none")


@dataclass(frozen=True)
class Row:
    """A metric's agreement over documents; `is_own` if its scores of documents were imported.

    Other metrics are computed from the segments that were judged, as over a whole system.
    """

    metric: str
    label: str
    is_own: bool
    r: float | None
    r_low: float | None
    r_high: float | None
    tau: float | None
    tau_low: float | None
    tau_high: float | None


@dataclass(frozen=True, kw_only=True)
class Documents(OfCampaign):
    """The document: `n` scores of `n_documents` documents and `n_systems` systems.

    `is_published`: the human scores are those published of the documents.
    """

    human_scores: Message
    is_published: bool
    n: int
    n_documents: int
    n_systems: int
    rows: Sequence[Row]


DOCUMENT = Documents


def has_documents(campaign: Campaign) -> bool:
    """Return whether two documents are named."""
    names = campaign.test_set.segments.exclude(document="").order_by()
    return names.values("document").distinct()[:2].count() == 2


def compute(campaign: Campaign, filters: Filters) -> Documents:
    """Return r and τ-b of every metric over systems × documents, with intervals over documents."""
    panel = read_panel(campaign, filters)
    human, metrics, own = matrices(campaign, panel)
    with warnings.catch_warnings():
        # They name segments, which documents replace here.
        warnings.simplefilter("ignore", StatisticsWarning)
        r, tau = (_over(human, metrics, measure) for measure in (R, TAU))
    n_documents = int(human.mask.any(axis=0).sum())
    notes = [] if n_documents >= FEWEST_SEGMENTS or not metrics else [FEW]
    return Documents(
        **about(campaign),
        human_scores=panel.human.source,
        is_published=_are_published(panel),
        n=int(human.mask.sum()),
        n_documents=n_documents,
        n_systems=int(human.mask.any(axis=1).sum()),
        rows=[
            settled(Row(key, str(panel.measures[key].label), key in own, *r[key], *tau[key]))
            for key in sorted(metrics, key=lambda key: -np.nan_to_num(r[key][0], nan=-2.0))
        ],
        warnings=[
            each for each in dict.fromkeys([*panel.human.warnings, *notes]) if each != PARTS_ONLY
        ],
    )


def _are_published(panel: Panel) -> bool:
    return any(level == LEVEL for level, _ in panel.human.parts)


def matrices(
    campaign: Campaign, panel: Panel
) -> tuple[ScoreMatrix, dict[str, ScoreMatrix], frozenset[str]]:
    """Return humans and metrics as systems × documents, and the metrics with own scores.

    All are over the documents of systems that all metrics have a score of. They are over the
    segments that were judged: means, or the corpus scores of metrics that have some. Where human
    scores of documents were published, they are used, and those of metrics are over all segments.
    """
    names = dict(campaign.test_set.segments.values_list("pk", LEVEL))
    of_segments = [names[pk] for pk in panel.human.segments]
    documents = list(dict.fromkeys(name for name in of_segments if name))
    columns = {name: np.array([each == name for each in of_segments]) for name in documents}
    judged = panel.human.matrix().mask
    if _are_published(panel):
        judged = np.ones_like(judged)

    def means(values: FloatArray) -> FloatArray:
        known = np.where(judged, values, np.nan)
        found = [mean_along(known[:, places], axis=1) for places in columns.values()]
        return np.stack(found, axis=1) if found else np.empty((len(known), 0))

    def corpora(statistics: FloatArray, corpus: Corpus) -> FloatArray:
        known = np.where(judged[:, :, None], statistics, np.nan)
        found = np.full((len(known), len(columns)), np.nan)
        for column, places in enumerate(columns.values()):
            is_scored = np.isfinite(known[:, places]).all(axis=2).any(axis=1)
            sums = np.nansum(known[:, places], axis=1)
            found[is_scored, column] = corpus(sums[is_scored])
        return found

    blank = np.full(len(judged), np.nan)
    ours = means(panel.human.values)
    if _are_published(panel):
        theirs = [panel.human.parts.get((LEVEL, name), blank) for name in documents]
        ours = np.stack(theirs, axis=1)
    found: dict[str, FloatArray] = {}
    own = set()
    for key, measure in panel.measures.items():
        sign = 1.0 if measure.higher_is_better else -1.0
        given = {name: measure.parts.get((LEVEL, name)) for name in documents}
        if any(each is not None for each in given.values()):
            own.add(key)
            rows = [blank if each is None else each for each in given.values()]
            values = np.stack(rows, axis=1)
        elif measure.statistics is not None and measure.corpus is not None:
            values = corpora(measure.statistics, measure.corpus)
        else:
            values = means(measure.values)
        if np.isfinite(values + ours).any():
            found[key] = sign * values
    shared = np.logical_and.reduce([np.isfinite(ours), *map(np.isfinite, found.values())])
    human = ScoreMatrix(np.where(shared, ours, np.nan), panel.human.names, documents)
    return human, {k: human.with_values(v) for k, v in found.items()}, frozenset(own)


def _over(
    human: ScoreMatrix, metrics: Mapping[str, ScoreMatrix], measure: Measure
) -> dict[str, tuple[float, float, float]]:
    """Return each metric's value with the ends of its interval, nan where undefined."""
    if not metrics or not human.mask.any():
        return dict.fromkeys(metrics, (np.nan, np.nan, np.nan))
    found = correlation_intervals(human, metrics, measure)
    numbers = zip(found.values.tolist(), found.lows.tolist(), found.highs.tolist(), strict=True)
    return dict(zip(found.metrics, numbers, strict=True))
