"""Compute YiSi (Lo 2019) over words, with static vectors or letters. Needs no torch.

1. Static vectors of a file, one line ``word x1 … xd`` per word, such as fastText's aligned
   ``.vec`` (RCSLS): equal lower-cased words have similarity 1; across languages only if one
   side's file lacks the word. Other unknown words have 0. A missing word is looked up in lower
   case.
2. Letters (YiSi-0): twice the longest common substring divided by the sum of lengths, in bytes.

The rest is as over pieces.
"""

from collections.abc import Sequence

from extensions.neural import static_vectors
from extensions.neural.static_vectors import StaticVectors, of_words
from extensions.neural.yisi.core import Compare, Yisi, by_letters, by_words, load_tables
from metaeval.messages import message
from metrics.base import MetricError, MetricInfo
from metrics.families.lexical.sequences import WordTokenizer, word_tokenizer


class YisiStatic(Yisi):
    """Compare words with the files and tokenizers of the options, one file per language."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        super().__init__(info)
        other_language = target_language if info.needs_reference else source_language
        self.sides = load_sides(info, other_language, target_language)
        (_, self.cut_other), (_, self.cut_output) = self.sides
        self.tables = load_tables(info, self.cut_other, self.cut_output)

    def fields(self) -> dict[str, str | int]:
        return side_fields(self.sides)

    def prepare(self, outputs: Sequence[str], others: Sequence[str]) -> Compare:
        left, right = (
            of_words(texts, *side)
            for texts, side in zip((others, outputs), self.sides, strict=True)
        )
        is_same = self.info.needs_reference

        return lambda other, output: (
            by_words(left[other], right[output], same_language=is_same),
            left[other].forms,
            right[output].forms,
        )


Side = tuple[StaticVectors, WordTokenizer]


def load_sides(info: MetricInfo, other: str, output: str) -> tuple[Side, Side]:
    """Return vectors and tokenizer of the compared text, then of the output.

    ``other`` and ``output`` are language codes. Raises a permanent :class:`MetricError` if the
    vectors of the two files differ in width.
    """
    target = static_vectors.load(str(info.option("vectors")))
    path = "" if info.needs_reference else str(info.option("source-vectors"))
    source = static_vectors.load(path) if path else target
    if source.width != target.width:
        problem = message(
            "vectors.not-aligned",
            "{metric}: the vectors are not aligned. {source} has {source_width} numbers per word, "
            "{target} has {target_width}.",
            metric=info.label,
            source=source.path,
            source_width=source.width,
            target=target.path,
            target_width=target.width,
        )
        raise MetricError(problem, permanent=True)
    choice = str(info.option("tokenizer"))
    return (source, word_tokenizer(choice, other)), (target, word_tokenizer(choice, output))


def side_fields(sides: tuple[Side, Side]) -> dict[str, str | int]:
    """Return the fields of a signature for both sides."""
    (source, cut_source), (target, cut_target) = sides
    return {
        "vectors": f"{source.digest}-{target.digest}",
        "tok": f"{cut_source.signature}-{cut_target.signature}",
    }


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
