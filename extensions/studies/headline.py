"""Answer for a study which metric is in the best cluster of every campaign."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dashboards.results.answer import NAMES, SYMBOLS, Answer
from metaeval.messages import Message, message, plural, truncated

# Cases in which a campaign distinguishes its metrics, or could.
COMPARABLE = ("compared", "alone")
# More metrics than these are counted instead of named.
MANY = 4
NOWHERE = message("study.no-average", "No metric has a value in every campaign.")
EMPTY = message("study.empty", "No campaign has been opened yet, so there is nothing to compare.")
UNJUDGED = message(
    "study.unjudged", "No output has a human score yet, so metrics cannot be compared."
)
DISTRUSTED = message(
    "study.distrusted", "These judgments cannot show which metric agrees with the humans."
)
PENDING = message("study.pending", "Intervals and tests are being computed.")
EVERYWHERE = message("study.everywhere", "in all campaigns")


@dataclass(frozen=True)
class Column:
    """A campaign's name and its group (`extensions.studies.matrix.Group`)."""

    name: str
    case: str
    leader: str = ""
    keys: frozenset[str] = frozenset()
    why: Message | None = None


@dataclass(frozen=True)
class Named:
    """A metric, with its average over all campaigns; None where a value is missing."""

    key: str
    label: str
    average: float | None


@dataclass(frozen=True)
class Trend:
    """Of `n` metrics `n_falling` agree less at the shortest length than at the longest."""

    longest: str
    shortest: str
    n: int
    n_falling: int
    n_rising: int


@dataclass(frozen=True)
class Asked:
    """Everything that the answer depends on; `metrics` are in the matrix's order, best first."""

    statistic: str
    metrics: Sequence[Named]
    columns: Sequence[Column]
    trend: Trend | None = field(default=None)


def answer(asked: Asked) -> Answer:
    """Return which metrics are in the best cluster of all campaigns, or why that is unknown."""
    comparable = [column for column in asked.columns if column.case in COMPARABLE]
    if not asked.columns:
        return Answer("empty", EMPTY)
    if not comparable:
        return _incomparable(asked)
    if len(asked.columns) == 1:
        return _single(asked, comparable[0])
    return _several(asked, comparable)


def _incomparable(asked: Asked) -> Answer:
    """Return the answer where no campaign distinguishes metrics; the nearest to it counts."""
    cases = [column.case for column in asked.columns]
    n = len(cases)
    if set(cases) <= {"unjudged"}:
        return Answer("unjudged", UNJUDGED)
    if set(cases) <= {"unjudged", "unscored"}:
        unscored = plural(
            "study.unscored",
            "No metric has scored the outputs of this campaign yet.",
            "No metric has scored the outputs of these campaigns yet.",
            n=n,
        )
        return Answer("unscored", unscored)
    if set(cases) <= {"unjudged", "unscored", "constant"}:
        undefined = plural(
            "study.constant",
            "No metric has a value in this campaign.",
            "No metric has a value in any of these campaigns.",
            n=n,
        )
        return Answer("constant", undefined, _gaps(asked))
    if "pending" in cases:
        return _first(asked, "pending", [PENDING])
    if "failed" in cases:
        return _first(asked, "failed", _gaps(asked))
    if set(cases) <= {"unjudged", "unscored", "constant", "distrusted"}:
        return Answer("distrusted", DISTRUSTED, _gaps(asked))
    if "refused" in cases:
        reasons = dict.fromkeys(c.why for c in asked.columns if c.case == "refused" and c.why)
        return _first(asked, "refused", list(reasons))
    if "chance" not in cases:
        return _first(asked, "uncertain", _gaps(asked))
    at_chance = plural(
        "study.at-chance",
        "No metric is shown to agree with the humans better than chance in this campaign.",
        "No metric is shown to agree with the humans better than chance in any of these campaigns.",
        n=n,
    )
    return Answer("chance", at_chance, _gaps(asked) if len(set(cases)) > 1 else _missing(asked))


def _first(asked: Asked, case: str, details: Sequence[Message]) -> Answer:
    """Return the largest average, without a claim that it is the best."""
    best = _best(asked)
    if best is None:
        return Answer(case, NOWHERE, details)
    sentence = message(
        "study.highest-average",
        "{metric} has the highest average agreement with the humans, {value}.",
        metric=best.label,
        value=_average(asked, best),
    )
    return Answer(case, sentence, details, _keys([best]))


