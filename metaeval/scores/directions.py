"""Whether a larger score means better: inferred from what scores are called and from their signs.

Error rates and penalties fall with quality. Many are published with their sign turned, so that the
name alone does not say it: where the scores are negative, higher is better. MQM is either: the sum
of the errors' weights (Freitag et al. 2021), or minus that sum, as WMT publishes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

# Words in the names of measures that fall with quality, as their authors define them.
ERRORS = frozenset(
    (
        *("ter", "hter", "terp", "wer", "per", "cer", "cder", "bwer", "eed", "character"),
        *("perplexity", "ppl", "nll", "loss", "metricx", "distance"),
        *("error", "errors", "penalty", "penalties"),
    )
)
# Beside these, a word of the others does not name an error rate: F1 of error detection, error-free.
NOT_ERRORS = frozenset(("free", "f", "accuracy", "detection", "precision", "recall", "without"))
TURNED = frozenset(("neg", "negative", "negated", "minus", "inverse", "inverted"))
MQM = "mqm"
# A metric whose name has other words beside MQM was trained on it, such as COMET-MQM.
BESIDE_MQM = frozenset(
    (
        *("mean", "avg", "average", "sum", "total", "score", "scores", "human", "raw", "published"),
        *(
            "merged",
            "rater",
            "round",
            "col",
            "seg",
            "sys",
            "segment",
            "system",
            "gemba",
            "weighted",
        ),
    )
)


# How much of the scores may lie beyond the best one, as a share of their sum.
OVERSHOOT = 0.05
# So few scores do not show how they are spread.
FEW = 5


@dataclass(frozen=True)
class Direction:
    """The direction of some scores and why; ``is_lower`` is None where it has to be stated."""

    is_lower: bool | None
    reason: str

    def __str__(self) -> str:
        if self.is_lower is None:
            return f"it is not clear whether higher or lower is better: {self.reason}"
        if self.is_lower:
            return f"lower is better: {self.reason}"
        return f"higher is better: {self.reason}"


STATED_LOWER = Direction(is_lower=True, reason="as stated")
STATED_HIGHER = Direction(is_lower=False, reason="as stated")


def stated_direction(*, is_lower: bool) -> Direction:
    """Return the direction that somebody stated."""
    return STATED_LOWER if is_lower else STATED_HIGHER


def infer_direction(name: str, values: Iterable[float], *, is_human: bool = False) -> Direction:
    """Infer from a name and all its scores (nan: missing) whether lower is better.

    Parameters
    ----------
    is_human
        The scores are those of humans: there every name with MQM counts errors, while a metric
        such as COMET-MQM was trained on it.

    Examples
    --------
    >>> print(infer_direction("mean_penalty", [0.42, 5.5]))
    lower is better: the name is that of an error rate or penalty, and the scores are positive
    >>> infer_direction("mqm", [-5.0, 0.0], is_human=True).is_lower
    False
    >>> infer_direction("COMET-MQM", [0.1, 0.9]).is_lower
    False
    """
    scores = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=float)
    scores = scores[np.isfinite(scores)]
    words = words_of(name)
    is_mqm = MQM in words and (is_human or words <= BESIDE_MQM | {MQM})
    if not len(scores) or (not is_mqm and (not words & ERRORS or words & NOT_ERRORS)):
        return Direction(is_lower=False, reason="no word of the name says otherwise")
    negative, positive = -scores[scores < 0].sum(), scores[scores > 0].sum()
    # Trained metrics go a little beyond 0, the best score.
    has_negative = negative > OVERSHOOT * positive
    has_positive = positive > OVERSHOOT * negative
    what = "MQM counts errors" if is_mqm else "the name is that of an error rate or penalty"
    if has_negative and not has_positive:
        reason = f"{what}, and the scores are negative: the sign is turned already"
        return Direction(is_lower=False, reason=reason)
    if has_negative:
        return Direction(
            is_lower=None, reason=f"{what}, but there are positive and negative scores"
        )
    if words & TURNED or re.match(r"\s*1\s*[-−–]", name):
        reason = f"{what}, and says that it is turned, but the scores are positive"
        return Direction(is_lower=None, reason=reason)
    if is_mqm and (most := points(scores)):
        reason = f"{what}, but the scores may be points out of {most:g}"
        return Direction(is_lower=None, reason=reason)
    return Direction(is_lower=True, reason=f"{what}, and the scores are positive")


def words_of(name: str) -> frozenset[str]:
    """Return the words of a name in lower case: those between signs, and those of CamelCase.

    Examples
    --------
    >>> sorted(words_of("mean_penalty")), sorted(words_of("MetricX-24"))
    (['mean', 'penalty'], ['metric', 'metricx', 'x'])
    """
    parts = re.split(r"[^A-Za-z]+", name)
    camels = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return frozenset(part.lower() for part in (*parts, *camels) if part)


def points(scores: np.ndarray) -> float:  # type: ignore[type-arg]
    """Return the best possible score, 1 or 100, where MQM may be points; 0 where it is not.

    Penalties crowd near 0, points near the best: the median lies in their upper half.
    """
    if len(scores) < FEW:
        return 0
    largest, median = float(scores.max()), float(np.median(scores))
    return next((m for m in (1, 100) if 0.9 * m < largest <= m and median > m / 2), 0)
