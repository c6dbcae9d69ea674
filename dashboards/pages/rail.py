"""The controls of a page, the same on every page that takes them; they act as soon as they change.

What a page takes says which controls it has (`annotation.web.parameters`). Everything else of its
address travels along hidden.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.http.request import QueryDict

from annotation.filters import FilterError, Filters
from annotation.filters.choice import RAW, Z
from annotation.filters.form import NAMES
from dashboards.comparisons import selection, statistics
from metaeval.sensitivity import LEVELS

DEFAULT = "tau-b"
BOUNDS = "Floor and ceiling"
TESTS = ("test", "correction", "scope")
SCORES = {Z: "z-scores", RAW: "raw scores"}


@dataclass(frozen=True)
class Option:
    """One value of a control."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class Control:
    """One control: a list of options, in groups where `groups` names them."""

    name: str
    label: str
    groups: Sequence[tuple[str, Sequence[Option]]]

    @property
    def options(self) -> list[Option]:
        """All options."""
        return [option for _, options in self.groups for option in options]

    @property
    def chosen(self) -> str:
        """The words of what is chosen."""
        return next((option.label for option in self.options if option.is_chosen), "")


@dataclass(frozen=True)
class Rail:
    """What the rail of a page shows.

    `controls` are lists to choose one of, `tests` those of the question's tests; `scores` the form
    of the human scores; `metrics` those that can be shown, empty where the page does not take them;
    `kept` what travels along. `taken` are the parameters of the page.
    """

    controls: Sequence[Control]
    tests: Sequence[Control]
    scores: Sequence[Option]
    metrics: Sequence[Option]
    is_subset: bool
    kept: Sequence[tuple[str, str]]
    words: Sequence[str]
    taken: frozenset[str]

    @property
    def tested(self) -> str:
        """How it is tested, in a few words."""
        return " · ".join(control.chosen for control in self.tests)

    @property
    def n_shown(self) -> int:
        """How many metrics are shown."""
        chosen = sum(option.is_chosen for option in self.metrics)
        return chosen if self.is_subset else len(self.metrics)

    @property
    def summary(self) -> str:
        """All that is chosen, in one line."""
        said = [control.chosen for control in self.controls[:1]]
        said += [option.label for option in self.scores if option.is_chosen]
        said += [f"{self.n_shown} metrics"] if self.metrics else []
        n = len(self.words)
        said.append(f"{n} filter{'s' if n != 1 else ''}" if n else "no filters")
        return " · ".join(said)


def rail_of(
    taken: frozenset[str],
    query: QueryDict,
    filters: Filters | None,
    metrics: Sequence[tuple[str, str]],
    own: frozenset[str] = frozenset(),
    usual: str = Z,
    offered: Mapping[str, str] | None = None,
    statistic: str = "",
) -> Rail:
    """Return the rail of a page that takes these parameters; its template has fields for `own`.

    `metrics` are key and label of all that the page's document could show. `usual` is the form of
    the human scores that the protocol says, which an address need not name. `offered` are the
    page's own statistics, of which `statistic` is the usual one.
    """
    every = _controls(taken, query, offered or {}, statistic)
    controls = [each for each in every if each.name not in TESTS]
    wanted = set(query.getlist("metric"))
    ticks = [Option(key, label, key in wanted) for key, label in metrics]
    shown = ticks if "metric" in taken and "metric" not in own else []
    names = {control.name for control in every} | own | NAMES | {"row"}
    names |= {"metric"} if shown else set()
    return Rail(
        controls=controls,
        tests=[each for each in every if each.name in TESTS],
        scores=_scores(filters, usual) if filters and "scores" in taken else [],
        metrics=shown,
        is_subset=bool(wanted),
        kept=[(n, v) for n, values in query.lists() if n not in names for v in values],
        words=filters.words if filters else [],
        taken=taken,
    )


def _scores(filters: Filters, usual: str) -> list[Option]:
    chosen = filters.scores or usual
    return [
        Option("" if key == usual else key, label, key == chosen) for key, label in SCORES.items()
    ]


def _controls(
    taken: frozenset[str], query: QueryDict, offered: Mapping[str, str], statistic: str
) -> list[Control]:
    found = _asked(taken, query, offered, statistic)
    if "bounds" in taken:
        found.append(_one("bounds", BOUNDS, selection.BOUNDS, query.get("bounds")))
    return found


def _asked(
    taken: frozenset[str], query: QueryDict, offered: Mapping[str, str], statistic: str
) -> list[Control]:
    """What is computed: the statistic, and what belongs to it."""
    if "of" in taken:
        return [_one("of", "Statistic", offered or LEVELS, query.get("of"))]
    if "grouping" in taken:
        return _question(taken, query)
    if "statistic" in taken:
        chosen = query.get("statistic") or statistic
        return [_one("statistic", "Statistic", offered, chosen)]
    return []


def _question(taken: frozenset[str], query: QueryDict) -> list[Control]:
    """The statistic, and what belongs to it."""
    try:
        asked = statistics.from_query(query, DEFAULT)
    except FilterError:
        return []
    found, key = asked.statistic, asked.statistic.key
    levels = [
        (level.text, [Option(one.key, one.label.text, one.key == key) for one in same])
        for level, same in groupby(statistics.STATISTICS.values(), key=lambda s: s.level)
    ]
    groupings = {name: statistics.GROUPINGS[name] for name in found.groupings}
    tests = {name: statistics.TESTS[name] for name in found.tests}
    others = [
        _one("grouping", "Grouping", groupings, asked.grouping),
        _one("test", "Test", tests, asked.test),
        _one("correction", "Correction", selection.CORRECTIONS, query.get("correction")),
        _one("scope", "Family of tests", selection.SCOPES, query.get("scope")),
    ]
    is_worth = [one for one in others if one.name in taken and len(one.options) > 1]
    return [Control("statistic", "Statistic", levels), *is_worth]


def _one(name: str, label: str, values: Any, chosen: str | None) -> Control:
    """A control with its first value chosen where the address says nothing."""
    first = next(iter(values), "")
    options = [Option(key, str(each), key == (chosen or first)) for key, each in values.items()]
    return Control(name, label, [("", options)])
