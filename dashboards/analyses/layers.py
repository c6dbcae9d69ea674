"""Correlation by layer for every metric that keeps several, and the layer chosen on folds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.filters import FilterError, Filters
from annotation.models import Campaign
from dashboards.analyses import about
from dashboards.analyses.significance import plain
from dashboards.layers import Choice, choose, layers_of, profile
from dashboards.selectors import HumanScores, human_scores
from metrics.base import MetricInfo
from metrics.catalogue import infos
from metrics.scores import ScoreTable, system_scores

VERSION = 2
DEFAULT = "limit"
STATISTICS = {
    "limit": "System level, Pearson r over hybrids (limit)",
    "kendall": "Segment level, Kendall τ-b",
    "pearson": "Segment level, Pearson r",
}


@dataclass(frozen=True)
class Asked:
    """The analysis by one correlation."""

    correlation: str
    VERSION: int = VERSION

    def compute(self, campaign: Campaign, filters: Filters) -> dict[str, Any]:
        """Return, by metric, every layer's correlation over all segments and by fold."""
        human = human_scores(campaign, filters)
        layered = {name: info for name, info in infos(retired=True).items() if layers_of(info)}
        table = system_scores(campaign.test_set, human.systems, all_of=layered)
        metrics = (
            [
                self._metric(info, human, table)
                for name, info in layered.items()
                if any(measure.metric == name for measure in table.measures.values())
            ]
            if human.n
            else []
        )
        return {
            **about(campaign),
            "human_scores": human.source,
            "n_judged": human.n,
            "correlation": self.correlation,
            "statistic_label": STATISTICS[self.correlation],
            "metrics": metrics,
            "warnings": list(human.warnings),
            "rows": [
                {"campaign": campaign.slug, "metric": metric["metric"], **row}
                for metric in metrics
                for row in metric["rows"]
            ],
        }

    def _metric(self, info: MetricInfo, human: HumanScores, table: ScoreTable) -> dict[str, Any]:
        places = layers_of(info)
        measures = {key: m for key, m in table.measures.items() if key in places}
        sign = 1.0 if info.higher_is_better else -1.0
        matrices = {key: human.matrix(sign * m.values) for key, m in measures.items()}
        found = profile(human.matrix(), matrices, self.correlation)
        chosen = choose([found])
        values = plain(found.values)
        cells = ~np.isnan(human.values) & ~np.isnan(next(iter(measures.values())).values)
        return {
            "metric": info.name,
            "label": info.label,
            "checkpoint": info.checkpoint,
            "n": int(cells.sum()),
            "rows": [
                {
                    "key": key,
                    "layer": places[key][0],
                    "part": places[key][1],
                    "value": values[index],
                    "is_recommended": bool(chosen and chosen.recommended == index),
                    "is_best": bool(chosen and chosen.best == index),
                }
                for index, key in enumerate(measures)
            ],
            "choice": choice_document(chosen, list(measures), values),
            "train": plain(found.train),
            "held_out": plain(found.held_out),
        }


def choice_document(
    chosen: Choice | None, keys: list[str], values: list[float | None]
) -> dict[str, Any] | None:
    """Return a choice as plain values."""
    if chosen is None:
        return None
    return {
        "recommended": keys[chosen.recommended],
        "recommended_value": values[chosen.recommended],
        "n_agreeing": chosen.n_agreeing,
        "n_folds": chosen.n_folds,
        "held_out": None if np.isnan(chosen.held_out) else chosen.held_out,
        "best": keys[chosen.best],
        "best_value": values[chosen.best],
        "best_by_fold": None if np.isnan(chosen.best_by_fold) else chosen.best_by_fold,
    }


def asked(question: str) -> Asked:
    """Return the analysis by a correlation; FilterError where there is no such."""
    if question not in STATISTICS:
        known = ", ".join(STATISTICS)
        raise FilterError(f"statistic must be one of {known}, not {question!r}")
    return Asked(question)


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Answer the default question."""
    return asked(DEFAULT).compute(campaign, filters)
