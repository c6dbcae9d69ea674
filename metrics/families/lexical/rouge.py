"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin, 2004): precision, recall and F1, each from 0 to 1.

Equal to the last digit to google's rouge-score on the same tokens, without stemming; with several
references each ROUGE type takes the reference of its best F1 (the first among equals), as
``RougeScorer.score_multi`` does. The longest common subsequence is found bit-parallel.

rouge-score drops everything but a–z and 0–9. So does ROUGE here where the target language is
English; elsewhere letters, marks and digits of every script are kept, and Chinese, Japanese, Thai,
Lao, Khmer and Burmese are cut by character. *ROUGE (all characters)* counts every character but
white space.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from metrics.base import (
    MeanOfSegments,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
    group_by_references,
)
from metrics.families.lexical.sequences import lcs_length, positions
from metrics.families.lexical.tokens import RougeTokenizer, character_tokens, rouge_tokenizer

# Increase it with every change that alters a value.
REVISION = 1

Triple = tuple[float, float, float]
Gram = TypeVar("Gram", bound=Hashable)


class Grams(NamedTuple, Generic[Gram]):
    """The n-grams of one order of a text, in order, and the distinct ones."""

    all: list[Gram]
    distinct: set[Gram]


class Text(NamedTuple):
    """A tokenized text: words and word pairs."""

    unigrams: Grams[str]
    bigrams: Grams[tuple[str, str]]


class Reference(NamedTuple):
    """A text with what is worth preparing once for many hypotheses.

    ``masks`` are the positions of each token; the dictionaries count the repeated n-grams alone.
    """

    text: Text
    masks: dict[Hashable, int]
    repeated_unigrams: dict[str, int]
    repeated_bigrams: dict[tuple[str, str], int]


class Rouge(MeanOfSegments):
    """ROUGE over words; over single characters in Chinese, Japanese and other scripts without
    blanks, where Latin words and numbers stay whole and punctuation is dropped."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        self.tokenizer = self.choose_tokenizer(target_language)

    def choose_tokenizer(self, target_language: str) -> RougeTokenizer:
        """Return the tokenizer of this variant."""
        return rouge_tokenizer(target_language)

    def signature(self) -> str:
        fields = {"nrefs": "var", "case": "lc", "tok": self.tokenizer.signature}
        return format_signature(self.info.name, fields | {"stem": "no", "version": REVISION})

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 9): precision, recall and F1 of ROUGE-1, then of ROUGE-2 and ROUGE-L."""
        check_inputs(self.info, inputs)
        scores = np.zeros((len(inputs), self.info.width))
        for texts, indices in group_by_references(inputs).items():
            references = [self._reference(text) for text in texts]
            for index in indices:
                hypothesis = self._text(inputs[index].hypothesis)
                scores[index] = best_of(references, hypothesis)
        return scores

    def _text(self, text: str) -> Text:
        tokens = self.tokenizer.tokenize(text)
        pairs = list(pairwise(tokens))
        return Text(Grams(tokens, set(tokens)), Grams(pairs, set(pairs)))

    def _reference(self, reference: str) -> Reference:
        text = self._text(reference)
        masks = positions(text.unigrams.all)
        return Reference(text, masks, _repeated(text.unigrams), _repeated(text.bigrams))


class RougeCharacters(Rouge):
    """ROUGE over all characters but white space, punctuation included, in every language."""

    def choose_tokenizer(self, target_language: str) -> RougeTokenizer:
        return RougeTokenizer("characters", character_tokens)


def best_of(references: Sequence[Reference], hypothesis: Text) -> tuple[float, ...]:
    """Return the 9 values of a hypothesis, each ROUGE type against its best reference."""
    triples = [_triples(reference, hypothesis) for reference in references]
    if len(triples) == 1:
        one, two, longest = triples[0]
    else:
        one, two, longest = (max(kind, key=_f1) for kind in zip(*triples, strict=True))
    return one + two + longest


def _f1(triple: Triple) -> float:
    return triple[2]


def _triples(reference: Reference, hypothesis: Text) -> tuple[Triple, Triple, Triple]:
    (words, pairs), (ref_words, ref_pairs) = hypothesis, reference.text
    n, n_ref = len(words.all), len(ref_words.all)
    one = _overlap(ref_words, reference.repeated_unigrams, words)
    two = _overlap(ref_pairs, reference.repeated_bigrams, pairs)
    longest = lcs_length(reference.masks, n_ref, words.all)
    return (
        _triple(one, n, n_ref),
        _triple(two, len(pairs.all), len(ref_pairs.all)),
        _triple(longest, n, n_ref),
    )


def _repeated(grams: Grams[Gram]) -> dict[Gram, int]:
    if len(grams.distinct) == len(grams.all):
        return {}
    return {gram: count for gram, count in Counter(grams.all).items() if count > 1}


def _overlap(reference: Grams[Gram], repeated: dict[Gram, int], hypothesis: Grams[Gram]) -> int:
    # One match for each n-gram in common; only repeated ones, which are few, need counting.
    matches = len(reference.distinct & hypothesis.distinct)
    if repeated:
        counts = Counter(filter(repeated.__contains__, hypothesis.all))
        matches += sum(min(count, repeated[gram]) - 1 for gram, count in counts.items())
    return matches


def _triple(matches: int, n_hypothesis: int, n_reference: int) -> Triple:
    precision, recall = matches / max(n_hypothesis, 1), matches / max(n_reference, 1)
    if precision + recall == 0:
        return precision, recall, 0.0
    return precision, recall, 2 * precision * recall / (precision + recall)
