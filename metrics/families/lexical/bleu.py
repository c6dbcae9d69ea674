"""BLEU (Papineni et al., 2002), BLEU* without the brevity penalty, sentence BLEU, WMT's sentBLEU.

A segment's statistics are hypothesis length, reference length (the closest one), 4 numbers of
matched n-grams and 4 numbers of all n-grams, as sacrebleu counts them. Zero matches of an order are
smoothed by sacrebleu's ``exp`` (the k-th such order counts as ``2**-k`` matches). Unless an option
says otherwise, a corpus score uses 4 orders, and a segment score uses the orders that the
hypothesis is long enough for (sacrebleu's ``effective_order``). Without a single match, or with an
empty hypothesis, the score is 0. Tokenizer and case are options of sacrebleu, too.

sentBLEU of the WMT metrics tasks adds one to every order, unigrams included:
exp(¼ Σ ln((match + 1) / (total + 1)) + min(0, 1 - reference / output)), orders 1 to 4, between 0
and 1. WMT's own text is tokenised and lower-cased; for such text choose ``whitespace``, for raw
text the tokenizer of the language. With ``whitespace``, 99.8% of the published values of
newstest2017 zh-en and de-en are reproduced within 1e-5 (tests).
"""

from collections.abc import Sequence

import numpy as np
import sacrebleu

from metrics.base import (
    MeanOfSegments,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.families import references
from metrics.families.lexical.ngrams import matches, of_words, totals
from metrics.families.lexical.sacre import SacreMetric
from metrics.families.lexical.sequences import bleu_for

ORDER = 4


class WordCounts(SacreMetric):
    """Count the words of hypothesis and reference, and n-grams of words, as BLEU needs them."""

    n_statistics = 2 + 2 * ORDER

    def counted(self, groups: Sequence[Sequence[str]], references: Sequence[int]) -> Scores:
        texts = [text.split() for group in groups for text in group]
        tokens, sizes = of_words(texts), np.array([*map(len, groups)])
        matched = matches(tokens, sizes, np.array(references), ORDER)
        is_hypothesis, closest, start = np.ones(len(texts), np.bool_), [], 0
        for size, n_references in zip(sizes, references, strict=True):
            known = np.sort(tokens[1][start : start + n_references])
            own = tokens[1][start + n_references : start + size]
            # Of two equally close ones the shorter.
            closest.append(known[np.abs(own[:, None] - known).argmin(axis=1)])
            is_hypothesis[start : start + n_references] = False
            start += size
        lengths = tokens[1][is_hypothesis]
        parts = lengths, np.concatenate(closest), matched[is_hypothesis], totals(lengths, ORDER)
        return np.column_stack(parts).astype(np.float64)


class Bleu(WordCounts):
    """BLEU: corpus score from summed counts; a segment's own value is its sentence BLEU."""

    brevity = "yes"
    # What the signature calls "effective order for segments only", which is the default.
    for_segments = "segment"

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        options = dict(info.options)
        self.effective = str(options.get("effective-order", "segments"))
        self.case = "lc" if options.get("lowercase") else "mixed"
        super().__init__(info, lambda: bleu_for(info, target_language))

    def signature(self) -> str:
        effective = self.for_segments if self.effective == "segments" else self.effective
        fields = {"nrefs": "var", "case": self.case, "eff": effective, "bp": self.brevity}
        tokenizer = {"tok": self.scorer.tokenizer_signature, "smooth": "exp"}
        version = {"version": sacrebleu.__version__}
        return format_signature(self.info.name, fields | tokenizer | version)

    def segments(self, statistics: Scores) -> Scores:
        return self._values(statistics, effective_order=self.effective != "no")

    def corpus(self, summed: Scores) -> Scores:
        return self._values(summed, effective_order=self.effective == "yes")

    def _values(self, statistics: Scores, *, effective_order: bool) -> Scores:
        precision = geometric_mean_precision(statistics, effective_order=effective_order)
        return (precision * brevity_penalty(statistics))[:, None]


class BleuStar(Bleu):
    """BLEU*: BLEU divided by its brevity penalty, hence fair to outputs that had to be shorter.

    Computed directly as the geometric mean of the precisions, so that a brevity penalty of 0
    (very short output) needs no division. At segment level it is sentence BLEU without penalty.
    """

    brevity = "no"

    def _values(self, statistics: Scores, *, effective_order: bool) -> Scores:
        return geometric_mean_precision(statistics, effective_order=effective_order)[:, None]


class SentBleu(MeanOfSegments, Bleu):
    """Sentence BLEU with effective order; a system's score is the mean of its segments."""

    for_segments = "yes"


def brevity_penalty(statistics: Scores) -> Scores:
    """Return (h,) penalties from (h, 10) counts: 1, or exp(1 - r/c) where c < r; 0 where c = 0."""
    hypothesis, reference = statistics[:, 0], statistics[:, 1]
    ratio = np.divide(reference, hypothesis, where=hypothesis > 0, out=np.ones(len(statistics)))
    penalty = np.where(hypothesis < reference, np.exp(1 - ratio), 1.0)
    return np.where((hypothesis == 0) & (reference > 0), 0.0, penalty)


def geometric_mean_precision(statistics: Scores, *, effective_order: bool) -> Scores:
    """Return (h,) geometric means, 0 to 100, of the smoothed precisions from (h, 10) counts.

    With ``effective_order`` the mean runs over the orders that have n-grams at all; otherwise over
    all 4, and is 0 where one has none.
    """
    correct, total = statistics[:, 2 : 2 + ORDER], statistics[:, 2 + ORDER :]
    exists = total > 0
    halvings = np.cumsum(exists & (correct == 0), axis=1)
    matches = np.where(correct > 0, correct, 0.5**halvings)
    logs = np.zeros_like(total)
    np.log(100 * matches / np.where(exists, total, 1), where=exists, out=logs)
    if effective_order:
        mean = logs.sum(axis=1) / np.maximum(exists.sum(axis=1), 1)
    else:
        mean = np.where(exists.all(axis=1), logs.sum(axis=1) / ORDER, -np.inf)
    return np.where(correct.any(axis=1), np.exp(mean), 0.0)


class WmtSentBleu(MeanOfSegments, WordCounts):
    """Compute sentence BLEU of the WMT metrics tasks.

    With several references, counts are clipped by the largest count and the closest length is used,
    as in BLEU, unless an option uses references one by one.
    """

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.lowercase = bool(info.option("lowercase"))
        super().__init__(info, lambda: bleu_for(info, target_language))

    def signature(self) -> str:
        """Return everything that changes a value."""
        reading = self.info.references
        nrefs = "var" if reading == "all" else reading
        fields = {"nrefs": nrefs, "case": "lc" if self.lowercase else "mixed", "smooth": "add-one"}
        tokenizer = {"tok": self.scorer.tokenizer_signature, "version": sacrebleu.__version__}
        return format_signature(self.info.name, fields | tokenizer)

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 1)."""
        if self.info.references == "all":
            return super().score(inputs)
        check_inputs(self.info, inputs)
        singles, rows = references.apart(self.info, inputs)
        return references.pool(self.info, len(inputs), rows, super().score(singles))

    def segments(self, statistics: Scores) -> Scores:
        """Return (n, 1) from (n, 10) counts."""
        correct, total = statistics[:, 2 : 2 + ORDER], statistics[:, 2 + ORDER :]
        precision = np.exp(np.log((correct + 1) / (total + 1)).mean(axis=1))
        is_empty = statistics[:, 0] == 0
        return np.where(is_empty, 0.0, precision * brevity_penalty(statistics))[:, None]
