"""Whether an annotator reads: what the control items say, and when they say too little.

Bad references are compared with the same annotator's rating of the output they were made from:
a paired one-sided t-test (Graham et al. 2017), or where all differences are equal and t is
undefined, the signed-rank test. Five pairs are the fewest for which a signed-rank test can reach
p ≤ .05 (1/32), so from five on a clear result counts as passing; ten pairs are what published
practice uses, so only from ten on an unclear result counts as failing.

Traps and gold items are passed or not, one by one; from five items on at least 70 % must be.
A screen on which one text is worse by construction asks of every other one that its score is
strictly higher (WMT26: two of three translations, the third with five words rotated): such items
are gold by their rules. Repeats are shown and decide nothing: whoever gives one score to
everything repeats perfectly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotation.models import Item
from annotation.protocols.asked import Scale
from annotation.quality.columns import Floats, JudgmentColumns, Mask
from core.caching import Cache
from metaeval.judgments.controls import (
    ControlTest,
    PassRate,
    RepeatConsistency,
    control_test,
    pass_rate,
    repeat_consistency,
)
from metaeval.remembered import content

ALPHA = 0.05
PAIRS_TO_PASS, PAIRS_TO_FAIL = 5, 10
ITEMS, RATE = 5, 0.7
# A trap is passed up to this share of the scale: 20 of 100.
LOW = 0.2


class Verdict(StrEnum):
    """What all the checks of an annotator come to."""

    PASSES = "passes"
    FAILS = "fails"
    UNKNOWN = "not enough data"


@dataclass(frozen=True)
class Checks:
    """The control items of one annotator; None where there is none of a kind.

    `parts` holds the verdict of every check that has items: bad references, traps, gold.
    """

    bad_references: ControlTest | None
    signed_rank: ControlTest | None
    traps: PassRate | None
    gold: PassRate | None
    repeats: RepeatConsistency | None
    parts: dict[str, Verdict]

    @property
    def verdict(self) -> Verdict:
        """Fails if any check fails, passes if one passes and none fails."""
        return overall(list(self.parts.values()))

    @property
    def failed(self) -> list[str]:
        """The checks that failed."""
        return [name for name, verdict in self.parts.items() if verdict == Verdict.FAILS]


def overall(parts: Sequence[Verdict]) -> Verdict:
    """Fails if any part fails, passes if one passes and none fails."""
    if Verdict.FAILS in parts:
        return Verdict.FAILS
    return Verdict.PASSES if Verdict.PASSES in parts else Verdict.UNKNOWN


def low_score(scale: Scale) -> int:
    """Return the highest score with which a trap is passed."""
    return scale.range_at(0, LOW)[1]


# One more judgment changes the checks of one annotator: those of some thousand others are kept.
_known: "Cache[Checks]" = Cache(4_000)


def check(own: JudgmentColumns, *, scale: Scale | None) -> Checks:
    """Judge one annotator by their own judgments.

    Without the `scale` of their scores there is no telling a low one: traps are not counted then,
    and of gold items those alone that have other rules than a range.
    """
    rests_on = (own.kind, own.item, own.partner, own.score, own.low, own.high, own.keeps)
    key = content(*rests_on, own.beside_control, scale)
    found = _known.get(key)
    if found is None:
        found = _check(own, scale)
        _known.put(key, found, 1)
    return found


def _check(own: JudgmentColumns, scale: Scale | None) -> Checks:
    bad = pairs(own, own.is_kind(Item.Kind.BAD_REF))
    again = pairs(own, own.is_kind(Item.Kind.REPEAT) & ~own.beside_control)
    test = control_test(*bad) if len(bad[0]) else None
    ranks = control_test(*bad, method="wilcoxon") if len(bad[0]) else None
    traps = _traps(own, scale) if scale else None
    gold = _gold(own, scale)
    parts = {}
    if test is not None and ranks is not None:
        parts["bad references"] = of_test(test, ranks)
    parts |= {name: of_rate(rate) for name, rate in (("traps", traps), ("gold", gold)) if rate}
    return Checks(
        bad_references=test,
        signed_rank=ranks,
        traps=traps,
        gold=gold,
        repeats=repeat_consistency(again[1], again[0]) if len(again[0]) else None,
        parts=parts,
    )


def of_test(test: ControlTest, ranks: ControlTest) -> Verdict:
    """The verdict of the test on bad references."""
    p = next((p for p in (test.pvalue, ranks.pvalue) if p is not None and p == p), 1.0)
    if test.n >= PAIRS_TO_PASS and p <= ALPHA:
        return Verdict.PASSES
    return Verdict.FAILS if test.n >= PAIRS_TO_FAIL else Verdict.UNKNOWN


def of_rate(rate: PassRate) -> Verdict:
    """The verdict of traps or of gold items."""
    if rate.n < ITEMS:
        return Verdict.UNKNOWN
    return Verdict.PASSES if rate.statistic >= RATE else Verdict.FAILS


def pairs(own: JudgmentColumns, chosen: Mask) -> tuple[Floats, Floats]:
    """Return an annotator's scores of the chosen controls, and of their partners."""
    score_of = dict(zip(own.item.tolist(), own.score.tolist(), strict=True))
    both = [
        (score, score_of[partner])
        for score, partner in zip(
            own.score[chosen].tolist(), own.partner[chosen].tolist(), strict=True
        )
        if partner in score_of
    ]
    controls, partners = zip(*both, strict=True) if both else ((), ())
    return np.array(controls, dtype=np.float64), np.array(partners, dtype=np.float64)


def _traps(own: JudgmentColumns, scale: Scale) -> PassRate | None:
    scores = own.score[own.is_kind(Item.Kind.TRAP)]
    if not len(scores):
        return None
    return pass_rate(int((scores <= low_score(scale)).sum()), len(scores))


def _gold(own: JudgmentColumns, scale: Scale | None) -> PassRate | None:
    """Gold items within their range and by their rules; one without either has nothing to pass."""
    low, high, keeps = own.low, own.high, own.keeps
    has_range = ~(np.isnan(low) & np.isnan(high)) & (scale is not None)
    chosen = own.is_kind(Item.Kind.GOLD) & (has_range | ~np.isnan(keeps))
    if not chosen.any():
        return None
    low, high = np.nan_to_num(low, nan=-np.inf), np.nan_to_num(high, nan=np.inf)
    is_right = ~has_range | ((low <= own.score) & (own.score <= high))
    is_right &= keeps != 0
    return pass_rate(int(is_right[chosen].sum()), int(chosen.sum()))
