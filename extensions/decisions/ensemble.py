"""Show what an ensemble of metrics gains on documents that did not choose its weights."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from django.http import HttpRequest
from django.http.request import QueryDict

from annotation.models import Campaign
from core.numbers import bare
from dashboards.comparisons.document import OfMetrics, asked_head, measured
from dashboards.comparisons.selection import EVERY, leading_keys
from dashboards.pages.page import Page
from dashboards.panel.choice import Choice
from dashboards.panel.panel import compared_on, read_panel
from dashboards.papers import latex
from dashboards.trust.marks import forbidden
from extensions.decisions.chosen import DEFAULT, OFFERED, ask
from metaeval.messages import DataError, Message, message
from metaeval.replication.questions import Question, Scored, parse, values_of
from metaeval.replication.questions.comparison import answerable, notes_of
from metaeval.results import StatisticsWarning
from metaeval.sensitivity.ensembles import BEST, ENSEMBLE
from metaeval.sensitivity.ensembles import ensemble as fit_ensemble

VERSION = 2
GAIN = "gain"
LABELS = {
    ENSEMBLE: message("ensemble.ensemble", "Ensemble"),
    BEST: message("ensemble.best", "Best single metric"),
    GAIN: message("ensemble.gain", "Gain"),
}
FEW = message("ensemble.few", "An ensemble needs at least two metrics. Choose more of them.")
Number = float | None


@dataclass(frozen=True)
class Row:
    """The ensemble, the best single metric, or the gain: held out with its interval, and in sample.

    `in_sample` is on the documents that chose weights and metric, so it is too good.
    """

    name: str
    held_out: Number
    low: Number
    high: Number
    in_sample: Number

    @property
    def label(self) -> Message:
        """The name on pages."""
        return LABELS[self.name]


@dataclass(frozen=True)
class Line:
    """A row of the data: a `Row`, or the mean weight of a metric."""

    name: str
    held_out: Number = None
    low: Number = None
    high: Number = None
    in_sample: Number = None
    weight: Number = None
    n_best: int | None = None


@dataclass(frozen=True)
class Weight:
    """The weight of a standardized metric: the mean over folds, and that of each fold.

    `n_best` is the number of folds on whose other folds it was the best single metric.
    """

    metric: str
    label: str
    mean: Number
    by_fold: Sequence[Number]
    n_best: int


@dataclass(frozen=True, kw_only=True)
class Ensemble(OfMetrics):
    """The document; `refused` is the reason why there is no ensemble."""

    rows: Sequence[Row] = ()
    weights: Sequence[Weight] = ()
    n_folds: int = 0
    refused: Message | None = None


DOCUMENT = Ensemble


@dataclass(frozen=True)
class EnsembleChoice(Choice):
    """Filters, and the metrics to combine: keys separated by spaces, by default one per family."""

    metric: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """Read an address's query, which may name several metrics. Raises FilterError."""
        keys = (
            query.getlist("metric") if isinstance(query, QueryDict) else [query.get("metric", "")]
        )
        return replace(super().from_query(query), metric=" ".join(sorted({*keys} - {""})))


FILTERS = EnsembleChoice


def compute(campaign: Campaign, filters: EnsembleChoice, question: str = DEFAULT) -> Ensemble:
    """Fit the ensemble of the chosen metrics."""
    asked, panel = parse(question), read_panel(campaign, filters)
    keys = filters.metric.split() or leading_keys(panel.measures, is_over_segments=True)
    chosen = panel.only(key for key in panel.measures if key in keys or EVERY in keys)
    part, notes = answerable(chosen.scored, asked)
    values, more = values_of(chosen.scored, asked)
    fitted, problems = _fitted(part, asked)
    unknown = np.full(len(panel.measures), np.nan)
    return Ensemble(
        **asked_head(campaign, chosen, asked),
        **fitted,
        n_systems=part.n_systems,
        n_segments=part.n_segments,
        metrics=measured(chosen, asked, values),
        all_metrics=measured(panel, asked, unknown),
        warnings=list(
            dict.fromkeys([*panel.human.warnings, *compared_on(chosen), *notes, *more, *problems])
        ),
    )


