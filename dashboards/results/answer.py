"""The sentence that answers: which metric agrees best with the humans, and how sure that is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.text import pluralize

ALPHA = 0.05
# No line breaks within a number with its interval.
FIXED = "\N{NO-BREAK SPACE}"
UNDEFINED = "No metric can be compared with the humans: {symbol} is undefined for all of them."
WHOLE = "The humans scored systems as wholes: metrics can be compared over systems."
UNUSABLE = "The ratings give no human score here, so no metric can be compared."
# So many names are told, the others counted.
NAMES = 3
SYMBOLS = {
    "tau-b": "τ",
    "tau-c": "τ-c",
    "pearson": "r",
    "spearman": "ρ",
    "acc-eq": "accuracy",
    "limit": "r",
    "systems": "r",
    "cells": "r",
    "hybrids": "r",
    "spa": "soft pairwise accuracy",
    "pa": "pairwise accuracy",
}


class Labelled(Protocol):
    """What has a name."""

    @property
    def key(self) -> str: ...
    @property
    def label(self) -> str: ...


@dataclass(frozen=True)
class Scored:
    """A metric with its value and interval; None where they are undefined or not known yet.

    One that has scores of `has_few` outputs has no value beside the others, which have more.
    """

    key: str
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    has_few: bool = False


@dataclass(frozen=True)
class Asked:
    """What the sentence is about.

    `metrics` are in any order. `better` holds, for every metric but the leader, p of the leader
    being better, corrected as the reader chose; None where there is no test. `is_tested` tells
    whether intervals and tests are there, and `failed` says why they will not be. `refused` says
    why nothing may be ranked although they are, `no_interval` why the leader has none, `undefined`
    why no metric has a value, `distrust` why these judgments bear nothing out, `unusable` why those
    that are there give no score. `chance` is what a metric reaches that knows nothing. `n_judged`
    counts what is `judged`, and `is_elsewhere` where that has no answer to a question of segments.
    """

    statistic: str
    metrics: Sequence[Scored]
    n_judged: int
    is_tested: bool = True
    failed: str = ""
    better: Mapping[str, float | None] = field(default_factory=dict)
    correction: str = ""
    chance: float = 0.0
    refused: str = ""
    no_interval: str = ""
    undefined: str = ""
    distrust: str = ""
    unusable: str = ""
    judged: str = "output"
    is_elsewhere: bool = False


@dataclass(frozen=True)
class Part:
    """A piece of the sentence; with a `key` it is the name of a metric."""

    text: str
    key: str = ""


@dataclass(frozen=True)
class Answer:
    """The answer: `case` names which of all it is, `detail` is the second sentence."""

    case: str
    parts: Sequence[Part]
    detail: str = ""

    @property
    def text(self) -> str:
        """The sentence as plain text."""
        return "".join(part.text for part in self.parts)


def leader(metrics: Sequence[Scored]) -> Scored | None:
    """Return the metric with the largest value, the first of equal ones; None without a value."""
    known = [metric for metric in metrics if metric.value is not None]
    return max(known, key=_value, default=None)


def answer(asked: Asked) -> Answer:
    """Say which metric agrees best, and how sure that is."""
    first = leader(asked.metrics)
    if not asked.n_judged and asked.unusable:
        return _plain("unusable", UNUSABLE, asked.unusable)
    if not asked.n_judged:
        return _plain("unjudged", "Nobody has judged an output yet, so no metric can be compared.")
    if not asked.metrics:
        judged = pluralize(asked.n_judged, asked.judged)
        said = f"The humans have judged {judged}, and no metric has scored them yet."
        return _plain("unscored", said)
    if asked.distrust:
        said = "These judgments cannot tell which metric is good."
        return _plain("distrusted", said, asked.distrust)
    if first is None:
        return _plain("whole", WHOLE) if asked.is_elsewhere else _undefined_for_all(asked)
    return _of(asked, first)


def _of(asked: Asked, first: Scored) -> Answer:
    """The answer where one metric has the largest value."""
    if asked.failed:
        return _untested(asked, first, "failed", asked.failed)
    if not asked.is_tested:
        return _untested(asked, first, "pending", "How sure that is, is being computed.")
    if asked.refused:
        return _untested(asked, first, "refused", asked.refused)
    if first.low is None or first.high is None:
        unsure = f"Nothing is ranked, because there is no interval: {asked.no_interval}."
        return _untested(asked, first, "uncertain", unsure)
    if first.low <= asked.chance:
        return _at_chance(asked, first, "chance", _undefined(asked))
    return _alone(asked, first) if len(asked.metrics) == 1 else _compared(asked, first)


def _undefined_for_all(asked: Asked) -> Answer:
    """The answer where no metric has a value, with what is known of the cause."""
    few = [metric for metric in asked.metrics if metric.has_few]
    symbol = SYMBOLS.get(asked.statistic, asked.statistic)
    cause = _undefined(asked) if len(few) == len(asked.metrics) else asked.undefined
    return _plain("constant", UNDEFINED.format(symbol=symbol), cause)


def _plain(case: str, sentence: str, detail: str = "") -> Answer:
    return Answer(case, [Part(sentence)], detail)


def _value(metric: Scored) -> float:
    return -math.inf if metric.value is None else metric.value


def number(value: float) -> str:
    """A correlation as the field prints it: `.64`, `−.07`, `1.00`."""
    text = f"{value:.2f}"
    bare = text.lstrip("-").removeprefix("0")
    return f"−{bare}" if text.startswith("-") and bare != ".00" else bare


def estimate(metric: Scored, statistic: str) -> str:
    """The value with its symbol and interval: `τ .64 [.59, .69]`."""
    value = f"{SYMBOLS.get(statistic, statistic)}{FIXED}{number(_value(metric))}"
    if metric.low is None or metric.high is None:
        return value
    return f"{value}{FIXED}[{number(metric.low)},{FIXED}{number(metric.high)}]"


def _tied(asked: Asked, first: Scored) -> list[Scored]:
    """All metrics with the leader's value, itself first."""
    others = [m for m in asked.metrics if m is not first and m.value == first.value]
    return [first, *others]


