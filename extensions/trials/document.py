"""What suggestions change: time, scores, false acceptance, missed errors; and when to stop."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign
from annotation.prefill.suggestions import Condition
from core.text import pluralize
from dashboards.documents.counted import Warned, warned
from dashboards.documents.head import OfCampaign, WithUnits, about, units_of
from extensions.trials.reach import Reach, reach
from extensions.trials.read import Fates, Rated, read_fates, read_rated
from metaeval import StatisticsWarning
from metaeval.arrays import BoolArray, FloatArray
from metaeval.documents import DOCUMENTS
from metaeval.judgments.trial import MeanEffect, RateEffect, mean_effect, rate_effect

VERSION = 4
BLANK, PREFILLED = Condition.BLANK, Condition.PREFILLED
PLANTED, WITHHELD = Condition.PLANTED, Condition.WITHHELD
# While a trial runs anybody may look at any time: it is stopped by what no number of looks brings
# about by chance (Haybittle 1971; Peto et al. 1976), and judged by 95 % intervals when it is over.
RUNNING, OVER = 0.999, 0.95
# False errors that people take over, above what they mark there unprompted: so many are too many.
TOO_MANY = 0.1
NOTHING_SUGGESTED = "Nothing is suggested in this campaign."
NO_TRIAL = (
    "No trial is built in: everybody saw the suggestions, so what they change cannot be known."
)
NOT_YET = "Nobody has rated documents of two conditions yet."
NO_GOLD = (
    "No error is planted or withheld: whether people take over false suggestions, and what they "
    "miss, cannot be known."
)

LABELS = {
    "time": "Time a segment, prefilled / blank",
    "time-apart": "Time, without items right after a planted error",
    "score": "Score, prefilled − blank",
    "accepted": "Planted errors taken over, above blank",
    "missed": "Known errors missed where withheld, above blank",
    "kept-after": "All real suggestions kept, right after a planted error",
}
VERDICTS = {
    "stop": "Stop prefilling.",
    "no-gain": "Prefilling is not worth it.",
    "useful": "Prefilling may go on.",
    "open": "Nothing can be said yet.",
}


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One estimand. `name` is time, time-apart (without what follows a planted error), score,
    accepted, missed or kept-after; of rates, `treated` and `blank` are those compared."""

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
    def label(self) -> str:
        """The estimand in words."""
        return LABELS[self.name]


@dataclass(frozen=True, kw_only=True)
class Trial(WithUnits, OfCampaign):
    """The document. `verdict` is stop, no-gain, useful or open; `reasons` are sentences."""

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
    reasons: Sequence[str] = ()
    confidence: float = OVER

    @property
    def over(self) -> str:
        """The sentence that names the units: annotators, and documents where segments share any."""
        if not self.rows:
            return ""
        people = pluralize(self.n_annotators, "annotator")
        if self.unit == DOCUMENTS:
            return f"95% intervals and tests are over {people} and {self.units}."
        return f"95% intervals and tests are over {people}."

    @property
    def verdict_words(self) -> str:
        """The verdict in a sentence."""
        return VERDICTS[self.verdict]

    @property
    def is_running(self) -> bool:
        """Whether people may still rate, and readers look again."""
        return self.confidence == RUNNING


DOCUMENT = Trial


def compute(campaign: Campaign, filters: Filters) -> Trial:
    """Return what is known so far of a campaign's suggestions."""
    said: dict[str, Any] = about(campaign)
    if not campaign.is_prefilled:
        return Trial(**said, warnings=[NOTHING_SUGGESTED])
    prefill = campaign.prefill
    said |= {
        "source": prefill.source,
        "label": prefill.label,
        "is_trial": prefill.is_trial,
        "fates": read_fates(campaign, filters),
        "attitudes": _attitudes(campaign),
    }
    rated = read_rated(campaign, filters)
    said |= {"n": len(rated), "n_annotators": len(np.unique(rated.annotator))}
    said |= units_of(rated.clusters)
    if not prefill.is_trial:
        return Trial(**said, warnings=[NO_TRIAL])
    said["counts"] = [(str(each), int(rated.among(each).sum())) for each in CONDITIONS]
    if not rated.among(BLANK).any() or not rated.among(PREFILLED, PLANTED, WITHHELD).any():
        return Trial(**said, warnings=[NOT_YET])
    confidence = OVER if campaign.status == Campaign.Status.CLOSED else RUNNING
    effects = list(_effects(rated, OVER))
    verdict, reasons = _verdict(list(_effects(rated, confidence)))
    notes = [] if prefill.planted or prefill.withheld else [NO_GOLD]
    return Trial(
        **said, n_doubted=rated.n_doubted, rows=effects, reach=reach(rated), verdict=verdict,
        reasons=reasons, confidence=confidence, warnings=notes,
    )  # fmt: skip


CONDITIONS = (BLANK, PREFILLED, PLANTED, WITHHELD)


def _attitudes(campaign: Campaign) -> list[int]:
    """How many people chose each of 1 to 5."""
    people = campaign.annotators.filter(excluded_at=None, attitude__isnull=False)
    given = list(people.values_list("attitude", flat=True))
    return [given.count(each) for each in range(1, 6)] if given else []


def _effects(rated: Rated, confidence: float) -> Iterator[Effect]:
    """The four estimands, and what follows a planted error apart."""
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
    shown = rated.among(PREFILLED, WITHHELD) & ~np.isnan(rated.kept)
    if (shown & rated.after).any():
        values = (rated.kept >= 1).astype(float)
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
    """Warnings stand in the results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        yield


def _plain(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def _verdict(effects: Sequence[Effect]) -> tuple[str, list[str]]:
    """What the intervals say of going on; open where they say nothing."""
    by_name = {effect.name: effect for effect in effects}
    harms = []
    accepted, missed, time = (by_name.get(name) for name in ("accepted", "missed", "time"))
    if accepted and accepted.low is not None and accepted.low > TOO_MANY:
        harms.append("People take over false suggestions: surely more than one in ten.")
    if missed and missed.low is not None and missed.low > 0:
        harms.append("People miss more errors where these are not suggested.")
    if harms:
        return "stop", harms
    if time and time.low is not None and time.low >= 1:
        return "no-gain", ["Suggestions save no time."]
    if time and time.high is not None and time.high < 1:
        return "useful", ["Suggestions save time, and no harm is shown so far."]
    return "open", ["What there is so far decides nothing."]
