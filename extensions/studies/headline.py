"""The sentence that answers for a study: which metric is in the best group of every campaign."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from dashboards.results.answer import FIXED, SYMBOLS, Answer, Part, listed, name_parts, number

# Cases in which a campaign tells its metrics apart, or could.
TELLING = ("compared", "alone")
# More names than these are counted.
MANY = 4
NOWHERE = "No metric has a value in every campaign."
UNTOLD = {
    "distrusted": "In {listed} the judgments bear nothing out.",
    "refused": "In {listed} nothing may be ranked.",
    "chance": "In {listed} no metric can be told from chance.",
    "uncertain": "In {listed} there are no intervals: {why}.",
    "constant": "In {listed} no metric has a value.",
    "unscored": "In {listed} no metric has scored the outputs.",
    "unjudged": "In {listed} no output has a human score.",
    "pending": "In {listed} intervals are being computed.",
    "failed": "{listed}: {why}",
}


@dataclass(frozen=True)
class Column:
    """A campaign: what it is called, and its group (`extensions.studies.matrix.Group`)."""

    name: str
    case: str
    leader: str = ""
    keys: frozenset[str] = frozenset()
    why: str = ""


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
    """What the sentence is about; `metrics` stand as in the matrix, best average first."""

    statistic: str
    metrics: Sequence[Named]
    columns: Sequence[Column]
    trend: Trend | None = field(default=None)


def answer(asked: Asked) -> Answer:
    """Say which metrics are in the best group of all campaigns, or why that cannot be said."""
    told = [column for column in asked.columns if column.case in TELLING]
    if not asked.columns:
        return _plain("empty", "No campaign has been opened yet, so there is nothing to compare.")
    if not told:
        return _untold(asked)
    if len(asked.columns) == 1:
        return _single(asked, told[0])
    return _several(asked, told)


def _plain(case: str, sentence: str, detail: str = "") -> Answer:
    return Answer(case, [Part(sentence)], detail)


def _untold(asked: Asked) -> Answer:
    """The answer where no campaign tells anything; the one that could soonest counts."""
    cases = [column.case for column in asked.columns]
    where = "this campaign" if len(cases) == 1 else "any of these campaigns"
    if set(cases) <= {"unjudged"}:
        said = "No output has a human score yet, so no metric can be compared."
        return _plain("unjudged", said)
    if set(cases) <= {"unjudged", "unscored"}:
        return _plain("unscored", f"No metric has scored the outputs of {where} yet.")
    if set(cases) <= {"unjudged", "unscored", "constant"}:
        return _plain("constant", f"No metric has a value in {where}.", _gaps(asked))
    if "pending" in cases:
        return _first(asked, "pending", "How sure that is, is being computed.")
    if "failed" in cases:
        return _first(asked, "failed", _gaps(asked))
    if set(cases) <= {"unjudged", "unscored", "constant", "distrusted"}:
        said = "These judgments cannot tell which metric is good."
        return _plain("distrusted", said, _gaps(asked))
    if "refused" in cases:
        reasons = dict.fromkeys(c.why for c in asked.columns if c.case == "refused")
        return _first(asked, "refused", " ".join(reasons))
    if "chance" not in cases:
        return _first(asked, "uncertain", _gaps(asked))
    said = f"No metric can be told from chance in {where}."
    return _plain("chance", said, _gaps(asked) if len(set(cases)) > 1 else _missing(asked))


def _first(asked: Asked, case: str, detail: str) -> Answer:
    """The largest average, which nothing is known to bear out."""
    best = next((metric for metric in asked.metrics if metric.average is not None), None)
    if best is None:
        return _plain(case, NOWHERE, detail)
    said = f" has the highest average agreement with the humans, {_average(asked, best)}."
    return Answer(case, [Part(best.label, best.key), Part(said)], detail)


def _average(asked: Asked, metric: Named) -> str:
    value = "undefined" if metric.average is None else number(metric.average)
    return f"{SYMBOLS.get(asked.statistic, asked.statistic)}{FIXED}{value}"


def _single(asked: Asked, column: Column) -> Answer:
    best = _named(asked, lambda key: key in column.keys)
    if column.case == "alone":
        alone = f" agrees with the humans in {column.name}; it is compared with no other metric."
        return Answer("alone", [*name_parts(best), Part(alone)], _missing(asked))
    if len(best) == _n_known(asked):
        return _indistinct(asked, f"No metric can be told from another in {column.name}: ")
    verb = "agrees" if len(best) == 1 else "agree"
    said = [*name_parts(best), Part(f" {verb} best with the humans in {column.name}.")]
    return Answer("single", said, _missing(asked))


def _several(asked: Asked, told: Sequence[Column]) -> Answer:
    everywhere = _named(asked, lambda key: all(key in column.keys for column in told))
    details = [_leads(asked, told, everywhere), _trend(asked.trend), _gaps(asked), _missing(asked)]
    detail = " ".join(filter(None, details))
    if len(everywhere) == _n_known(asked) > 1:
        where = _where(asked, told)
        return _indistinct(asked, f"No metric can be told from another {where}: ", detail)
    if len(everywhere) > MANY:
        return _crowded(asked, everywhere, _where(asked, told), detail)
    if everywhere:
        verb = "is" if len(everywhere) == 1 else "are"
        said = f" {verb} in the best group {_where(asked, told)}."
        return Answer("everywhere", [*name_parts(everywhere), Part(said)], detail)
    counts = {m.key: sum(m.key in column.keys for column in told) for m in asked.metrics}
    most = max(counts.values())
    often = _named(asked, lambda key: counts[key] == most)
    verb = "is" if len(often) == 1 else "are"
    parts = [
        Part(f"No metric is in the best group {_where(asked, told)}: "),
        *name_parts(often),
        Part(f" {verb} in {most} of {len(told)}."),
    ]
    return Answer("nowhere", parts, detail)


def _crowded(asked: Asked, best: Sequence[Named], where: str, detail: str) -> Answer:
    """The answer where so many are in the best group that no list of them says anything."""
    first = best[0]
    said = [
        Part(f"{len(best)} of {len(asked.metrics)} metrics are in the best group {where}; "),
        Part(first.label, first.key),
        Part(f" comes first by the average, {_average(asked, first)}."),
    ]
    return Answer("crowded", said, detail)


def _indistinct(asked: Asked, sentence: str, detail: str = "") -> Answer:
    best = next((metric for metric in asked.metrics if metric.average is not None), None)
    if best is None:
        return _plain("indistinct", NOWHERE, detail)
    ahead = f" comes first with {_average(asked, best)}."
    said = [Part(sentence), Part(best.label, best.key), Part(ahead)]
    return Answer("indistinct", said, detail)


def _where(asked: Asked, told: Sequence[Column]) -> str:
    if len(told) == len(asked.columns):
        return "everywhere"
    if len(told) == 1:
        return f"in {told[0].name}, the only campaign that tells metrics apart"
    return f"in the {len(told)} of {len(asked.columns)} campaigns that tell metrics apart"


def _named(asked: Asked, is_wanted: Callable[[str], bool]) -> list[Named]:
    return [metric for metric in asked.metrics if is_wanted(metric.key)]


def _n_known(asked: Asked) -> int:
    """How many metrics have a value everywhere."""
    return sum(metric.average is not None for metric in asked.metrics)


def _leads(asked: Asked, told: Sequence[Column], everywhere: Sequence[Named]) -> str:
    """Who has the largest value somewhere and is not in the best group everywhere."""
    keys = {metric.key for metric in everywhere}
    places: dict[str, list[str]] = {}
    for column in told:
        if column.leader not in keys:
            places.setdefault(column.leader, []).append(column.name)
    labels = {metric.key: metric.label for metric in asked.metrics}
    return " ".join(f"{labels[key]} leads in {_listed(at)}." for key, at in places.items())


def _trend(trend: Trend | None) -> str:
    if trend is None or trend.n_falling == trend.n_rising:
        return ""
    verb, n = max(("falls", trend.n_falling), ("rises", trend.n_rising), key=itemgetter(1))
    whom = "every metric" if n == trend.n else f"{n} of {trend.n} metrics"
    return f"Agreement {verb} from {trend.longest} to {trend.shortest} for {whom}."


def _gaps(asked: Asked) -> str:
    """The campaigns that tell nothing, by reason."""
    places: dict[tuple[str, str], list[str]] = {}
    for column in asked.columns:
        if column.case not in TELLING:
            why = column.why if column.case in ("uncertain", "failed") else ""
            places.setdefault((UNTOLD[column.case], why), []).append(column.name)
    return " ".join(text.format(listed=_listed(at), why=why) for (text, why), at in places.items())


def _missing(asked: Asked) -> str:
    """Who lacks a value somewhere."""
    lacking = [metric for metric in asked.metrics if metric.average is None]
    if not lacking or len(lacking) == len(asked.metrics):
        return ""
    names = listed(lacking)
    if len(lacking) == 1:
        return f"{names} lacks a value somewhere and has no average."
    return f"{names} lack values and have no average."


def _listed(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