def _best(asked: Asked) -> Named | None:
    return next((metric for metric in asked.metrics if metric.average is not None), None)


def _average(asked: Asked, metric: Named) -> Message:
    symbol = SYMBOLS.get(asked.statistic, asked.statistic)
    value = float("nan") if metric.average is None else metric.average
    return message("study.value", "{symbol}\N{NO-BREAK SPACE}{value:r}", symbol=symbol, value=value)


def _keys(metrics: Sequence[Named]) -> dict[str, str]:
    return {metric.label: metric.key for metric in metrics}


def _names(metrics: Sequence[Named]) -> list[Any]:
    return truncated([metric.label for metric in metrics], max(NAMES, MANY))


def _single(asked: Asked, column: Column) -> Answer:
    best = _named(asked, lambda key: key in column.keys)
    where = message("study.in-campaign", "in {campaign}", campaign=column.name)
    if column.case == "alone":
        sentence = message(
            "study.alone",
            "{metrics} agrees with the humans {where}. It is not compared with any other metric.",
            metrics=_names(best),
            where=where,
        )
        return Answer("alone", sentence, _missing(asked), _keys(best))
    if len(best) == _n_known(asked):
        return _indistinct(asked, where, [])
    sentence = plural(
        "study.single",
        "{metrics} agrees best with the humans {where}.",
        "{metrics} agree best with the humans {where}.",
        n=len(best),
        metrics=_names(best),
        where=where,
    )
    return Answer("single", sentence, _missing(asked), _keys(best))


def _several(asked: Asked, comparable: Sequence[Column]) -> Answer:
    everywhere = _named(asked, lambda key: all(key in column.keys for column in comparable))
    details = [*_leads(asked, comparable, everywhere), *_trend(asked.trend), *_gaps(asked),
               *_missing(asked)]  # fmt: skip
    where = _where(asked, comparable)
    if len(everywhere) == _n_known(asked) > 1:
        return _indistinct(asked, where, details)
    if len(everywhere) > MANY:
        return _crowded(asked, everywhere, where, details)
    if everywhere:
        sentence = plural(
            "study.best-group",
            "{metrics} is in the best cluster {where}.",
            "{metrics} are in the best cluster {where}.",
            n=len(everywhere),
            metrics=_names(everywhere),
            where=where,
        )
        return Answer("everywhere", sentence, details, _keys(everywhere))
    counts = {m.key: sum(m.key in column.keys for column in comparable) for m in asked.metrics}
    most = max(counts.values())
    often = _named(asked, lambda key: counts[key] == most)
    sentence = plural(
        "study.nowhere",
        "No metric is in the best cluster {where}; {metrics} is in the best cluster of {most} of "
        "{total} campaigns.",
        "No metric is in the best cluster {where}; {metrics} are in the best cluster of {most} of "
        "{total} campaigns.",
        n=len(often),
        where=where,
        metrics=_names(often),
        most=most,
        total=len(comparable),
    )
    return Answer("nowhere", sentence, details, _keys(often))


def _crowded(
    asked: Asked, best: Sequence[Named], where: Message, details: Sequence[Message]
) -> Answer:
    """Return the answer where the best cluster is too large to be listed."""
    first = best[0]
    sentence = message(
        "study.crowded",
        "{best} of {total} metrics are in the best cluster {where}. {metric} has the highest "
        "average, {value}.",
        best=len(best),
        total=len(asked.metrics),
        where=where,
        metric=first.label,
        value=_average(asked, first),
    )
    return Answer("crowded", sentence, details, _keys([first]))


def _indistinct(asked: Asked, where: Message, details: Sequence[Message]) -> Answer:
    best = _best(asked)
    if best is None:
        return Answer("indistinct", NOWHERE, details)
    sentence = message(
        "study.indistinct",
        "The metrics cannot be distinguished {where}. {metric} has the highest average, {value}.",
        where=where,
        metric=best.label,
        value=_average(asked, best),
    )
    return Answer("indistinct", sentence, details, _keys([best]))


