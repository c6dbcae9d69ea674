"""The available statistics, and `Question`: a statistic with its grouping and its test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from metaeval.correlation.measure import SYSTEM_LEVEL, Measure, with_grouping
from metaeval.messages import Message, MessageError, message

SEGMENT = message("level.segment", "Segment level")
SYSTEM = message("level.system", "System level")
CLUSTERED, JACKKNIFE = "segments", "jackknife"
PERMUTATION, WILLIAMS, ZOU = "perm", "williams", "zou"
TESTS = {
    CLUSTERED: message("test.name-t", "t over documents or segments"),
    JACKKNIFE: message("test.name-jackknife", "jackknife over systems"),
    PERMUTATION: message("test.name-permutation", "permutation test (PERM-BOTH)"),
    WILLIAMS: message("test.name-williams", "Williams’ test"),
    ZOU: message("test.name-zou", "Zou’s interval"),
}
NONE, ITEM, BY_SYSTEM = "none", "item", "system"
GROUPINGS = {
    NONE: message("grouping.none", "no grouping"),
    ITEM: message("grouping.segment", "by segment"),
    BY_SYSTEM: message("grouping.system", "by system"),
}
_SEGMENT_OPTIONS: dict[str, Any] = {
    "tests": (CLUSTERED, PERMUTATION),
    "groupings": tuple(GROUPINGS),
}


@dataclass(frozen=True)
class Statistic:
    """A statistic of agreement with humans.

    `short` is the name in lists of choices, and `about` says in a line what the statistic is.
    `correlation` and `variant` are those of `boot_interval`. `is_of_systems`: it uses one score per
    system, which is a corpus score if the metric has one. `is_of_draws`: its interval and tests
    count draws as observations, so metrics are ranked by it only on explicit request. The first
    grouping and the first test are the defaults.
    """

    key: str
    label: Message
    short: Message | str
    about: Message
    level: Message
    correlation: str
    tests: tuple[str, ...]
    groupings: tuple[str, ...] = (NONE,)
    variant: str = "b"
    is_of_systems: bool = False
    is_of_draws: bool = False


_ALL = (
    Statistic(
        "tau-b",
        message("statistic.tau-b", "Kendall τ-b"),
        "τ-b",
        message(
            "statistic.tau-b-about",
            "Order of pairs of outputs; ties of both sides are corrected for.",
        ),
        SEGMENT,
        "kendall",
        **_SEGMENT_OPTIONS,
    ),
    Statistic(
        "tau-c",
        message("statistic.tau-c", "Kendall τ-c"),
        "τ-c",
        message(
            "statistic.tau-c-about", "Order of pairs of outputs, for scales of different sizes."
        ),
        SEGMENT,
        "kendall",
        variant="c",
        **_SEGMENT_OPTIONS,
    ),
    Statistic(
        "pearson",
        message("statistic.pearson", "Pearson r"),
        "r",
        message("statistic.pearson-about", "Linear relation of the scores of outputs."),
        SEGMENT,
        "pearson",
        **_SEGMENT_OPTIONS,
    ),
    Statistic(
        "spearman",
        message("statistic.spearman", "Spearman ρ"),
        "ρ",
        message("statistic.spearman-about", "Pearson r of the ranks of outputs."),
        SEGMENT,
        "spearman",
        **_SEGMENT_OPTIONS,
    ),
    Statistic(
        "acc-eq",
        message("statistic.acc-eq", "Pairwise accuracy with tie calibration"),
        "acc-eq",
        message(
            "statistic.acc-eq-about",
            "Share of pairs of outputs in the same order or tied for both.",
        ),
        SEGMENT,
        "acc_eq",
        (CLUSTERED, PERMUTATION),
        (ITEM, BY_SYSTEM, NONE),
    ),
    Statistic(
        "darr",
        message("statistic.darr", "daRR τ (WMT17–20)"),
        "daRR τ",
        message(
            "statistic.darr-about",
            "Order of pairs of outputs at least 25 points apart; ties of the metric count as "
            "wrong. For raw scores from 0 to 100.",
        ),
        SEGMENT,
        "kendall_like",
        (CLUSTERED, PERMUTATION),
        (ITEM,),
    ),
    Statistic(
        "pdp",
        message("statistic.pdp", "Pairwise difference Pearson"),
        "PDP",
        message(
            "statistic.pdp-about",
            "Linear relation of the differences between two outputs of a segment.",
        ),
        SEGMENT,
        "pearson",
        (CLUSTERED,),
        (ITEM,),
    ),
    Statistic(
        "limit",
        message("statistic.limit", "Pearson r over hybrids, limit"),
        message("statistic.limit-short", "r, limit of hybrids"),
        message(
            "statistic.limit-about",
            "Linear relation over random mixtures of these systems, as their number grows.",
        ),
        SYSTEM,
        "pearson",
        (CLUSTERED,),
    ),
    Statistic(
        "systems",
        message("statistic.systems", "Pearson r over systems"),
        message("statistic.systems-short", "r, systems"),
        message("statistic.systems-about", "Linear relation of the scores of systems."),
        SYSTEM,
        "pearson",
        (JACKKNIFE, WILLIAMS, PERMUTATION),
        is_of_systems=True,
    ),
    Statistic(
        "cells",
        message("statistic.cells", "Pearson r of system means"),
        message("statistic.cells-short", "r, system means"),
        message(
            "statistic.cells-about",
            "Linear relation of the mean scores of systems over common segments.",
        ),
        SYSTEM,
        "pearson",
        (PERMUTATION,),
    ),
    Statistic(
        "spa",
        message("statistic.spa", "Soft pairwise accuracy"),
        "SPA",
        message(
            "statistic.spa-about",
            "Agreement on how certain it is that one system of a pair is better.",
        ),
        SYSTEM,
        "soft_pairwise_accuracy",
        (PERMUTATION,),
    ),
    Statistic(
        "pa",
        message("statistic.pa", "Pairwise accuracy of systems"),
        "PA",
        message("statistic.pa-about", "Share of pairs of systems in the same order."),
        SYSTEM,
        "pairwise_accuracy",
        (PERMUTATION,),
        is_of_systems=True,
    ),
    # Last: it follows the publication, but its tests become significant with enough draws.
    Statistic(
        "hybrids",
        message("statistic.hybrids", "Pearson r over drawn hybrids (Graham and Liu 2016)"),
        message("statistic.hybrids-short", "r, drawn hybrids"),
        message("statistic.hybrids-about", "Linear relation over drawn mixtures of systems."),
        SYSTEM,
        "pearson",
        (ZOU, WILLIAMS),
        is_of_draws=True,
    ),
)
STATISTICS = {statistic.key: statistic for statistic in _ALL}


class QuestionError(MessageError, ValueError):
    """A question names an unknown statistic, grouping or test."""


@dataclass(frozen=True)
class Question:
    """A statistic, how it is grouped and how differences are tested."""

    statistic: Statistic
    grouping: str
    test: str

    @property
    def key(self) -> str:
        """Return the question as a short text, which `parse` reads."""
        return f"{self.statistic.key}/{self.grouping}/{self.test}"

    @property
    def label(self) -> Message:
        """Return the name for headings and captions."""
        label = self.statistic.label
        if len(self.statistic.groupings) == 1:
            return label
        return with_grouping(label, self.grouping)

    @property
    def measure(self) -> Measure:
        """Return the measure as this package's functions take it."""
        grouping = SYSTEM_LEVEL if self.statistic.level == SYSTEM else self.grouping
        return Measure(self.statistic.correlation, grouping, self.statistic.variant)


def parse(key: str) -> Question:
    """Return the question of a key; raises QuestionError for unknown parts.

    Parts missing from the right are the statistic's defaults.
    """
    name, grouping, test = (*key.split("/"), "", "")[:3]
    if name not in STATISTICS:
        raise QuestionError(
            message(
                "question.unknown-statistic",
                "Unknown statistic: {value}. Expected one of: {allowed}.",
                value=name,
                allowed=list(STATISTICS),
            )
        )
    statistic = STATISTICS[name]
    if grouping and grouping not in statistic.groupings:
        raise QuestionError(
            message(
                "question.unknown-grouping",
                "Unknown grouping for {statistic}: {value}. Expected one of: {allowed}.",
                statistic=name,
                value=grouping,
                allowed=list(statistic.groupings),
            )
        )
    if test and test not in statistic.tests:
        raise QuestionError(
            message(
                "question.unknown-test",
                "Unknown test for {statistic}: {value}. Expected one of: {allowed}.",
                statistic=name,
                value=test,
                allowed=list(statistic.tests),
            )
        )
    return Question(statistic, grouping or statistic.groupings[0], test or statistic.tests[0])
