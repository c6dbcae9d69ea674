"""Compute YiSi-0: the similarity of two words depends on the letters they share.

It is twice the longest common substring divided by the sum of lengths, in bytes. The rest is as
over pieces.
"""

from collections.abc import Sequence

from extensions.neural.yisi.core import Compare, Yisi, by_letters, load_tables
from metrics.base import MetricInfo
from metrics.families.lexical.sequences import word_tokenizer


class Yisi0(Yisi):
    """Compare outputs with references in the target language."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        super().__init__(info)
        self.cut = word_tokenizer(str(info.option("tokenizer")), target_language)
        self.tables = load_tables(info, self.cut, self.cut)

    def fields(self) -> dict[str, str | int]:
        return {"similarity": "letters", "tok": self.cut.signature}

    def prepare(self, outputs: Sequence[str], others: Sequence[str]) -> Compare:
        units = {text: self.cut(text) for text in {*outputs, *others}}

        return lambda other, output: (
            by_letters(units[other], units[output]),
            units[other],
            units[output],
        )
