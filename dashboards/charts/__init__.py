"""Figures, each drawn once: a pure function from a page's document to a Vega-Lite specification.

A figure's function returns None where its document has nothing to draw. `description` says in
words what a figure shows; a specification without one is refused (`dashboards.charts.files`).
"""

from collections.abc import Callable
from typing import Any

from dashboards.charts import (
    correlations,
    layers,
    overview,
    results,
    scatter,
    significance,
    studies,
    whatif,
)
from dashboards.charts.style import Spec

Draw = Callable[[Any], Spec | None]

# Kind of analysis -> name in the address -> what draws it; a study's kinds begin with `study-`.
FIGURES: dict[str, dict[str, Draw]] = {
    "results": {"metrics": results.metrics, "systems": results.systems},
    "correlations": {"intervals": correlations.intervals},
    "study-correlations": {"matrix": studies.matrix},
    "significance": {"heatmap": significance.heat_map},
    "study-significance": {"heatmaps": significance.heat_maps},
    "layers": {"profiles": layers.profiles},
    "study-layers": {"profiles": layers.profiles},
    "overview": {
        "scores": overview.annotator_distributions,
        "drift": overview.drift_of_scores,
        "pace": overview.drift_of_seconds,
    },
    "whatif": {"segments": whatif.movement, "systems": whatif.movement_over_systems},
    "samplesize": {"segments": whatif.sample_size_curves, "systems": whatif.curves_over_systems},
    "scatter": {"points": scatter.points},
    "systems": {"ranking": results.ranking, "strips": results.strips},
}
