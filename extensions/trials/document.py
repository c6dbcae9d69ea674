"""Estimate the effects of suggestions on time, scores, false acceptance and missed errors."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.urls import path

from annotation.filters import Filters
from annotation.models import Campaign
from annotation.prefill.suggestions import Condition
from dashboards.documents.head import OfCampaign, WithUnits, about, units_of
from dashboards.documents.reasons import Warned, warned
from dashboards.pages.page import Page, view
from extensions.trials.read import Fates, Rated, read_fates, read_rated
from metaeval import StatisticsWarning
from metaeval.arrays import BoolArray, FloatArray
from metaeval.documents import DOCUMENTS
from metaeval.judgments.trial import (
    MeanEffect,
    RateEffect,
    mean_effect,
    mean_power,
    rate_effect,
    rate_half_width,
    rate_power,
    smallest_change,
)
from metaeval.messages import Message, message, plural

# Compute the changes that a trial can detect, with the present and with more data.

# Assumed rates.
ACCEPTED, MISSED = 0.3, 0.3
MOST_RISE = 0.6
REACH_LABELS = {
    "now": message("trial.plan-now", "Present data"),
    "people": message("trial.plan-annotators", "Twice the annotators"),
    "items": message("trial.plan-outputs", "Twice the outputs"),
}


@dataclass(frozen=True)
class Reach:
    """The smallest changes that a number of annotators and items detects with a power of 0.8.

    `time` is a ratio, `accepted` half the width of a rate's interval, `missed` a rise of a rate;
    None where no change is detected, or the trial has no such items.
    """

    plan: str
    n_annotators: int
    n_items: int
    time: float | None
    accepted: float | None
    missed: float | None

    @property
    def label(self) -> Message:
        """The name of the plan."""
        return REACH_LABELS[self.plan]


def reach(rated: Rated) -> list[Reach]:
    """Return the present plan, one with twice the annotators, and one with twice the items each."""
    people = len(np.unique(rated.annotator))
    if people < 2:
        return []
    items = _per_person(rated, rated.among(Condition.BLANK, Condition.PREFILLED)) // 2
    planted = _per_person(rated, rated.among(Condition.PLANTED) & ~np.isnan(rated.accepted))
    known = _per_person(rated, rated.among(Condition.WITHHELD) & ~np.isnan(rated.missed))
    return [
        _reach(plan, people * more_people, *(n * more for n in (items, planted, known)))
        for plan, more_people, more in (("now", 1, 1), ("people", 2, 1), ("items", 1, 2))
    ]


def _per_person(rated: Rated, chosen: BoolArray) -> int:
    own = rated.annotator[chosen]
    return round(len(own) / max(1, len(np.unique(rated.annotator))))


def _reach(plan: str, people: int, items: int, planted: int, known: int) -> Reach:
    time = _smallest(lambda change: mean_power(change, people, items)) if items else None
    rise = (
        _smallest(lambda more: rate_power(MISSED, MISSED + more, people, known), MOST_RISE)
        if known
        else None
    )
    return Reach(
        plan=plan,
        n_annotators=people,
        n_items=items,
        time=None if time is None else float(np.exp(-time)),
        accepted=rate_half_width(ACCEPTED, people, planted) if planted else None,
        missed=rise,
    )


def _smallest(power_of: Callable[[float], float], largest: float = 3.0) -> float | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return smallest_change(power_of, largest=largest)


VERSION = 5
BLANK, PREFILLED = Condition.BLANK, Condition.PREFILLED
PLANTED, WITHHELD = Condition.PLANTED, Condition.WITHHELD
# While a trial runs, results may be viewed at any time, so it is stopped only by intervals that
# repeated looks do not reach by chance (Haybittle 1971; Peto et al. 1976). When it is over, 95%
# intervals decide.
RUNNING, OVER = 0.999, 0.95
# The accepted rate of false errors that annotators take over, above the rate in blank documents.
TOO_MANY = 0.1
NOTHING_SUGGESTED = message(
    "trial.no-suggestions", "This campaign does not suggest errors to annotators."
)
NO_TRIAL = message(
    "trial.no-trial",
    "This campaign has no trial: all annotators saw the suggestions, so their effects cannot be "
    "estimated.",
)
NOT_YET = message("trial.not-yet", "No documents of two conditions have been rated yet.")
NO_GOLD = message(
    "trial.no-gold",
    "No error was planted or withheld, so this trial cannot show whether annotators accept false "
    "suggestions or miss errors that are not suggested.",
)

LABELS = {
    "time": message("trial.time", "Time per segment, prefilled / blank"),
    "time-apart": message(
        "trial.time-apart", "Time per segment, without items right after a planted error"
    ),
    "score": message("trial.score", "Score, prefilled − blank"),
    "accepted": message("trial.accepted", "Rate of planted errors accepted, above blank"),
    "missed": message("trial.missed", "Rate of withheld known errors missed, above blank"),
    "kept-after": message(
        "trial.kept-after", "Rate of items with all real suggestions kept, after a planted error"
    ),
}
VERDICTS = {
    "stop": message("trial.verdict-stop", "Stop prefilling."),
    "no-gain": message("trial.verdict-no-gain", "Prefilling has no benefit."),
    "useful": message("trial.verdict-useful", "Prefilling may continue."),
    "open": message("trial.verdict-open", "There is no conclusion yet."),
}
FALSE_ACCEPTED = message(
    "trial.false-accepted",
    "Annotators accept false suggestions: the interval is above one in ten.",
)
MORE_MISSED = message(
    "trial.more-missed", "Annotators miss more errors where these are not suggested."
)
NO_TIME_SAVED = message("trial.no-time-saved", "Suggestions save no time.")
TIME_SAVED = message(
    "trial.time-saved", "Suggestions save time, and there is no evidence of harm so far."
)
UNDECIDED = message("trial.undecided", "The data so far do not support a conclusion.")
CONDITION_LABELS = {
    Condition.BLANK: message("trial.blank", "Blank"),
    Condition.PREFILLED: message("trial.prefilled", "Prefilled"),
    Condition.PLANTED: message("trial.planted", "Planted error"),
    Condition.WITHHELD: message("trial.withheld", "Withheld error"),
}


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One estimand.

    `name` is time, time-apart (without items after a planted error), score, accepted, missed or
    kept-after; `treated` and `blank` are the compared rates.
    """

    name: str
    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    n_annotators: int
    treated: float | None = None
    blank: float | None = None
    warnings: Sequence[Warned] = ()

    @property
    def label(self) -> Message:
        """The name of the estimand."""
        return LABELS[self.name]