def _untested(asked: Asked, first: Scored, case: str, detail: str) -> Answer:
    bare = Scored(first.key, first.label, first.value)
    leads = _tied(asked, first)
    verb = "has" if len(leads) == 1 else "have"
    said = f" {verb} the highest agreement with the humans, {estimate(bare, asked.statistic)}."
    return Answer(case, [*name_parts(leads), Part(said)], detail)


def _at_chance(asked: Asked, first: Scored, case: str, detail: str) -> Answer:
    ahead = _ahead(asked, _tied(asked, first))
    return Answer(case, [Part("No metric can be told from chance: "), *ahead], detail)


def _ahead(asked: Asked, tied: Sequence[Scored]) -> list[Part]:
    value = estimate(tied[0], asked.statistic)
    said = f" comes first with {value}." if len(tied) == 1 else f" come first with {value}."
    return [*name_parts(tied), Part(said)]


def _alone(asked: Asked, first: Scored) -> Answer:
    said = f" agrees with the humans, {estimate(first, asked.statistic)}."
    detail = "It is the only metric here, so it is compared with none."
    return Answer("alone", [Part(first.label, first.key), Part(said)], detail)


def _compared(asked: Asked, first: Scored) -> Answer:
    """The answer in full: the best, those that are not distinguishable, those that are worse."""
    tied = _tied(asked, first)
    others = [m for m in asked.metrics if m not in tied and m.value is not None]
    others.sort(key=_value, reverse=True)
    worse = [m for m in others if _p(asked, m) <= ALPHA]
    alike = [m for m in others if m not in worse]
    if not worse:
        return _indistinct(asked, tied)
    verb = "agrees" if len(tied) == 1 else "agree"
    said = [*name_parts(tied), Part(f" {verb} best with the humans, ")]
    said.append(Part(estimate(first, asked.statistic)))
    if len(alike) > NAMES:
        said.append(Part(f"; not distinguishable from {len(alike)} others"))
    elif alike:
        said += [Part("; not distinguishable from "), *name_parts(alike)]
    detail = [_worse(asked, worse, is_rest=len(worse) > NAMES), _undefined(asked)]
    case = "clear" if not alike and len(tied) == 1 else "group"
    return Answer(case, [*said, Part(".")], " ".join(filter(None, detail)))


def _indistinct(asked: Asked, tied: Sequence[Scored]) -> Answer:
    said = [Part("No metric can be told from another: "), *_ahead(asked, tied)]
    p = f"p ≤ {number(ALPHA)}"
    detail = f"No difference from it has {p}{_corrected(asked)}."
    return Answer("indistinct", said, " ".join(filter(None, [detail, _undefined(asked)])))


def _p(asked: Asked, metric: Scored) -> float:
    p = asked.better.get(metric.key)
    return math.inf if p is None else p


def name_parts(metrics: Sequence[Labelled]) -> list[Part]:
    """Names with commas; many are counted."""
    shown = metrics if len(metrics) <= NAMES + 1 else metrics[:NAMES]
    more = len(metrics) - len(shown)
    pieces = [Part(metric.label, metric.key) for metric in shown]
    pieces += [Part(f"{more} others")] if more else []
    joined = [pieces[0]]
    for place, piece in enumerate(pieces[1:], 1):
        joined += [Part(" and " if place == len(pieces) - 1 else ", "), piece]
    return joined


def listed(metrics: Sequence[Labelled]) -> str:
    """The same as plain text."""
    return "".join(part.text for part in name_parts(metrics))


def _worse(asked: Asked, worse: Sequence[Scored], *, is_rest: bool) -> str:
    p, corrected = bound(max(_p(asked, metric) for metric in worse)), _corrected(asked)
    if is_rest:
        return f"The other {len(worse)} are worse, {p}{corrected}."
    names = listed(worse)
    if len(worse) == 1:
        return f"{names} is worse, {p}{corrected}."
    return f"{names} are worse, {p}{corrected}."


def _corrected(asked: Asked) -> str:
    is_bare = asked.correction in ("", "none")
    return " without correction" if is_bare else f" after {asked.correction}’s correction"


def bound(p: float) -> str:
    """What a p is at most: `p < .001`, `p ≤ .013`, `p ≤ .05`."""
    if p < 0.001:
        return "p < .001"
    places = 3 if p < 0.0095 else 2
    rounded = math.ceil(round(p * 10**places, 9)) / 10**places
    return f"p ≤ {rounded:.{places}f}".replace("0.", ".", 1)


def _undefined(asked: Asked) -> str:
    """Who has no value: a metric that gives one score to everything, or scored too little."""
    nameless = [metric for metric in asked.metrics if metric.value is None]
    constant = [metric for metric in nameless if not metric.has_few]
    few = [metric for metric in nameless if metric.has_few]
    symbol = SYMBOLS.get(asked.statistic, asked.statistic)
    told = [_constant(constant, symbol)] if constant else []
    if few:
        names = listed(few)
        told.append(f"Too few outputs have scores of {names} to compare with the others.")
    return " ".join(told)


def _constant(metrics: Sequence[Scored], symbol: str) -> str:
    names = listed(metrics)
    if len(metrics) == 1:
        return f"{names} has no {symbol}: it is undefined."
    return f"{names} have no {symbol}: it is undefined."