def _fitted(part: Scored, asked: Question) -> tuple[dict[str, Any], Sequence[Message]]:
    """Return the fields of an ensemble of all metrics, and warnings on its intervals."""
    if not part.n:
        return {}, ()
    if len(part.metrics) < 2:
        return {"refused": FEW}, ()
    human, metrics = part.matrices()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StatisticsWarning)
            found = fit_ensemble(human, metrics, asked.measure)
    except DataError as error:
        return {"refused": error.message}, ()
    gain, interval = found.gain
    held_out = found.held_out
    columns = [each.tolist() for each in (held_out.values, held_out.lows, held_out.highs)]
    in_sample = (found.in_sample, found.best_in_sample)
    return {
        "rows": [
            *(
                Row(name, value, low, high, too_good)
                for name, value, low, high, too_good in zip(
                    (ENSEMBLE, BEST), *columns, in_sample, strict=True
                )
            ),
            Row(GAIN, gain, interval.low, interval.high, in_sample[0] - in_sample[1]),
        ],
        "weights": [
            Weight(key, label, float(own.mean()), own.tolist(), found.best.count(label))
            for key, label, own in zip(part.metrics, found.metrics, found.weights.T, strict=True)
        ],
        "n_folds": len(found.weights),
    }, [*notes_of((*found.warnings, *held_out.warnings))]  # fmt: skip


def choose(document: Ensemble, query: QueryDict) -> Ensemble:
    """Sort the metrics by their weights."""
    weights = sorted(document.weights, key=lambda each: -(each.mean or 0.0))
    return replace(document, weights=weights)


def context(request: HttpRequest, campaign: Campaign, document: Ensemble) -> dict[str, Any]:
    """Return the sentence that answers, or none where the verdict forbids conclusions."""
    if not document.rows or forbidden(document.trust):
        return {"answer": None}
    return {"answer": _answer(document.rows[-1])}


def _answer(gain: Row) -> Message | None:
    if gain.held_out is None:
        return None
    if gain.low is None or gain.high is None:
        return message(
            "ensemble.no-interval",
            "On held-out documents the ensemble differs from the best single metric by "
            "{value}. "
            "There is no interval, so this may be chance.",
            value=bare(gain.held_out, 3),
        )
    if gain.low > 0.0:
        return message(
            "ensemble.gains",
            "On held-out documents the ensemble agrees better with humans than the best single "
            "metric.",
        )
    if gain.high < 0.0:
        return message(
            "ensemble.loses",
            "On held-out documents the ensemble agrees worse with humans than the best single "
            "metric.",
        )
    return message(
        "ensemble.alike",
        "On held-out documents the ensemble cannot be distinguished from the best single metric.",
    )


def lines(document: Ensemble) -> list[Line]:
    """Return the rows of the data: ensemble, best single metric, gain, then the weights."""
    return [
        *(Line(**vars(row)) for row in document.rows),
        *(Line(each.metric, weight=each.mean, n_best=each.n_best) for each in document.weights),
    ]


def tables(document: Ensemble) -> list[latex.Table]:
    """Return held-out agreement as a table, and the weights as another."""
    agreement = latex.Table(
        [
            message(
                "ensemble.caption",
                "{statistic} of an ensemble on documents that did not choose its weights, of the "
                "best single metric, chosen in the same way, and the gain, with 95% intervals "
                "({name}). In sample: on the documents that chose both, which is too good.",
                statistic=document.statistic_label,
                name=document.name,
            )
        ],
        f"{document.campaign}-ensemble",
        "lrr",
        [latex.texts("", "Held out", "In sample")],
        [
            [
                *latex.texts(row.label.text),
                latex.estimate(row.held_out, row.low, row.high),
                latex.number(row.in_sample),
            ]
            for row in document.rows
        ],
    )
    weights = latex.Table(
        [
            message(
                "ensemble.weights-caption",
                "Weights of the standardized metrics: mean over {n} folds, and the number of folds "
                "in which each was the best single metric ({name}).",
                n=document.n_folds,
                name=document.name,
            )
        ],
        f"{document.campaign}-ensemble-weights",
        "lrr",
        [latex.texts("Metric", "Weight", "Best in")],
        [
            [*latex.texts(each.label), latex.number(each.mean), *latex.texts(each.n_best)]
            for each in document.weights
        ],
    )
    return [agreement, weights]


ENSEMBLE_PAGE = Page(
    name="ensemble",
    title=message("page.ensemble", "Ensemble"),
    kind="ensemble",
    template="decisions/ensemble.html",
    columns=("name", "held_out", "low", "high", "in_sample", "weight", "n_best"),
    rows=lines,
    context=context,
    ask=ask,
    choose=choose,
    tables=tables,
    statistics=OFFERED,
    statistic=DEFAULT,
    takes=("statistic",),
    repeated=("metric",),
)
