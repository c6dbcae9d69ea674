"""One number from several passes, and one list of spans."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from metrics.error_spans import FoundSpan

# Of spans those are kept that so large a share of the passes marks.
MAJORITY = 0.5


def pool(scores: Sequence[float], rule: str) -> float:
    """Pool the scores of passes: `trimmed mean`, `mean` or `median`.

    The trimmed mean leaves out what is more than two standard deviations (ddof 0) from the mean.
    GEMBA-MQM V2 (2025.wmt-1.67) drops outliers, too, by a rule that its paper does not give.
    """
    values = np.asarray(scores, dtype=np.float64)
    if rule == "median":
        return float(np.median(values))
    if rule == "trimmed mean":
        values = values[np.abs(values - values.mean()) <= 2 * values.std() + 1e-12]
    return float(values.mean())


def spread(scores: Sequence[float]) -> float:
    """Return the standard deviation over passes (ddof 1); 0 of a single one."""
    return float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0


def agreed(passes: Sequence[Sequence[FoundSpan]]) -> list[FoundSpan]:
    """Return the spans that at least half of the passes mark, with that share as confidence.

    Spans are the same where side, place and severity are; of their categories the commonest counts,
    of equally common ones the first. Those of a single pass have no confidence.
    """
    if len(passes) == 1:
        return list(passes[0])
    counts: Counter[FoundSpan] = Counter()
    categories: dict[FoundSpan, Counter[str]] = {}
    for spans in passes:
        # A pass marks a place once; errors without a place are told apart by nothing.
        for bare in dict.fromkeys(replace(span, category="") for span in spans):
            counts[bare] += 1
            named = (s.category for s in spans if replace(s, category="") == bare)
            categories.setdefault(bare, Counter()).update(named)
    return [
        replace(bare, category=categories[bare].most_common(1)[0][0], confidence=n / len(passes))
        for bare, n in counts.items()
        if n / len(passes) >= MAJORITY
    ]