@dataclass(frozen=True, kw_only=True)
class Trial(WithUnits, OfCampaign):
    """The document. `verdict` is stop, no-gain, useful or open, with `reasons`."""

    is_trial: bool = False
    source: str = ""
    label: str = ""
    n: int = 0
    n_annotators: int = 0
    n_doubted: int = 0
    counts: Sequence[tuple[str, int]] = ()
    rows: Sequence[Effect] = ()
    fates: Sequence[Fates] = ()
    reach: Sequence[Reach] = ()
    attitudes: Sequence[int] = ()
    verdict: str = ""
    reasons: Sequence[Message] = ()
    confidence: float = OVER

    @property
    def over(self) -> Message | None:
        """The units: annotators, and documents where several segments share one."""
        if not self.rows:
            return None
        annotators = plural(
            "units.annotators", "{n} annotator", "{n} annotators", n=self.n_annotators
        )
        units = [annotators, self.units] if self.unit == DOCUMENTS else [annotators]
        return message("trial.units-over", "95% intervals and tests are over {units}.", units=units)

    @property
    def verdict_label(self) -> Message:
        """The verdict as a sentence."""
        return VERDICTS[self.verdict]

    @property
    def conditions(self) -> list[tuple[Message, int]]:
        """The number of judgments by condition."""
        return [(CONDITION_LABELS[Condition(name)], n) for name, n in self.counts]

    @property
    def is_running(self) -> bool:
        """Whether annotators can still rate."""
        return self.confidence == RUNNING


DOCUMENT = Trial


def compute(campaign: Campaign, filters: Filters) -> Trial:
    """Return the results so far of a campaign's suggestions."""
    known: dict[str, Any] = about(campaign)
    if not campaign.is_prefilled:
        return Trial(**known, warnings=[NOTHING_SUGGESTED])
    prefill = campaign.prefill
    known |= {
        "source": prefill.source,
        "label": prefill.label,
        "is_trial": prefill.is_trial,
        "fates": read_fates(campaign, filters),
        "attitudes": _attitudes(campaign),
    }
    rated = read_rated(campaign, filters)
    known |= {"n": len(rated), "n_annotators": len(np.unique(rated.annotator))}
    known |= units_of(rated.clusters)
    if not prefill.is_trial:
        return Trial(**known, warnings=[NO_TRIAL])
    known["counts"] = [(str(each), int(rated.among(each).sum())) for each in CONDITIONS]
    if not rated.among(BLANK).any() or not rated.among(PREFILLED, PLANTED, WITHHELD).any():
        return Trial(**known, warnings=[NOT_YET])
    confidence = OVER if campaign.status == Campaign.Status.CLOSED else RUNNING
    effects = list(_effects(rated, OVER))
    verdict, reasons = _verdict(list(_effects(rated, confidence)))
    notes = [] if prefill.planted or prefill.withheld else [NO_GOLD]
    return Trial(
        **known, n_doubted=rated.n_doubted, rows=effects, reach=reach(rated), verdict=verdict,
        reasons=reasons, confidence=confidence, warnings=notes,
    )  # fmt: skip


