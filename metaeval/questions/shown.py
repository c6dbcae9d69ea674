"""What is made of an answer: the order of metrics, and p-values corrected for many tests."""

from __future__ import annotations

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.multiplicity import adjust_pvalues

ALPHA = 0.05
CORRECTIONS = {
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "bh": "Benjamini–Hochberg",
    "none": "none",
}
SCOPES = {"table": "all pairs", "row": "each row"}


def order_of(values: FloatArray) -> list[int]:
    """Return the metrics' places, best first; those without a value last."""
    lowest = np.where(np.isnan(values), -np.inf, values)
    return sorted(range(len(values)), key=lambda place: -lowest[place])


def adjusted(
    pvalues: FloatArray, correction: str, scope: str, n_resamples: int | None
) -> tuple[FloatArray, list[str]]:
    """Return corrected one-sided p-values, metrics x metrics, and warnings.

    `table`: one family of all pairs, each with the smaller of its two p-values, the other nan;
    `row`: one family a row (Deutsch et al. 2021, who draw both).
    """
    table = np.array(pvalues, dtype=np.float64)
    if not table.size:
        return table, []
    if scope == "table":
        # Each pair enters the family once.
        below = np.tri(len(table), k=-1, dtype=bool)
        table[(table > table.T) | ((table == table.T) & below)] = np.nan
    if correction == "none":
        return table, []
    families = [table] if scope == "table" else list(table)
    found = [
        adjust_pvalues(family, method=correction, alpha=ALPHA, n_resamples=n_resamples)
        for family in families
    ]
    notes = dict.fromkeys(warning.message for one in found for warning in one.warnings)
    rows = found[0].pvalues if scope == "table" else np.array([one.pvalues for one in found])
    return rows, list(notes)
