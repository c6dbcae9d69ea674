"""Adapt sacrebleu's metrics: statistics per segment, and scores from their sums."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import sacrebleu
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric as SacrebleuMetric
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from metaeval.edits import edit_count
from metaeval.messages import plural
from metrics.base import (
    MeanOfSegments,
    MetricInfo,
    MetricWarning,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
    group_by_references,
)
from metrics.families import references
from metrics.families.lexical.sequences import bleu_for, edit_distance
from metrics.families.lexical.tokens import base_language


class SacreMetric(ABC):
    """A metric whose segment statistics come from ``scorer``, a metric object of sacrebleu.

    The scorer is made when it is first needed: corpus scores need no tokenizer.

    No public method of sacrebleu returns chrF's statistics, so the three hooks that its abstract
    base class defines for subclasses are called here; tests compare them with ``sentence_score``
    and ``corpus_score``.
    """

    n_statistics: int

    def __init__(self, info: MetricInfo, make: Callable[[], SacrebleuMetric]) -> None:
        self.info = info
        self._make = make

    @cached_property
    def scorer(self) -> Any:
        """Return the metric object of sacrebleu."""
        return self._make()

    @abstractmethod
    def signature(self) -> str:
        """See :class:`metrics.base.Metric`."""

    @abstractmethod
    def segments(self, statistics: Scores) -> Scores:
        """Turn (n, k) statistics of segments into (n, 1) segment scores."""

    @abstractmethod
    def corpus(self, summed: Scores) -> Scores:
        """Turn (h, k) summed statistics into (h, 1) corpus scores."""

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 1 + k): the segment score and, where the info names them, its statistics."""
        check_inputs(self.info, inputs)
        statistics = self.statistics(inputs)
        values = self.segments(statistics)
        return np.hstack([values, statistics]) if self.info.statistics else values

    def statistics(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return statistics, (n, k); each set of references is prepared once."""
        rows: list[Sequence[float]] = [()] * len(inputs)
        for reference_texts, indices in group_by_references(inputs).items():
            texts = [self.scorer._preprocess_segment(text) for text in reference_texts]
            prepared = self.scorer._extract_reference_info(texts)
            for index in indices:
                text = self.scorer._preprocess_segment(inputs[index].hypothesis)
                rows[index] = self.row(text, prepared)
        return np.array(rows, dtype=np.float64).reshape(len(inputs), self.n_statistics)

    def row(self, hypothesis: str, references: dict[str, Any]) -> Sequence[float]:
        """Return the statistics of a preprocessed hypothesis against prepared references."""
        statistics: Sequence[float] = self.scorer._compute_segment_statistics(
            hypothesis, references
        )
        return statistics


# BLEU (Papineni et al., 2002), BLEU* without the brevity penalty, and sentence BLEU.
#
# A segment's statistics are hypothesis length, reference length (the closest one), 4 numbers of
# matched n-grams and 4 numbers of all n-grams, all counted by sacrebleu. Zero matches of an order
# are smoothed by sacrebleu's ``exp`` (the k-th such order counts as ``2**-k`` matches). Unless an
# option says otherwise, a corpus score uses 4 orders, and a segment score uses the orders that the
# hypothesis is long enough for (sacrebleu's ``effective_order``). Without a single match, or with
# an empty hypothesis, the score is 0. Tokenizer and case are options of sacrebleu, too.


ORDER = 4


class Bleu(SacreMetric):
    """BLEU: corpus score from summed counts; a segment's own value is its sentence BLEU."""

    n_statistics = 2 + 2 * ORDER
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


# sentBLEU as the WMT metrics tasks compute it: one added to every order, unigrams included.
#
# exp(¼ Σ ln((match + 1) / (total + 1)) + min(0, 1 - reference / output)), orders 1 to 4, between 0
# and 1. An empty output scores 0. WMT's own text is tokenised and lower-cased; for such text
# choose ``whitespace``, for raw text the tokenizer of the language. With ``whitespace``, 99.8% of
# the published values of newstest2017 zh-en and de-en are reproduced within 1e-5 (tests).


class WmtSentBleu(MeanOfSegments, SacreMetric):
    """Compute sentence BLEU of the WMT metrics tasks.

    With several references, counts are clipped by the largest count and the closest length is used,
    as in BLEU, unless an option uses references one by one.
    """

    n_statistics = 2 + 2 * ORDER

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


# chrF (Popović, 2015) and chrF++ (Popović, 2017) from sacrebleu's n-gram counts.
#
# A segment's statistics are, for each n-gram order, the n-grams of hypothesis, of reference and
# the matches, against the reference with the best F-score. Character n-grams ignore white space;
# the word n-grams of chrF++ are cut at white space in every language, as sacrebleu does, so that
# for Chinese and Japanese chrF is the better choice.


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


# Translation edit rate (Snover et al., 2006), as sacrebleu counts: edits in percent of words.
#
# Lower is better. Statistics of a segment: the fewest edits over the references, and the
# references' mean length. Chinese and Japanese are split into characters by sacrebleu's Asian
# normalisation (kana only next to other scripts); other languages are only lower-cased,
# sacrebleu's default.


MAX_SHIFT_TOKENS = 1000


class Ter(SacreMetric):
    """TER with block shifts, for texts of up to 1,000 tokens.

    For longer texts the search for shifts would take minutes and gigabytes, so the word edit
    distance is used, an upper bound of TER, with a :class:`MetricWarning`.
    """

    n_statistics = 2

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.is_asian = base_language(target_language) in ("zh", "ja")
        super().__init__(info, partial(TER, normalized=self.is_asian, asian_support=self.is_asian))

    def signature(self) -> str:
        asian = "yes" if self.is_asian else "no"
        fields = {"nrefs": "var", "case": "lc", "tok": "tercom", "norm": asian, "punct": "yes"}
        limit = {"asian": asian, "shift": f"{MAX_SHIFT_TOKENS}tok"}
        return format_signature(self.info.name, fields | limit | {"version": sacrebleu.__version__})

    def row(self, hypothesis: str, references: dict[str, Any]) -> Sequence[float]:
        words, wanted = hypothesis.split(), references["ref_words"]
        if max(map(len, (words, *wanted))) <= MAX_SHIFT_TOKENS:
            return _statistics(words, wanted, edit_count)
        warnings.warn(
            MetricWarning(
                plural(
                    "lexical.ter-without-shifts",
                    "{metric}: {n} text of more than {limit} tokens was scored without shifts, "
                    "which gives an upper bound.",
                    "{metric}: {n} texts of more than {limit} tokens were scored without shifts, "
                    "which gives an upper bound.",
                    n=1,
                    metric=self.info.label,
                    limit=MAX_SHIFT_TOKENS,
                )
            ),
            stacklevel=4,
        )
        return _statistics(words, wanted, edit_distance)

    def segments(self, statistics: Scores) -> Scores:
        return edit_rate(statistics)[:, None]

    def corpus(self, summed: Scores) -> Scores:
        return edit_rate(summed)[:, None]


def _statistics(
    words: list[str], references: list[list[str]], count: Callable[[list[str], list[str]], float]
) -> tuple[float, float]:
    edits = min(count(words, reference) for reference in references)
    return edits, sum(map(len, references)) / len(references)


def edit_rate(statistics: Scores) -> Scores:
    """Return (h,) rates in percent from (h, 2) sums [edits, reference length].

    Where the references are empty: 100 if there are edits, else 0.
    """
    edits, length = statistics[:, 0], statistics[:, 1]
    empty: Scores = (edits > 0).astype(np.float64)
    rate: Scores = np.divide(edits, length, where=length > 0, out=empty)
    return 100 * rate
