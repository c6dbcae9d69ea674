"""The statistics that can be asked for, as data, and a question: which, over what, tested how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from metaeval.correlation.measure import SYSTEM_LEVEL, Measure

SEGMENT, SYSTEM = "Segment level", "System level"
CLUSTERED, JACKKNIFE = "segments", "jackknife"
PERMUTATION, WILLIAMS, ZOU = "perm", "williams", "zou"
TESTS = {
    CLUSTERED: "t over documents or segments",
    JACKKNIFE: "jackknife over systems",
    PERMUTATION: "permutation test (PERM-BOTH)",
    WILLIAMS: "Williams’ test",
    ZOU: "Zou’s interval",
}
NONE, ITEM, BY_SYSTEM = "none", "item", "system"
GROUPINGS = {NONE: "no grouping", ITEM: "by segment", BY_SYSTEM: "by system"}
GROUPED = {
    NONE: "{label}, no grouping",
    ITEM: "{label}, by segment",
    BY_SYSTEM: "{label}, by system",
}
_SEGMENT_OPTIONS: dict[str, Any] = {
    "tests": (CLUSTERED, PERMUTATION),
    "groupings": tuple(GROUPINGS),
}


@dataclass(frozen=True)
class Statistic:
    """A way to measure agreement with humans.

    `correlation` and `variant` are those of `boot_interval`. `is_of_systems`: it takes one score
    a system, which is a corpus score where a metric has one. `is_of_draws`: its interval and its
    tests count draws as observations, so nothing is ranked by it unless it is asked for by name.
    The first grouping and the first test are defaults.
    """

    key: str
    label: str
    level: str
    correlation: str
    tests: tuple[str, ...]
    groupings: tuple[str, ...] = (NONE,)
    variant: str = "b"
    is_of_systems: bool = False
    is_of_draws: bool = False


_ALL = (
    Statistic("tau-b", "Kendall τ-b", SEGMENT, "kendall", **_SEGMENT_OPTIONS),
    Statistic("tau-c", "Kendall τ-c", SEGMENT, "kendall", variant="c", **_SEGMENT_OPTIONS),
    Statistic("pearson", "Pearson r", SEGMENT, "pearson", **_SEGMENT_OPTIONS),
    Statistic("spearman", "Spearman ρ", SEGMENT, "spearman", **_SEGMENT_OPTIONS),
    Statistic(
        "acc-eq",
        "Pairwise accuracy with tie calibration",
        SEGMENT,
        "acc_eq",
        (CLUSTERED, PERMUTATION),
        (ITEM, BY_SYSTEM, NONE),
    ),
    Statistic("limit", "Pearson r over hybrids, limit", SYSTEM, "pearson", (CLUSTERED,)),
    Statistic(
        "systems",
        "Pearson r over systems",
        SYSTEM,
        "pearson",
        (JACKKNIFE, WILLIAMS, PERMUTATION),
        is_of_systems=True,
    ),
    Statistic("cells", "Pearson r of system means", SYSTEM, "pearson", (PERMUTATION,)),
    Statistic("spa", "Soft pairwise accuracy", SYSTEM, "soft_pairwise_accuracy", (PERMUTATION,)),
    Statistic(
        "pa",
        "Pairwise accuracy of systems",
        SYSTEM,
        "pairwise_accuracy",
        (PERMUTATION,),
        is_of_systems=True,
    ),
    # Last: as published, but its tests grow with the draws.
    Statistic(
        "hybrids",
        "Pearson r over drawn hybrids (Graham and Liu 2016)",
        SYSTEM,
        "pearson",
        (ZOU, WILLIAMS),
        is_of_draws=True,
    ),
)
STATISTICS = {statistic.key: statistic for statistic in _ALL}


@dataclass(frozen=True)
class Question:
    """A statistic, how it is grouped and how differences are tested."""

    statistic: Statistic
    grouping: str
    test: str

    @property
    def key(self) -> str:
        """The question as a short text, which `parse` reads."""
        return f"{self.statistic.key}/{self.grouping}/{self.test}"

    @property
    def label(self) -> str:
        """For headings and captions."""
        if len(self.statistic.groupings) == 1:
            return self.statistic.label
        return GROUPED[self.grouping].format(label=self.statistic.label)

    @property
    def measure(self) -> Measure:
        """What this package's functions take."""
        grouping = SYSTEM_LEVEL if self.statistic.level == SYSTEM else self.grouping
        return Measure(self.statistic.correlation, grouping, self.statistic.variant)


def parse(key: str) -> Question:
    """Return the question of a key; ValueError where it asks for what there is not.

    Parts may be missing from the right: they are then the statistic's defaults.
    """
    name, grouping, test = (*key.split("/"), "", "")[:3]
    if name not in STATISTICS:
        raise ValueError(f"statistic must be one of {', '.join(STATISTICS)}, not {name!r}")
    statistic = STATISTICS[name]
    for what, value, allowed in (
        ("grouping", grouping, statistic.groupings),
        ("test", test, statistic.tests),
    ):
        if value and value not in allowed:
            raise ValueError(f"{what} of {name} must be one of {', '.join(allowed)}, not {value!r}")
    return Question(statistic, grouping or statistic.groupings[0], test or statistic.tests[0])
