"""Assess annotators by their control items.

Bad references are compared with the same annotator's rating of the output they were made from,
by a paired one-sided t-test (Graham et al. 2017), or by the signed-rank test if all differences
are equal and t is undefined. With five pairs a signed-rank test can reach p = 1/32, with fewer it
cannot reach .05, so five are enough to pass. Published practice uses ten pairs, so an unclear
result counts as failing only from ten pairs.

Traps and gold items are passed or failed individually; from five items, at least 70% must be
passed. On screens with one text that is worse by construction, every other text must get a
strictly higher score (WMT26: two of three translations, the third with five words rotated): such
items are gold items with rules. Repeats are reported but do not decide, because an annotator who
gives everything the same score repeats perfectly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotation.models import Item
from annotation.protocols.base import Scale
from annotation.quality.columns import Floats, JudgmentColumns, Mask
from core.caching import Cache
from metaeval.arrays import content
from metaeval.judgments.controls import (
    ControlTest,
    PassRate,
    RepeatConsistency,
    control_test,
    pass_rate,
    repeat_consistency,
)
from metaeval.messages import Message, message

ALPHA = 0.05
PAIRS_TO_PASS, PAIRS_TO_FAIL = 5, 10
ITEMS, RATE = 5, 0.7
# A trap is passed with a score in this lowest share of the scale: up to 20 of 100.
LOW = 0.2
# The kinds of control items that decide, by their names in `Checks.parts`.
BAD_REFERENCES, TRAPS, GOLD = "bad references", "traps", "gold"
CONTROLS = {
    BAD_REFERENCES: message("control.bad-references", "bad references"),
    TRAPS: message("control.traps", "traps"),
    GOLD: message("control.gold", "gold items"),
}


class Verdict(StrEnum):
    """The result of all control items of an annotator."""

    PASSES = "passes"
    FAILS = "fails"
    UNKNOWN = "not enough data"

    @property
    def label(self) -> Message:
        """The verdict in words."""
        return VERDICTS[self]


VERDICTS = {
    Verdict.PASSES: message("verdict.passes", "passes"),
    Verdict.FAILS: message("verdict.fails", "fails"),
    Verdict.UNKNOWN: message("verdict.unknown", "not enough data"),
}


@dataclass(frozen=True)
class Checks:
    """The control items of one annotator; None for kinds without items.

    `parts` holds the verdict for every kind that has items, by a key of `CONTROLS`.
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
    def failed(self) -> list[Message]:
        """The kinds of control items that the annotator fails."""
        return [CONTROLS[kind] for kind, part in self.parts.items() if part == Verdict.FAILS]


def overall(parts: Sequence[Verdict]) -> Verdict:
    """Combine verdicts: fails if any part fails, passes if one passes and none fails."""
    if Verdict.FAILS in parts:
        return Verdict.FAILS
    return Verdict.PASSES if Verdict.PASSES in parts else Verdict.UNKNOWN


def low_score(scale: Scale) -> int:
    """Return the highest score with which a trap is passed."""
    return scale.range_at(0, LOW)[1]


# A new judgment changes the checks of one annotator only, so the others' are cached.
_known: "Cache[Checks]" = Cache(4_000)


def check(own: JudgmentColumns, *, scale: Scale | None) -> Checks:
    """Assess one annotator from their own judgments.

    Without the `scale` of the scores it is unknown which are low: traps are not counted then, and
    neither are gold items whose only rule is a range.
    """
    inputs = (own.kind, own.item, own.partner, own.score, own.low, own.high, own.keeps)
    key = content(*inputs, own.beside_control, scale)
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
        parts[BAD_REFERENCES] = of_test(test, ranks)
    parts |= {kind: of_rate(rate) for kind, rate in ((TRAPS, traps), (GOLD, gold)) if rate}
    return Checks(
        bad_references=test,
        signed_rank=ranks,
        traps=traps,
        gold=gold,
        repeats=repeat_consistency(again[1], again[0]) if len(again[0]) else None,
        parts=parts,
    )


def of_test(test: ControlTest, ranks: ControlTest) -> Verdict:
    """Return the verdict of the test on bad references."""
    p = next((p for p in (test.pvalue, ranks.pvalue) if p is not None and p == p), 1.0)
    if test.n >= PAIRS_TO_PASS and p <= ALPHA:
        return Verdict.PASSES
    return Verdict.FAILS if test.n >= PAIRS_TO_FAIL else Verdict.UNKNOWN


def of_rate(rate: PassRate) -> Verdict:
    """Return the verdict of traps or of gold items."""
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
    """Return the pass rate of gold items that have a range or rules."""
    low, high, keeps = own.low, own.high, own.keeps
    has_range = ~(np.isnan(low) & np.isnan(high)) & (scale is not None)
    chosen = own.is_kind(Item.Kind.GOLD) & (has_range | ~np.isnan(keeps))
    if not chosen.any():
        return None
    low, high = np.nan_to_num(low, nan=-np.inf), np.nan_to_num(high, nan=np.inf)
    is_right = ~has_range | ((low <= own.score) & (own.score <= high))
    is_right &= keeps != 0
    return pass_rate(int(is_right[chosen].sum()), int(chosen.sum()))
