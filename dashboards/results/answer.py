"""Answer which metric agrees best with the humans, and how certain that is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.numbers import coefficient
from dashboards.panel.human import PARTS_ONLY
from metaeval.messages import Message, message, plural, truncated

ALPHA = 0.05
# The most names in a list; the others are counted.
NAMES = 3
SYMBOLS: dict[str, Message | str] = {
    "tau-b": "τ",
    "tau-c": "τ-c",
    "pearson": "r",
    "spearman": "ρ",
    "acc-eq": message("symbol.accuracy", "accuracy"),
    "darr": "τ",
    "pdp": "r",
    "limit": "r",
    "systems": "r",
    "cells": "r",
    "hybrids": "r",
    "spa": message("symbol.soft-pairwise-accuracy", "soft pairwise accuracy"),
    "pa": message("symbol.pairwise-accuracy", "pairwise accuracy"),
}
UNUSABLE = message(
    "answer.unusable", "There are no human scores of outputs, so metrics cannot be compared here."
)
UNJUDGED = message(
    "answer.unjudged", "Nobody has judged an output yet, so metrics cannot be compared."
)
WHOLE = message(
    "answer.whole",
    "The humans scored whole systems only, so metrics can be compared over systems.",
)
DISTRUSTED = message(
    "answer.distrusted", "These judgments cannot show which metric agrees with the humans."
)
PENDING = message("answer.pending", "Intervals and tests are being computed.")
UNCOMPARED = message("answer.uncompared", "It is the only metric here, so there is no comparison.")


class Labelled(Protocol):
    """An object with a name."""

    @property
    def key(self) -> str: ...
    @property
    def label(self) -> str: ...


@dataclass(frozen=True)
class Scored:
    """A metric with its value and interval; None where they are undefined or not known yet.

    `has_few`: it has no value, because it scored fewer outputs than the other metrics.
    """

    key: str
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    has_few: bool = False


@dataclass(frozen=True)
class Asked:
    """Everything that the answer depends on.

    Attributes
    ----------
    metrics
        The metrics, in any order.
    n_judged, are_whole
        The number of judged outputs, or of judged systems where scores are of whole systems.
    is_tested, failed
        Whether there are intervals and tests, and errors where they could not be computed.
    better, correction
        For every metric but the leader, the corrected p of the leader being better (None without a
        test), and the name of the correction, as `dashboards.trust.marks.corrected` returns it.
    chance
        The value of a baseline.
    refused, no_interval
        Why nothing may be ranked, and why the leader has no interval.
    undefined
        Why no metric has a value.
    distrust, unusable
        Why these judgments support no conclusion, and why they give no score.
    is_elsewhere
        Whether scores of whole systems cannot answer, because the question is on segments.
    """

    statistic: str
    metrics: Sequence[Scored]
    n_judged: int
    is_tested: bool = True
    failed: Sequence[Message] = ()
    better: Mapping[str, float | None] = field(default_factory=dict)
    correction: Message | None = None
    chance: float = 0.0
    refused: Message | None = None
    no_interval: Message | None = None
    undefined: Sequence[Message] = ()
    distrust: Message | None = None
    unusable: Message | None = None
    are_whole: bool = False
    is_elsewhere: bool = False

    @property
    def symbol(self) -> Message | str:
        """The symbol of the statistic, or its name where it has none."""
        return SYMBOLS.get(self.statistic, self.statistic)


@dataclass(frozen=True)
class Answer:
    """The answer: `case` identifies its form, `details` are further sentences.

    `keys` are the keys of the metrics that the sentence names, by label.
    """

    case: str
    sentence: Message
    details: Sequence[Message] = ()
    keys: Mapping[str, str] = field(default_factory=dict)


def leader(metrics: Sequence[Scored]) -> Scored | None:
    """Return the metric with the largest value, the first of equal ones; None without a value."""
    known = [metric for metric in metrics if metric.value is not None]
    return max(known, key=_value, default=None)


def answer(asked: Asked) -> Answer:
    """Return which metric agrees best, and how certain that is."""
    first = leader(asked.metrics)
    if not asked.n_judged and asked.unusable:
        case = "parts" if asked.unusable.code == PARTS_ONLY.code else "unusable"
        return Answer(case, UNUSABLE, [asked.unusable])
    if not asked.n_judged:
        return Answer("unjudged", UNJUDGED)
    if not asked.metrics:
        return Answer("unscored", _unscored(asked))
    if asked.distrust:
        return Answer("distrusted", DISTRUSTED, [asked.distrust])
    if first is None:
        return Answer("whole", WHOLE) if asked.is_elsewhere else _undefined_for_all(asked)
    return _of(asked, first)


def _unscored(asked: Asked) -> Message:
    if asked.are_whole:
        return plural(
            "answer.unscored-systems",
            "The humans have judged {n} system, and no metric has scored it yet.",
            "The humans have judged {n} systems, and no metric has scored them yet.",
            n=asked.n_judged,
        )
    return plural(
        "answer.unscored",
        "The humans have judged {n} output, and no metric has scored it yet.",
        "The humans have judged {n} outputs, and no metric has scored them yet.",
        n=asked.n_judged,
    )


def _of(asked: Asked, first: Scored) -> Answer:
    """The answer where one metric has the largest value."""
    if asked.failed:
        return _untested(asked, first, "failed", asked.failed)
    if not asked.is_tested:
        return _untested(asked, first, "pending", [PENDING])
    if asked.refused:
        return _untested(asked, first, "refused", [asked.refused])
    if first.low is None or first.high is None:
        cause = message(
            "answer.no-interval",
            "Nothing is ranked, because there is no interval: {cause}.",
            cause=asked.no_interval,
        )
        return _untested(asked, first, "uncertain", [cause])
    if first.low <= asked.chance:
        return _at_chance(asked, first)
    return _alone(asked, first) if len(asked.metrics) == 1 else _compared(asked, first)


def _undefined_for_all(asked: Asked) -> Answer:
    """The answer where no metric has a value, with the known causes."""
    few = [metric for metric in asked.metrics if metric.has_few]
    sentence = message(
        "answer.undefined",
        "No metric can be compared with the humans: {symbol} is undefined for all of them.",
        symbol=asked.symbol,
    )
    causes = _undefined(asked) if len(few) == len(asked.metrics) else asked.undefined
    return Answer("constant", sentence, causes)


def _value(metric: Scored) -> float:
    return -math.inf if metric.value is None else metric.value


# The name by which others import it.
number = coefficient


def estimate(metric: Scored, symbol: Message | str) -> Message:
    """Return the value with its symbol and interval, without line breaks: `τ .64 [.59, .69]`."""
    value = _value(metric)
    if metric.low is None or metric.high is None:
        return message(
            "answer.value", "{symbol}\N{NO-BREAK SPACE}{value:r}", symbol=symbol, value=value
        )
    return message(
        "answer.estimate",
        "{symbol}\N{NO-BREAK SPACE}{value:r}\N{NO-BREAK SPACE}[{low:r},\N{NO-BREAK SPACE}{high:r}]",
        symbol=symbol,
        value=value,
        low=metric.low,
        high=metric.high,
    )


def _tied(asked: Asked, first: Scored) -> list[Scored]:
    """All metrics with the leader's value, itself first."""
    others = [m for m in asked.metrics if m is not first and m.value == first.value]
    return [first, *others]


