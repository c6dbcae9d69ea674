"""Translation edit rate (Snover et al., 2006), as sacrebleu counts: edits in percent of words.

Lower is better. Statistics of a segment: the fewest edits over the references, and the references'
mean length. Chinese and Japanese are split into characters by sacrebleu's Asian normalisation
(kana only next to other scripts); other languages are only lower-cased, sacrebleu's default.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import sacrebleu
from sacrebleu.metrics.ter import TER

from metaeval.edits import edit_count
from metaeval.messages import plural
from metrics.base import MetricInfo, MetricWarning, Scores, format_signature
from metrics.families.lexical.sacre import SacreMetric
from metrics.families.lexical.sequences import edit_distance
from metrics.families.lexical.tokens import base_language

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

    def counted(self, groups: Sequence[Sequence[str]], references: Sequence[int]) -> Scores:
        rows: list[Sequence[float]] = []
        for texts, size in zip(groups, references, strict=True):
            prepared = self.scorer._extract_reference_info(texts[:size])["ref_words"]
            rows += [self._row(text.split(), prepared) for text in texts[size:]]
        return np.array(rows, dtype=np.float64)

    def _row(self, words: list[str], wanted: list[list[str]]) -> Sequence[float]:
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
            stacklevel=5,
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
