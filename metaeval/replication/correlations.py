"""The table of correlations of metrics with humans, which is the same for all questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.correlation.coefficients import correlate, system_correlation
from metaeval.replication.questions.scored import Scored
from metaeval.results import Result


@dataclass(frozen=True, kw_only=True, eq=False)
class CorrelationRow(Result):
    """One metric, oriented so that larger is better; nan if undefined.

    ``tau`` is Kendall's τ-b and ``r_segment`` Pearson's r over all ``n`` outputs pooled;
    ``n_missing`` judged outputs have no score. ``r_system`` is Pearson's r over the systems,
    ``r_hybrid`` over hybrid systems, and ``r_limit`` its limit as their number grows.
    """

    metric: str
    n_missing: int
    tau: float
    r_segment: float
    n_systems: int
    r_system: float
    r_hybrid: float
    r_limit: float


def correlation_table(scored: Scored) -> list[CorrelationRow]:
    """Return every metric's correlations, each over the outputs that it and the humans scored.

    Hybrids are drawn from what all metrics have. The warnings of hybrids are in `Scored.hybrids`.
    """
    hybrids = scored.oriented_hybrids()
    return [_row(scored, key, *hybrids.get(key, (np.nan, np.nan))) for key in scored.metrics]


def _row(scored: Scored, key: str, r_hybrid: float, r_limit: float) -> CorrelationRow:
    metric = scored.human.with_values(scored.oriented(key).values)
    tau, r = (
        correlate(scored.human, metric, name, has_interval=False) for name in ("kendall", "pearson")
    )
    systems = system_correlation(*scored.system_level(key))
    # A metric that has only system scores needs no warning about its outputs.
    is_of_outputs = scored.human.mask.any() and metric.mask.any()
    found = (*tau.warnings, *r.warnings) if is_of_outputs else ()
    return CorrelationRow(
        n=tau.n,
        warnings=(*found, *systems.warnings),
        metric=key,
        n_missing=int((scored.human.mask & ~metric.mask).sum()),
        tau=tau.statistic,
        r_segment=r.statistic,
        n_systems=systems.n,
        r_system=systems.statistic,
        r_hybrid=r_hybrid,
        r_limit=r_limit,
    )
