"""Every metric against every other by one statistic: values, differences, intervals and p."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.documents.kinds import about
from dashboards.pages import statistics
from dashboards.pages.statistics import Question
from dashboards.panel.human import Floats
from dashboards.panel.panel import Panel, read_panel
from metaeval.replication.questions import Comparison, answer, can_answer

VERSION = 5
DEFAULT = "tau-b"


@dataclass(frozen=True)
class Asked:
    """The analysis of one question."""

    question: Question
    VERSION: int = VERSION

    def compute(self, campaign: Campaign, filters: Filters) -> dict[str, Any]:
        """Return matrices with metrics in the order of the registry."""
        panel = read_panel(campaign, filters)
        return {
            **about(campaign),
            "human_scores": panel.human.source,
            "n_outputs": panel.n_outputs,
            "n_judged": panel.human.n,
            "seed": panel.seed,
            **comparison_document(panel, self.question),
        }


def asked(question: str) -> Asked:
    """Return the analysis of a question; FilterError where there is no such."""
    return Asked(statistics.parse(question))


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Answer the default question."""
    return asked(DEFAULT).compute(campaign, filters)


def comparison_document(panel: Panel, question: Question) -> dict[str, Any]:
    """Return a comparison as plain values; without any metrics where nothing can be compared."""
    is_there = can_answer(panel.scored, question)
    found = _found(panel, answer(panel.scored, question)) if is_there else _none()
    return asked_fields(question) | found


def asked_fields(question: Question) -> dict[str, Any]:
    """Return what was asked, for documents."""
    return {
        "statistic": question.statistic.key,
        "statistic_label": question.label,
        "level": question.statistic.level,
        "grouping": question.grouping,
        "test": question.test,
        "is_of_draws": question.statistic.is_of_draws,
    }


def measure_rows(panel: Panel, values: Floats) -> list[dict[str, Any]]:
    """Return a row a measure, with its value of the question."""
    return [
        {
            "key": measure.key,
            "label": measure.label,
            "metric": measure.metric,
            "signature": measure.signature,
            "origin": measure.origin,
            "is_turned": not measure.higher_is_better,
            "value": value,
        }
        for measure, value in zip(panel.measures.values(), plain(values), strict=True)
    ]


def _none() -> dict[str, Any]:
    names = ("differences", "difference_lows", "difference_highs", "pvalues")
    return {
        "n": 0,
        "n_systems": 0,
        "n_segments": 0,
        "n_informative": 0,
        "interval": "",
        "interval_about": "",
        "test_label": "",
        "n_permutations": None,
        "chance": 0.0,
        "comparison_warnings": [],
        "metrics": [],
        **{name: [] for name in names},
    }


def _found(panel: Panel, found: Comparison) -> dict[str, Any]:
    lows, highs = plain(found.lows), plain(found.highs)
    metrics = [
        row | {"low": low, "high": high}
        for row, low, high in zip(measure_rows(panel, found.values), lows, highs, strict=True)
    ]
    return {
        "n": found.n,
        "n_systems": found.n_systems,
        "n_segments": found.n_segments,
        "n_informative": found.n_informative,
        "interval": found.interval,
        "interval_about": found.about,
        "test_label": found.test,
        "n_permutations": found.n_permutations,
        "chance": found.chance,
        "comparison_warnings": list(found.warnings),
        "metrics": metrics,
        "differences": plain(found.differences),
        "difference_lows": plain(found.difference_lows),
        "difference_highs": plain(found.difference_highs),
        "pvalues": plain(found.pvalues),
    }


def plain(values: Floats) -> list[Any]:
    """Return an array as lists, with None for what is not finite."""
    plain_values = values.astype(object)
    plain_values[~np.isfinite(values)] = None
    listed: list[Any] = plain_values.tolist()
    return listed
