"""How annotators use the scale: quantiles of their scores, and rolling means over their work."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import as_floats, mean, positive_int
from metaeval.results import Notes, Result

_QUANTILES = {"min": 0, "q05": 5, "q25": 25, "median": 50, "q75": 75, "q95": 95, "max": 100}


@dataclass(frozen=True, kw_only=True, eq=False)
class Spread(Result):
    """Mean, standard deviation (ddof 1), five numbers and the ends of the middle nine tenths.

    nan where undefined: all without values, ``sd`` of one alone.
    """

    mean: float
    sd: float
    min: float
    q05: float
    q25: float
    median: float
    q75: float
    q95: float
    max: float


def spread(values: ArrayLike) -> Spread:
    """Describe values; nan is excluded and counted. Quantiles are linear (numpy's default).

    Examples
    --------
    >>> found = spread([0, 10, 20, 30])
    >>> found.mean, found.median, found.q25
    (15.0, 15.0, 7.5)
    """
    scores, notes = as_floats("values", values, ndim=1), Notes()
    known = scores[~np.isnan(scores)]
    notes.exclude("missing-value", len(scores) - len(known))
    found = np.percentile(known, [*_QUANTILES.values()]) if len(known) else np.full(7, np.nan)
    quantiles: dict[str, Any] = dict(zip(_QUANTILES, found.tolist(), strict=True))
    return Spread(
        n=len(known),
        **notes.fields,
        mean=mean(known),
        sd=float(known.std(ddof=1)) if len(known) > 1 else np.nan,
        **quantiles,
    )


def rolling_means(
    values: ArrayLike, *, width: int = 10, most: int = 20
) -> list[tuple[float, float]]:
    """Return (position, mean) of adjacent windows: at most ``most``, of ``width`` values or more.

    Positions count from 1, and the position of a window is the mean position of its values; nan has
    a position, but is in no window. Without values there are no windows.

    Examples
    --------
    >>> rolling_means([1, 2, 3, 4], width=2)
    [(1.5, 1.5), (3.5, 3.5)]
    """
    scores = as_floats("values", values, ndim=1)
    positive_int("width", width)
    known = np.flatnonzero(~np.isnan(scores))
    windows = min(positive_int("most", most), max(1, len(known) // width))
    parts = [part for part in np.array_split(known, windows) if len(part)]
    return [(float(np.mean(part)) + 1.0, float(np.mean(scores[part]))) for part in parts]