def _untested(asked: Asked, first: Scored, case: str, details: Sequence[Message]) -> Answer:
    """The answer without a test: a comparison only where two metrics can be compared."""
    leads, shown = _tied(asked, first), Scored(first.key, first.label, first.value)
    if _value(first) <= asked.chance:
        sentence = _chance(asked, shown)
    elif sum(metric.value is not None for metric in asked.metrics) == 1:
        sentence = _agrees(asked, shown)
    else:
        sentence = plural(
            "answer.highest",
            "{metrics} has the highest agreement with the humans, {estimate}.",
            "{metrics} have the highest agreement with the humans, {estimate}.",
            n=len(leads),
            metrics=names(leads),
            estimate=estimate(shown, asked.symbol),
        )
    return Answer(case, sentence, details, keys(leads))


def _chance(asked: Asked, first: Scored) -> Message:
    leads = _tied(asked, first)
    return plural(
        "answer.chance",
        "No metric is shown to agree with the humans better than chance. {metrics} comes first "
        "with {estimate}.",
        "No metric is shown to agree with the humans better than chance. {metrics} come first "
        "with {estimate}.",
        n=len(leads),
        metrics=names(leads),
        estimate=estimate(first, asked.symbol),
    )


def _at_chance(asked: Asked, first: Scored) -> Answer:
    return Answer("chance", _chance(asked, first), _undefined(asked), keys(_tied(asked, first)))


def _agrees(asked: Asked, first: Scored) -> Message:
    return message(
        "answer.alone",
        "{metric} agrees with the humans, {estimate}.",
        metric=first.label,
        estimate=estimate(first, asked.symbol),
    )


def _alone(asked: Asked, first: Scored) -> Answer:
    return Answer("alone", _agrees(asked, first), [UNCOMPARED], keys([first]))


