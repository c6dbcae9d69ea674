"""chrF (Popović, 2015) and chrF++ (Popović, 2017) from sacrebleu's n-gram counts.

A segment's statistics are, for each n-gram order, the n-grams of hypothesis, of reference and the
matches, against the reference with the best F-score. Character n-grams ignore white space; the word
n-grams of chrF++ are cut at white space in every language, as sacrebleu does, so that for Chinese
and Japanese chrF is the better choice.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import sacrebleu
from numpy.typing import NDArray
from sacrebleu.metrics.chrf import CHRF

from metrics.base import MetricInfo, Scores, format_signature
from metrics.families.lexical.sacre import SacreMetric

CHARACTER_ORDER = 6
BETA = 2


class Chrf(SacreMetric):
    """chrF2: F-score, recall weighing twice, of character n-grams of orders 1 to 6."""

    word_order = 0

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.lowercase = bool(dict(info.options).get("lowercase"))
        make = partial(CHRF, CHARACTER_ORDER, self.word_order, BETA, self.lowercase)
        super().__init__(info, make)
        self.n_statistics = 3 * (CHARACTER_ORDER + self.word_order)

    def signature(self) -> str:
        orders = {"nc": CHARACTER_ORDER, "nw": self.word_order, "beta": BETA}
        case = "lc" if self.lowercase else "mixed"
        fields = {"nrefs": "var", "case": case, "eff": "yes", "space": "no"}
        version = {"version": sacrebleu.__version__}
        return format_signature(self.info.name, {**fields, **orders, **version})

    def row(self, hypothesis: str, references: dict[str, Any]) -> Sequence[float]:
        """Return sacrebleu's counts sooner: n-grams that a reference lacks are not counted."""
        text = "".join(hypothesis.split())
        words = self.scorer._remove_punctuation(hypothesis) if self.word_order else []
        best: list[float] = []
        for counts in references["ref_ngrams"]:
            row: list[float] = []
            for n, known in enumerate(counts[:CHARACTER_ORDER], start=1):
                ngrams = map("".join, zip(*(text[k:] for k in range(n)), strict=False))
                row += _matches(ngrams, len(text) - n + 1, known)
            for n, known in enumerate(counts[CHARACTER_ORDER:], start=1):
                ngrams = map(" ".join, zip(*(words[k:] for k in range(n)), strict=False))
                row += _matches(ngrams, len(words) - n + 1, known)
            best = max(best or row, row, key=self.scorer._compute_f_score)
        return best

    def segments(self, statistics: Scores) -> Scores:
        return f_score(statistics)[:, None]

    def corpus(self, summed: Scores) -> Scores:
        return f_score(summed)[:, None]


class ChrfPlusPlus(Chrf):
    """chrF2++: chrF2 with word n-grams of orders 1 and 2 besides."""

    word_order = 2


def _matches(ngrams: Iterable[str], total: int, known: Counter[str]) -> list[float]:
    """The n-grams of hypothesis and reference and the matches, as sacrebleu counts one order."""
    left, matches = dict(known), 0
    for ngram in ngrams:
        if left.get(ngram):
            left[ngram] -= 1
            matches += 1
    return [max(total, 0) if known else 0, known.total(), matches]


def f_score(statistics: Scores) -> Scores:
    """Return (h,) F-scores, 0 to 100, from (h, 3 x orders) counts [hypothesis, reference, match].

    Precision and recall are averaged over the orders that both sides have (sacrebleu's effective
    order); 0 where there is none or nothing matches.
    """
    n_systems, width = statistics.shape
    hypothesis, reference, match = statistics.reshape(n_systems, width // 3, 3).transpose(2, 1, 0)
    both = (hypothesis > 0) & (reference > 0)
    orders = np.maximum(both.sum(axis=0), 1)
    precision = _sum_of_ratios(match, hypothesis, both) / orders
    recall = _sum_of_ratios(match, reference, both) / orders
    weighted = BETA**2 * precision + recall
    scores = (1 + BETA**2) * precision * recall / np.where(weighted > 0, weighted, 1)
    return np.asarray(100 * scores)


def _sum_of_ratios(part: Scores, whole: Scores, where: NDArray[np.bool_]) -> Scores:
    ratios = np.divide(part, whole, where=where, out=np.zeros_like(part))
    # cumsum adds order by order, as sacrebleu does; sum may not, and differ in the last digit
    total: Scores = np.cumsum(ratios, axis=0)[-1]
    return total
