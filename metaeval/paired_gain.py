"""The gain in accuracy on the same texts, with an interval that holds for few of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import as_floats, fraction
from metaeval.results import Interval, Notes, StatisticResult, TooFewWarning

# Fewer texts leave nearly everything possible.
FEWEST = 5
ADDED = 1.5
METHOD = "adjusted Wald of paired proportions, t distribution"


def paired_gain(
    before: ArrayLike, after: ArrayLike, *, confidence: float = 0.95
) -> StatisticResult:
    """Share of texts that are right after, less the share that were right before.

    With b texts gained and c lost of n: p = (b + 1.5)/(n + 3), q = (c + 1.5)/(n + 3), and
    p - q ± t_{n-1} sqrt((p + q - (p - q)²)/(n + 3)). Bonett and Price (2012, "Adjusted Wald
    confidence interval for a difference of binomial proportions based on paired data") add 1 and
    take the normal quantile, which covers down to 87 % below 20 texts; so, it is 94 % or more for
    every n and every truth (enumerated).

    Parameters
    ----------
    before, after
        1 or True where the text was right, in the same order.

    Raises
    ------
    ValueError
        Different lengths, no text, or a value that is neither 0 nor 1.

    Warns
    -----
    TooFewWarning
        Fewer than 5 texts: no interval.

    Examples
    --------
    >>> result = paired_gain([0] * 8 + [1] * 2, [1] * 6 + [0] * 4)
    >>> result.statistic, [round(end, 2) for end in result.interval[:2]]
    (0.4, [-0.24, 0.85])
    """
    first, second = as_floats("before", before, ndim=1), as_floats("after", after, ndim=1)
    fraction("confidence", confidence)
    n, notes = len(first), Notes()
    if n != len(second) or not n:
        raise ValueError(f"before and after: {n} and {len(second)} texts cannot be paired")
    if not (np.isin(first, (0.0, 1.0)).all() and np.isin(second, (0.0, 1.0)).all()):
        raise ValueError("before and after: expected 0 or 1 for every text")
    gained, lost = int((second > first).sum()), int((second < first).sum())
    if n < FEWEST:
        said = f"{n} held-out text{'s are' if n > 1 else ' is'} too few for an interval of the gain"
        notes.warn(TooFewWarning(f"{said}: {FEWEST} are needed."))
    interval = _interval(gained, lost, n, confidence) if n >= FEWEST else None
    return StatisticResult(
        n=n,
        warnings=notes.warnings,
        statistic=(gained - lost) / n,
        interval=interval,
        method=METHOD if interval else "",
    )


def _interval(gained: int, lost: int, n: int, confidence: float) -> Interval:
    from scipy import stats

    p, q = ((each + ADDED) / (n + 2 * ADDED) for each in (gained, lost))
    error = np.sqrt((p + q - (p - q) ** 2) / (n + 2 * ADDED))
    half = float(stats.t.ppf((1.0 + confidence) / 2.0, n - 1) * error)
    return Interval(max(p - q - half, -1.0), min(p - q + half, 1.0), confidence)
