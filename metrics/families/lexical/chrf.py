"""chrF (Popović, 2015) and chrF++ (Popović, 2017) with sacrebleu's n-gram counts.

A segment's statistics are, for each n-gram order, the n-grams of hypothesis, of reference and the
matches, against the reference with the best F-score. Character n-grams ignore white space; the word
n-grams of chrF++ are cut at white space in every language, as sacrebleu does, so that for Chinese
and Japanese chrF is the better choice.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import sacrebleu
from numpy.typing import NDArray
from sacrebleu.metrics.chrf import CHRF

from metrics.base import MetricInfo, Scores, format_signature
from metrics.families.lexical.ngrams import matches, of_characters, of_words, totals
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

    def counted(self, groups: Sequence[Sequence[str]], references: Sequence[int]) -> Scores:
        """Return the counts against the reference with the best F-score, the first of equals."""
        best = np.empty((0, self.n_statistics))
        counts = np.array(references)
        sizes = np.array([*map(len, groups)]) - counts
        for place in range(counts.max()):
            with_more = counts > place
            pairs = [
                [group[place], *group[size:]]
                for group, size in zip(groups, references, strict=True)
                if size > place
            ]
            rows = self._against_one(pairs)
            if not place:
                best = rows
                continue
            at = np.flatnonzero(np.repeat(with_more, sizes))
            is_better = f_score(rows) > f_score(best[at])
            best[at[is_better]] = rows[is_better]
        return best

    def _against_one(self, groups: Sequence[Sequence[str]]) -> Scores:
        """Return the counts of hypotheses; each group has one reference, its first text."""
        texts = [text for group in groups for text in group]
        sizes = np.array([*map(len, groups)])
        reference = np.cumsum(sizes) - sizes
        is_hypothesis = np.ones(len(texts), np.bool_)
        is_hypothesis[reference] = False
        kinds = [(of_characters(["".join(text.split()) for text in texts]), CHARACTER_ORDER)]
        if self.word_order:
            words = [self.scorer._remove_punctuation(text) for text in texts]
            kinds.append((of_words(words), self.word_order))
        columns = []
        for tokens, order in kinds:
            own = totals(tokens[1], order)
            wanted = np.repeat(own[reference], sizes, axis=0)
            matched = matches(tokens, sizes, np.ones_like(sizes), order)
            # N-grams of an order that the reference lacks do not count.
            columns.append(np.stack([np.where(wanted > 0, own, 0), wanted, matched], axis=2))
        rows = np.concatenate(columns, axis=1)[is_hypothesis].astype(np.float64)
        return np.asarray(rows.reshape(-1, self.n_statistics))

    def segments(self, statistics: Scores) -> Scores:
        return f_score(statistics)[:, None]

    def corpus(self, summed: Scores) -> Scores:
        return f_score(summed)[:, None]


class ChrfPlusPlus(Chrf):
    """chrF2++: chrF2 with word n-grams of orders 1 and 2 besides."""

    word_order = 2


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
