"""Human judgments: standard scores, means, spread, drift, severity.

`agreement` is between annotators, `controls` about planted items, `planning` about how many
judgments to collect and where, `trial` about what prefilled error spans change.
"""

from metaeval.judgments import agreement, controls, planning, trial
from metaeval.judgments.drift import Drift, drift
from metaeval.judgments.severity import Severity, annotator_severity
from metaeval.judgments.spread import Spread, rolling_means, spread
from metaeval.judgments.standardize import MeanScores, ZScores, mean_scores, z_scores

__all__ = [
    "Drift",
    "MeanScores",
    "Severity",
    "Spread",
    "ZScores",
    "agreement",
    "annotator_severity",
    "controls",
    "drift",
    "mean_scores",
    "planning",
    "rolling_means",
    "spread",
    "trial",
    "z_scores",
]
__dir__ = __all__.copy
