"""Power of a trial of prefilled spans, paired over annotators.

Standard deviations are those in the logs of Zouhar et al. (2025, ESA^AI) if they could be
estimated, and assumptions otherwise. Each has its default below, and can be changed by argument.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, logit, stdtrit

from metaeval.arrays import FloatArray, at_least, fraction, positive_int

# Standard deviations: of one log time around its expectation (observed: 0.9 to 1.2), of the change
# in log time between annotators, of logits between annotators (acceptance, missed errors), and of
# the change in logits between annotators.
LOG_TIME, OWN_CHANGE, ACCEPTING, MISSING, OWN_MISSING = 1.05, 0.2, 0.8, 0.6, 0.3
NODES = 40


def mean_power(
    change: float,
    n_annotators: int,
    n_outputs: int,
    *,
    residual_sd: float = LOG_TIME,
    change_sd: float = OWN_CHANGE,
    design_effect: float = 1.0,
    alpha: float = 0.05,
) -> float:
    """Return the power of a two-sided paired t test over annotators.

    ``change`` is a difference of log times (log 0.8 for a fifth less) or of scores. ``n_outputs``
    is the number of outputs per annotator and condition; their residuals count as n_outputs /
    ``design_effect`` independent ones, 1 + (m - 1) rho for documents of m outputs whose residuals
    correlate by rho.

    >>> round(mean_power(np.log(0.8), 20, 50), 2)
    0.9
    >>> round(mean_power(np.log(0.8), 20, 50, design_effect=2.0), 2)
    0.75
    """
    positive_int("n_outputs", n_outputs)
    variance = 2 * residual_sd**2 * _effect(design_effect) / n_outputs + change_sd**2
    return _power(change, variance, n_annotators, alpha)


def rate_power(
    blank: float,
    treated: float,
    n_annotators: int,
    n_regions: int,
    *,
    annotator_sd: float = MISSING,
    change_sd: float = OWN_MISSING,
    design_effect: float = 1.0,
    alpha: float = 0.05,
) -> float:
    """Return the power to detect a difference of two rates, paired over annotators.

    ``n_regions`` is the number of regions per annotator and condition. The rates are those of the
    median annotator; logits of annotators have the standard deviation ``annotator_sd``, their
    changes ``change_sd``. ``design_effect`` as for `mean_power`, of the regions of a document.

    >>> round(rate_power(0.3, 0.4, 20, 20), 2)
    0.72
    """
    for name, rate in (("blank", blank), ("treated", treated)):
        fraction(name, rate)
    positive_int("n_regions", n_regions)
    nodes, weights = _normal()
    own = annotator_sd * nodes
    first = expit(logit(blank) + own)
    second = expit(logit(treated) + own[:, None] + change_sd * nodes[None, :])
    both = np.multiply.outer(weights, weights)
    gaps = second - first[:, None]
    between = float((both * gaps**2).sum() - (both * gaps).sum() ** 2)
    noise = float((weights * first * (1 - first)).sum() + (both * second * (1 - second)).sum())
    change = float((both * gaps).sum())
    noise *= _effect(design_effect)
    return _power(change, between + noise / n_regions, n_annotators, alpha)


def rate_half_width(
    rate: float,
    n_annotators: int,
    n_regions: int,
    *,
    annotator_sd: float = ACCEPTING,
    design_effect: float = 1.0,
    confidence: float = 0.95,
) -> float:
    """Return half the expected width of the interval of one rate, annotators as units.

    ``design_effect`` as for `mean_power`, of the regions of a document.
    """
    fraction("rate", rate)
    nodes, weights = _normal()
    rates = expit(logit(rate) + annotator_sd * nodes)
    variance = float((weights * rates**2).sum() - (weights * rates).sum() ** 2)
    noise = float((weights * rates * (1 - rates)).sum()) * _effect(design_effect)
    variance += noise / n_regions
    reach = float(stdtrit(n_annotators - 1, (1 + confidence) / 2))
    return reach * float(np.sqrt(variance / n_annotators))


def smallest_change(
    power_of: Callable[[float], float], *, power: float = 0.8, largest: float = 3.0
) -> float | None:
    """Return the smallest change, up to ``largest``, that is detected with this power, or None.

    ``power_of`` grows with the change.

    >>> round(float(np.exp(-smallest_change(lambda change: mean_power(change, 20, 50)))), 2)
    0.83
    """
    fraction("power", power)
    low, high = 0.0, largest
    if power_of(high) < power:
        return None
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(middle) >= power else (middle, high)
    return high


def _effect(value: float) -> float:
    return at_least("design_effect", value, 1)


def _normal() -> tuple[FloatArray, FloatArray]:
    """Places and weights that integrate over a standard normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)  # type: ignore[no-untyped-call]
    return nodes, weights / weights.sum()


def _power(change: float, variance: float, n_annotators: int, alpha: float) -> float:
    from scipy.stats import nct

    fraction("alpha", alpha)
    at_least("n_annotators", n_annotators, 2)
    degrees = n_annotators - 1
    bound = float(stdtrit(degrees, 1 - alpha / 2))
    centre = abs(change) / float(np.sqrt(variance / n_annotators))
    # For large values scipy returns nan for the other tail, which is 0 there.
    other = float(np.nan_to_num(nct.cdf(-bound, degrees, centre)))
    return float(nct.sf(bound, degrees, centre)) + other
