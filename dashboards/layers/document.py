"""Correlation by layer for every metric that keeps several, and the layer chosen on folds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.filters import FilterError, Filters
from annotation.models import Campaign
from dashboards.documents.head import head
from dashboards.layers.names import layers_of
from dashboards.pages.selection import listed as plain
from dashboards.panel.panel import Panel, read_panel
from metaeval.sensitivity import Choice, choose, layer_profile
from metrics.base import MetricInfo
from metrics.catalogue import infos

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
        layered = {name: info for name, info in infos(retired=True).items() if layers_of(info)}
        panel = read_panel(campaign, filters, all_of=layered)
        human = panel.human
        keys = {name: layers_of(info).keys() & panel.measures.keys()
                for name, info in layered.items() if human.n}  # fmt: skip
        metrics = [self._metric(layered[name], panel) for name, found in keys.items() if found]
        return {
            **head(campaign, human.source),
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

    def _metric(self, info: MetricInfo, panel: Panel) -> dict[str, Any]:
        places = layers_of(info)
        measures = [key for key in panel.measures if key in places]
        scored = panel.only(measures).scored
        ours, turned = scored.human, {key: scored.turned(key).values for key in measures}
        matrices = {key: ours.with_values(values) for key, values in turned.items()}
        found = layer_profile(ours, matrices, self.correlation)
        chosen = choose([found])
        values = plain(found.values)
        cells = ours.mask & matrices[measures[0]].mask
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
            "choice": choice_document(chosen, measures, values),
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


def compute(campaign: Campaign, filters: Filters, question: str = DEFAULT) -> dict[str, Any]:
    """Answer a question; FilterError where there is no such."""
    return asked(question).compute(campaign, filters)