def _where(asked: Asked, comparable: Sequence[Column]) -> Message:
    if len(comparable) == len(asked.columns):
        return EVERYWHERE
    if len(comparable) == 1:
        return message(
            "study.in-only-campaign",
            "in {campaign} (the only campaign that distinguishes metrics)",
            campaign=comparable[0].name,
        )
    return message(
        "study.in-some",
        "in the {n} of {total} campaigns that distinguish metrics",
        n=len(comparable),
        total=len(asked.columns),
    )


def _named(asked: Asked, is_wanted: Callable[[str], bool]) -> list[Named]:
    return [metric for metric in asked.metrics if is_wanted(metric.key)]


def _n_known(asked: Asked) -> int:
    """Return how many metrics have a value in every campaign."""
    return sum(metric.average is not None for metric in asked.metrics)


def _leads(
    asked: Asked, comparable: Sequence[Column], everywhere: Sequence[Named]
) -> list[Message]:
    """Return the metrics with the largest value of a campaign that are not best everywhere."""
    keys = {metric.key for metric in everywhere}
    places: dict[str, list[str]] = {}
    for column in comparable:
        if column.leader not in keys:
            places.setdefault(column.leader, []).append(column.name)
    labels = {metric.key: metric.label for metric in asked.metrics}
    return [
        message("study.leads", "{metric} leads in {campaigns}.", metric=labels[key], campaigns=at)
        for key, at in places.items()
    ]


def _trend(trend: Trend | None) -> list[Message]:
    if trend is None or trend.n_falling == trend.n_rising:
        return []
    known: dict[str, Any] = {"long": trend.longest, "short": trend.shortest, "total": trend.n}
    if trend.n_falling > trend.n_rising:
        return [
            message(
                "study.agreement-falls",
                "Agreement falls from {long} to {short} for {falling} of {total} metrics.",
                **known,
                falling=trend.n_falling,
            )
        ]
    return [
        message(
            "study.agreement-rises",
            "Agreement rises from {long} to {short} for {rising} of {total} metrics.",
            **known,
            rising=trend.n_rising,
        )
    ]


def _gaps(asked: Asked) -> list[Message]:
    """Return why campaigns do not distinguish metrics, with their names."""
    places: dict[tuple[str, Message | None], list[str]] = {}
    for column in asked.columns:
        if column.case not in COMPARABLE:
            why = column.why if column.case in ("uncertain", "failed") else None
            places.setdefault((column.case, why), []).append(column.name)
    return [_gap(case, why, at) for (case, why), at in places.items()]


def _gap(case: str, why: Message | None, at: list[str]) -> Message:
    match case:
        case "distrusted":
            return message(
                "study.gap-distrusted",
                "The judgments of {campaigns} do not support conclusions.",
                campaigns=at,
            )
        case "refused":
            return message(
                "study.gap-refused", "Metrics must not be ranked in {campaigns}.", campaigns=at
            )
        case "chance":
            return message(
                "study.gap-chance",
                "No metric is shown to be better than chance in {campaigns}.",
                campaigns=at,
            )
        case "uncertain":
            return message(
                "study.gap-uncertain",
                "There are no intervals in {campaigns}: {cause}.",
                campaigns=at,
                cause=why,
            )
        case "constant":
            return message(
                "study.gap-constant", "No metric has a value in {campaigns}.", campaigns=at
            )
        case "unscored":
            return message(
                "study.gap-unscored",
                "No metric has scored the outputs of {campaigns}.",
                campaigns=at,
            )
        case "unjudged":
            return message(
                "study.gap-unjudged", "No output of {campaigns} has a human score.", campaigns=at
            )
        case "pending":
            return message(
                "study.gap-pending",
                "Intervals of {campaigns} are being computed.",
                campaigns=at,
            )
    return message("study.gap-failed", "{campaigns}: {cause}", campaigns=at, cause=why)


def _missing(asked: Asked) -> list[Message]:
    """Return the metrics that have no value in some campaign."""
    lacking = [metric for metric in asked.metrics if metric.average is None]
    if not lacking or len(lacking) == len(asked.metrics):
        return []
    return [
        plural(
            "study.no-value",
            "{metrics} has no value in some campaigns, and therefore no average.",
            "{metrics} have no value in some campaigns, and therefore no average.",
            n=len(lacking),
            metrics=_names(lacking),
        )
    ]
