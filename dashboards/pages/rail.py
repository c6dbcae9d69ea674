"""The controls of a page's sidebar, which act as soon as they change.

The parameters of a page determine its controls (`annotation.web.parameters`). All other parameters
of the address are kept in hidden fields.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Protocol

from django.http.request import QueryDict

from annotation.filters import FilterError, Filters
from annotation.filters.choice import RAW, Z
from annotation.filters.form import NAMES
from dashboards.comparisons import selection, statistics
from metaeval.messages import Message, message, plural
from metaeval.sensitivity import LEVELS

DEFAULT = "tau-b"
BOUNDS = message("control.bounds", "Baselines and human ceiling")
STATISTIC = message("control.statistic", "Statistic")
TESTS = ("test", "correction", "scope")
SCORES = {
    Z: message("control.z-scores", "z-scores"),
    RAW: message("control.raw-scores", "raw scores"),
}


class Named(selection.OfFamily, Protocol):
    """A metric that can be shown."""

    @property
    def label(self) -> str: ...


@dataclass(frozen=True)
class Option:
    """One value of a control."""

    value: str
    label: Message | str
    is_chosen: bool


@dataclass(frozen=True)
class Tick(Option):
    """A metric; `is_usual`: it is shown unless the address names others."""

    is_usual: bool
    variants: Sequence["Tick"] = ()

    @property
    def n_shown(self) -> int:
        """The number of its family that is shown."""
        return self.is_chosen + sum(each.is_chosen for each in self.variants)

    @property
    def has_chosen_variant(self) -> bool:
        """Whether another metric of its family is shown."""
        return self.n_shown > self.is_chosen


@dataclass(frozen=True)
class Control:
    """One control: a list of options, in groups where `groups` names them.

    `about` explains the chosen one in a line.
    """

    name: str
    label: Message
    groups: Sequence[tuple[Message | str, Sequence[Option]]]
    about: Message | None = None

    @property
    def options(self) -> list[Option]:
        """All options."""
        return [option for _, options in self.groups for option in options]

    @property
    def chosen(self) -> Message | str:
        """The label of the chosen option."""
        return next((option.label for option in self.options if option.is_chosen), "")


@dataclass(frozen=True)
class Rail:
    """The content of a page's sidebar.

    Attributes
    ----------
    controls, tests
        Lists with one choice each, and those on the tests of the question.
    scores
        The forms of the human scores.
    metrics
        One metric of each family that can be shown, with the others of the family; empty where the
        page does not take them.
    hidden
        The other parameters of the address.
    words
        The filters in use.
    taken
        The parameters of the page.
    """

    controls: Sequence[Control]
    tests: Sequence[Control]
    scores: Sequence[Option]
    metrics: Sequence[Tick]
    hidden: Sequence[tuple[str, str]]
    words: Sequence[Message | str]
    taken: frozenset[str]

    @property
    def tested(self) -> list[Message | str]:
        """The choices on tests."""
        return [control.chosen for control in self.tests]

    @property
    def n_shown(self) -> int:
        """The number of metrics that are shown."""
        return sum(tick.n_shown for tick in self.metrics)

    @property
    def n_metrics(self) -> int:
        """The number of all metrics with their variants."""
        return sum(1 + len(tick.variants) for tick in self.metrics)

    @property
    def summary(self) -> list[Message | str]:
        """All choices, for one line."""
        found = [control.chosen for control in self.controls[:1]]
        found += [option.label for option in self.scores if option.is_chosen]
        if self.metrics:
            found.append(plural("control.metrics", "{n} metric", "{n} metrics", n=self.n_shown))
        if self.words:
            found.append(plural("control.filters", "{n} filter", "{n} filters", n=len(self.words)))
        else:
            found.append(message("control.no-filters", "no filters"))
        return found


def rail_of(
    taken: frozenset[str],
    query: QueryDict,
    filters: Filters | None,
    metrics: Sequence[Named],
    own: frozenset[str] = frozenset(),
    usual: str = Z,
    offered: Mapping[str, Message | str] | None = None,
    statistic: str = "",
) -> Rail:
    """Return the sidebar of a page that takes these parameters; its template has fields for `own`.

    `metrics` are all metrics that the page's document could show. `usual` is the
    protocol's form of the human scores, which an address need not name. `offered` are the page's
    own statistics, and `statistic` is the default one.
    """
    every = _controls(taken, query, offered or {}, statistic)
    controls = [each for each in every if each.name not in TESTS]
    shown = _ticks(metrics, query) if "metric" in taken and "metric" not in own else []
    names = {control.name for control in every} | own | NAMES | {"row"}
    names |= {"metric"} if shown else set()
    return Rail(
        controls=controls,
        tests=[each for each in every if each.name in TESTS],
        scores=_scores(filters, usual) if filters and "scores" in taken else [],
        metrics=shown,
        hidden=[(n, v) for n, values in query.lists() if n not in names for v in values],
        words=filters.words if filters else [],
        taken=taken,
    )


def _ticks(metrics: Sequence[Named], query: QueryDict) -> list[Tick]:
    """Return the leading metric of each family with its variants, and what the address shows."""
    first = selection.leading(metrics)
    usual = {metric.key for metric in first}
    wanted = set(query.getlist("metric")) or usual
    every = {
        metric.key: Tick(
            metric.key,
            metric.label,
            selection.EVERY in wanted or metric.key in wanted,
            metric.key in usual,
        )
        for metric in metrics
    }
    variants = selection.folded(metrics, first)
    return [
        replace(every[key], variants=[every[each.key] for each in variants.get(key, ())])
        for key in every
        if key in usual
    ]


def _scores(filters: Filters, usual: str) -> list[Option]:
    chosen = filters.scores or usual
    return [
        Option("" if key == usual else key, label, key == chosen) for key, label in SCORES.items()
    ]


def _controls(
    taken: frozenset[str], query: QueryDict, offered: Mapping[str, Message | str], statistic: str
) -> list[Control]:
    found = _asked(taken, query, offered, statistic)
    if "bounds" in taken:
        found.append(_one("bounds", BOUNDS, selection.BOUNDS, query.get("bounds")))
    return found


def _asked(
    taken: frozenset[str], query: QueryDict, offered: Mapping[str, Message | str], statistic: str
) -> list[Control]:
    """Return the controls of the statistic and its options."""
    if "of" in taken:
        return [_one("of", STATISTIC, offered or LEVELS, query.get("of"))]
    if "grouping" in taken:
        return _question(taken, query)
    if "statistic" in taken:
        chosen = query.get("statistic") or statistic
        return [_one("statistic", STATISTIC, offered, chosen)]
    return []


def _question(taken: frozenset[str], query: QueryDict) -> list[Control]:
    """Return the controls of a question: statistic, grouping, test and correction."""
    try:
        asked = statistics.from_query(query, DEFAULT)
    except FilterError:
        return []
    found, key = asked.statistic, asked.statistic.key
    levels: list[tuple[Message | str, Sequence[Option]]] = [
        (level, [Option(one.key, one.short, one.key == key) for one in same])
        for level, same in groupby(statistics.STATISTICS.values(), key=lambda s: s.level)
    ]
    groupings = {name: statistics.GROUPINGS[name] for name in found.groupings}
    tests = {name: statistics.TESTS[name] for name in found.tests}
    others = [
        _one("grouping", message("control.grouping", "Grouping"), groupings, asked.grouping),
        _one("test", message("control.test", "Test"), tests, asked.test),
        _one(
            "correction",
            message("control.correction", "Correction"),
            selection.CORRECTIONS,
            query.get("correction"),
        ),
        _one(
            "scope",
            message("control.scope", "Family of tests"),
            selection.SCOPES,
            query.get("scope"),
        ),
    ]
    others = [one for one in others if one.name in taken and len(one.options) > 1]
    about = message(
        "control.about-statistic",
        "{statistic}. {about}",
        statistic=found.label,
        about=found.about,
    )
    return [Control("statistic", STATISTIC, levels, about), *others]


def _one(name: str, label: Message, values: Any, chosen: str | None) -> Control:
    """Return a control; the first value is chosen where the address names none."""
    first = next(iter(values), "")
    options = [Option(key, each, key == (chosen or first)) for key, each in values.items()]
    return Control(name, label, [("", options)])