CONDITIONS = (BLANK, PREFILLED, PLANTED, WITHHELD)


def _attitudes(campaign: Campaign) -> list[int]:
    """Return how many annotators chose each of 1 to 5."""
    people = campaign.annotators.filter(excluded_at=None, attitude__isnull=False)
    given = list(people.values_list("attitude", flat=True))
    return [given.count(each) for each in range(1, 6)] if given else []


def _effects(rated: Rated, confidence: float) -> Iterator[Effect]:
    """Yield the four estimands, and those on items after a planted error."""
    both = rated.among(BLANK, PREFILLED)
    yield _mean("time", rated, both, rated.seconds, confidence, is_ratio=True)
    if rated.after.any():
        apart = both & ~rated.after
        yield _mean("time-apart", rated, apart, rated.seconds, confidence, is_ratio=True)
    yield _mean("score", rated, both, rated.value, confidence)
    for name, values, treated in (
        ("accepted", rated.accepted, PLANTED),
        ("missed", rated.missed, WITHHELD),
    ):
        known = rated.among(BLANK, treated) & ~np.isnan(values)
        if (known & rated.among(treated)).any():
            yield _rate(name, rated, known, values, rated.among(treated), confidence)
    shown = rated.among(PREFILLED, WITHHELD) & ~np.isnan(rated.share_kept)
    if (shown & rated.after).any():
        values = (rated.share_kept >= 1).astype(float)
        yield _rate("kept-after", rated, shown, values, rated.after, confidence)


def _mean(
    name: str,
    rated: Rated,
    chosen: BoolArray,
    values: FloatArray,
    confidence: float,
    *,
    is_ratio: bool = False,
) -> Effect:
    treated = rated.among(PREFILLED)[chosen]
    covariates = np.column_stack([np.log(np.maximum(rated.length, 1)), rated.position])[chosen]
    with _quiet():
        found = mean_effect(
            values[chosen], treated, rated.annotator[chosen].tolist(),
            rated.output[chosen].tolist(), covariates=covariates,
            documents=rated.documents(chosen), is_ratio=is_ratio, confidence=confidence,
        )  # fmt: skip
    return _effect(name, found)


def _rate(
    name: str,
    rated: Rated,
    chosen: BoolArray,
    values: FloatArray,
    treated: BoolArray,
    confidence: float,
) -> Effect:
    with _quiet():
        found = rate_effect(
            values[chosen] > 0, treated[chosen], rated.annotator[chosen].tolist(),
            documents=rated.documents(chosen), confidence=confidence,
        )  # fmt: skip
    effect = _effect(name, found, treated=_plain(found.treated), blank=_plain(found.blank))
    if effect.low is None or effect.high is None:
        return effect
    # No difference of rates is beyond 1.
    return replace(effect, low=max(-1.0, effect.low), high=min(1.0, effect.high))


def _effect(name: str, found: MeanEffect | RateEffect, **rates: float | None) -> Effect:
    low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
    return Effect(
        name=name, estimate=_plain(found.statistic), low=low, high=high, p=found.pvalue, n=found.n,
        n_annotators=found.n_annotators, warnings=warned(found.warnings), **rates,
    )  # fmt: skip


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress warnings, which the results have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        yield


def _plain(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def _verdict(effects: Sequence[Effect]) -> tuple[str, list[Message]]:
    """Return the verdict that the intervals support, with reasons."""
    by_name = {effect.name: effect for effect in effects}
    harms = []
    accepted, missed, time = (by_name.get(name) for name in ("accepted", "missed", "time"))
    if accepted and accepted.low is not None and accepted.low > TOO_MANY:
        harms.append(FALSE_ACCEPTED)
    if missed and missed.low is not None and missed.low > 0:
        harms.append(MORE_MISSED)
    if harms:
        return "stop", harms
    if time and time.low is not None and time.low >= 1:
        return "no-gain", [NO_TIME_SAVED]
    if time and time.high is not None and time.high < 1:
        return "useful", [TIME_SAVED]
    return "open", [UNDECIDED]


# Show the fates of suggestions, their effects with intervals, and a verdict.

TRIAL: Page[Trial] = Page(
    name="trial",
    title=message("page.trial", "Suggestions and trial"),
    kind="trial",
    template="trials/page.html",
    columns=("name", "estimate", "low", "high", "p", "n", "n_annotators", "treated", "blank"),
    has_scores=False,
)


urlpatterns = [
    path("campaigns/<slug:slug>/trial/", view(TRIAL), name="trial"),
    path("campaigns/<slug:slug>/trial.<str:fmt>", view(TRIAL), name="trial-data"),
]