def _compared(asked: Asked, first: Scored) -> Answer:
    """The answer in full: the best, those that cannot be distinguished, those that are worse."""
    leads = _tied(asked, first)
    others = [m for m in asked.metrics if m not in leads and m.value is not None]
    others.sort(key=_value, reverse=True)
    worse = [m for m in others if _p(asked, m) <= ALPHA]
    alike = [m for m in others if m not in worse]
    if not worse:
        return _indistinct(asked, leads)
    named = [*leads, *alike] if len(alike) <= NAMES else leads
    case = "clear" if not alike and len(leads) == 1 else "group"
    details = [_worse(asked, worse), *_undefined(asked)]
    return Answer(case, _best(asked, leads, alike), details, keys(named))


def _best(asked: Asked, leads: Sequence[Scored], alike: Sequence[Scored]) -> Message:
    n, metrics, value = len(leads), names(leads), estimate(leads[0], asked.symbol)
    if not alike:
        return plural(
            "answer.best",
            "{metrics} agrees best with the humans, {estimate}.",
            "{metrics} agree best with the humans, {estimate}.",
            n=n,
            metrics=metrics,
            estimate=value,
        )
    if len(alike) > NAMES:
        return plural(
            "answer.best-of-many",
            "{metrics} agrees best with the humans, {estimate}, but cannot be distinguished from "
            "{others} other metrics.",
            "{metrics} agree best with the humans, {estimate}, but cannot be distinguished from "
            "{others} other metrics.",
            n=n,
            metrics=metrics,
            estimate=value,
            others=len(alike),
        )
    return plural(
        "answer.best-of-some",
        "{metrics} agrees best with the humans, {estimate}, but cannot be distinguished from "
        "{others}.",
        "{metrics} agree best with the humans, {estimate}, but cannot be distinguished from "
        "{others}.",
        n=n,
        metrics=metrics,
        estimate=value,
        others=names(alike),
    )


def _indistinct(asked: Asked, leads: Sequence[Scored]) -> Answer:
    sentence = plural(
        "answer.indistinct",
        "The metrics cannot be distinguished. {metrics} comes first with {estimate}.",
        "The metrics cannot be distinguished. {metrics} come first with {estimate}.",
        n=len(leads),
        metrics=names(leads),
        estimate=estimate(leads[0], asked.symbol),
    )
    detail = message(
        "answer.no-difference",
        "No difference from the first has p < {alpha:r} ({correction}).",
        alpha=ALPHA,
        correction=asked.correction,
    )
    return Answer("indistinct", sentence, [detail, *_undefined(asked)], keys(leads))


def _p(asked: Asked, metric: Scored) -> float:
    p = asked.better.get(metric.key)
    return math.inf if p is None else p


def names(metrics: Sequence[Labelled]) -> list[Message | str]:
    """Return the names of metrics for a list; of many the first, and how many more there are."""
    labels = [metric.label for metric in metrics]
    return truncated(labels, NAMES + 1 if len(labels) == NAMES + 1 else NAMES)


def keys(metrics: Sequence[Labelled]) -> dict[str, str]:
    """Return the keys of metrics by label."""
    return {metric.label: metric.key for metric in metrics}


def _worse(asked: Asked, worse: Sequence[Scored]) -> Message:
    p = bound(max(_p(asked, metric) for metric in worse))
    if len(worse) > NAMES:
        return message(
            "answer.others-worse",
            "The other {n} metrics are worse, {p} ({correction}).",
            n=len(worse),
            p=p,
            correction=asked.correction,
        )
    return plural(
        "answer.worse",
        "{metrics} is worse, {p} ({correction}).",
        "{metrics} are worse, {p} ({correction}).",
        n=len(worse),
        metrics=names(worse),
        p=p,
        correction=asked.correction,
    )


def bound(p: float) -> Message:
    """Return the smallest round bound of a p: `p < .001`, `p ≤ .013`, `p ≤ .05`."""
    if p < 0.001:
        return message("p.below", "p < .001")
    places = 3 if p < 0.0095 else 2
    rounded = math.ceil(round(p * 10**places, 9)) / 10**places
    if places == 3:
        return message("p.at-most-small", "p ≤ {p:r3}", p=rounded)
    return message("p.at-most", "p ≤ {p:r}", p=rounded)


def _undefined(asked: Asked) -> list[Message]:
    """Return which metrics have no value: a constant, or one that scored too few outputs."""
    nameless = [metric for metric in asked.metrics if metric.value is None]
    constant = [metric for metric in nameless if not metric.has_few]
    few = [metric for metric in nameless if metric.has_few]
    found = []
    if constant:
        found.append(
            message(
                "answer.undefined-for",
                "{symbol} is undefined for {metrics}.",
                symbol=asked.symbol,
                metrics=names(constant),
            )
        )
    if few:
        found.append(
            message(
                "answer.too-few-outputs",
                "Too few outputs have scores of {metrics} for a comparison with the other metrics.",
                metrics=names(few),
            )
        )
    return found
