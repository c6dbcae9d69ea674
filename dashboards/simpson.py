"""Does a pooled correlation say the same as those within systems? (Simpson 1951)

Pooled over systems a metric can agree with the humans because it knows the better system, while
within every system it ranks the outputs the wrong way round, and the reverse.
"""

from typing import Any

import numpy as np

import metaeval
from dashboards.scatter import Points
from dashboards.selectors import Floats


def by_system(points: Points) -> list[dict[str, Any]]:
    """Return n, means and correlations of every system's own points."""
    pooled = metaeval.pearson(points.x, points.y).statistic if len(points) > 1 else np.nan
    rows = []
    for index, name in enumerate(points.systems):
        own = points.system == index
        if not own.any():
            continue
        x, y = points.x[own], points.y[own]
        r = metaeval.pearson(x, y).statistic
        rows.append(
            {
                "system": name,
                "n": int(own.sum()),
                "mean_x": float(x.mean()),
                "mean_y": float(y.mean()),
                "r": _plain(r),
                "tau": _plain(metaeval.kendall(x, y).statistic),
                "is_opposite": bool(r * pooled < 0),
            }
        )
    return rows


def simpson(points: Points, *, is_pooled: bool) -> tuple[dict[str, Any], list[str]]:
    """Return pooled r and τ, r within systems, and the sentences that a reader needs.

    `r_within` is Pearson's r after each system's own mean is taken off on both sides. With
    `is_pooled` false the points are systems, which nothing lies within.
    """
    pearson, kendall = metaeval.pearson(points.x, points.y), metaeval.kendall(points.x, points.y)
    warnings = dict.fromkeys(w.message for each in (pearson, kendall) for w in each.warnings)
    found: dict[str, Any] = {"r": _plain(pearson.statistic), "tau": _plain(kendall.statistic)}
    found["r_within"], found["is_paradox"] = None, False
    if is_pooled and len(set(points.system.tolist())) > 1:
        sentence = _paradox(points, found)
        warnings = {sentence: None} | warnings if sentence else warnings
    return found, list(warnings)


def _paradox(points: Points, found: dict[str, Any]) -> str:
    within = metaeval.pearson(_centred(points.x, points), _centred(points.y, points)).statistic
    found["r_within"] = _plain(within)
    known = [row for row in by_system(points) if row["r"] is not None]
    opposite = [row["system"] for row in known if row["is_opposite"]]
    is_turned = found["r"] is not None and within * found["r"] < 0
    found["is_paradox"] = bool(is_turned or (known and len(opposite) > len(known) / 2))
    if not found["is_paradox"]:
        return ""
    return (
        f"Simpson’s paradox: pooled over systems r is {found['r']:.3f}, but within systems it is "
        f"{within:.3f}, and {len(opposite)} of {len(known)} systems have the opposite sign. The "
        "pooled value tells systems apart, not their outputs (or the reverse): quote both."
    )


def _centred(values: Floats, points: Points) -> Floats:
    """Values less the mean of their system."""
    sums = np.bincount(points.system, weights=values)
    counts = np.maximum(np.bincount(points.system), 1)
    return np.asarray(values - (sums / counts)[points.system])


def _plain(value: float) -> float | None:
    return None if value != value else float(value)
