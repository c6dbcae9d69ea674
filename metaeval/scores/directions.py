"""Infer from names and signs of scores whether a larger score means better.

Error rates and penalties fall with quality. Many are published with the opposite sign, so the name
alone is not enough: if the scores are negative, higher is better. MQM is either the sum of the
errors' weights (Freitag et al. 2021), or minus that sum, as WMT publishes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.messages import Message, message

# Words in the names of measures that fall with quality, as their authors define them.
ERRORS = frozenset(
    (
        *("ter", "hter", "terp", "wer", "per", "cer", "cder", "bwer", "eed", "character"),
        *("perplexity", "ppl", "nll", "loss", "metricx", "distance"),
        *("error", "errors", "penalty", "penalties"),
    )
)
# Together with these words, the others do not name an error rate: F1 of error detection.
NOT_ERRORS = frozenset(("free", "f", "accuracy", "detection", "precision", "recall", "without"))
# Rank 1 is the best. Metrics have such names for other reasons: they were trained on ranks.
RANKS = frozenset(("rank", "ranks", "ranking"))
NEGATED = frozenset(("neg", "negative", "negated", "minus", "inverse", "inverted"))
MQM = "mqm"
# A metric whose name has other words than these besides MQM was trained on it, such as COMET-MQM.
WITH_MQM = frozenset(
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


# How much of the scores may exceed the best possible one, as a share of their sum.
OVERSHOOT = 0.05
# With fewer scores, their distribution is unknown.
FEW = 5


@dataclass(frozen=True)
class Direction:
    """The direction of scores and the reason; ``is_lower`` is None if it has to be stated."""

    is_lower: bool | None
    reason: Message

    @property
    def message(self) -> Message:
        """The direction with its reason, as a clause."""
        if self.is_lower is None:
            return message(
                "direction.unclear",
                "it is unclear whether higher or lower is better: {reason}",
                reason=self.reason,
            )
        if self.is_lower:
            return message("direction.lower", "lower is better: {reason}", reason=self.reason)
        return message("direction.higher", "higher is better: {reason}", reason=self.reason)

    def __str__(self) -> str:
        return self.message.text


STATED = message("direction.stated", "as stated")
STATED_LOWER = Direction(is_lower=True, reason=STATED)
STATED_HIGHER = Direction(is_lower=False, reason=STATED)
USUAL = message("direction.usual", "no word of the name suggests otherwise")
COUNTS_ERRORS = message("direction.mqm", "MQM counts errors")
RANK = message("direction.rank", "rank 1 is the best")
ERROR_RATE = message("direction.error-rate", "the name is that of an error rate or penalty")


def stated_direction(*, is_lower: bool) -> Direction:
    """Return a direction that was stated."""
    return STATED_LOWER if is_lower else STATED_HIGHER


def infer_direction(name: str, values: Iterable[float], *, is_human: bool = False) -> Direction:
    """Infer from a name and all its scores (nan: missing) whether lower is better.

    Parameters
    ----------
    is_human
        The scores are those of humans. Their name with MQM always counts errors, while a metric
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
    if is_human and words & RANKS:
        return Direction(is_lower=True, reason=RANK)
    is_mqm = MQM in words and (is_human or words <= WITH_MQM | {MQM})
    if not len(scores) or (not is_mqm and (not words & ERRORS or words & NOT_ERRORS)):
        return Direction(is_lower=False, reason=USUAL)
    is_lower, reason = _of_errors(name, scores, is_mqm=is_mqm)
    return Direction(is_lower=is_lower, reason=reason)


def _of_errors(name: str, scores: FloatArray, *, is_mqm: bool) -> tuple[bool | None, Message]:
    """Return the direction of scores whose name is one of errors, and the reason."""
    meaning = COUNTS_ERRORS if is_mqm else ERROR_RATE
    negative, positive = -scores[scores < 0].sum(), scores[scores > 0].sum()
    # Scores of trained metrics may slightly exceed 0, the best score.
    has_negative = negative > OVERSHOOT * positive
    has_positive = positive > OVERSHOOT * negative
    if has_negative and not has_positive:
        return False, message(
            "direction.negated",
            "{meaning}, but the scores are negative, so they are already negated",
            meaning=meaning,
        )
    if has_negative:
        return None, message(
            "direction.mixed-signs",
            "{meaning}, but there are positive and negative scores",
            meaning=meaning,
        )
    if words_of(name) & NEGATED or re.match(r"\s*1\s*[-−–]", name):
        return None, message(
            "direction.negated-name",
            "{meaning}, and the name says that the scores are negated, but they are positive",
            meaning=meaning,
        )
    if is_mqm and (most := points(scores)):
        return None, message(
            "direction.points",
            "{meaning}, but the scores may be points out of {most}",
            meaning=meaning,
            most=most,
        )
    return True, message(
        "direction.positive", "{meaning}, and the scores are positive", meaning=meaning
    )


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
    """Return the best possible score, 1 or 100, if MQM scores may be points, else 0.

    Penalties are mostly near 0, points near the best score: their median is in the upper half.
    """
    if len(scores) < FEW:
        return 0
    largest, median = float(scores.max()), float(np.median(scores))
    return next((m for m in (1, 100) if 0.9 * m < largest <= m and median > m / 2), 0)
