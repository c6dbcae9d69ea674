"""Judges that see the outputs of a segment together: two at a time, or all of them."""

import hashlib
import random
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from extensions.judges.context import Question
from extensions.judges.scoring.answering import LETTERS, Answers
from extensions.judges.scoring.scorer import Judge
from metaeval.messages import message
from metrics.base import InputError, MetricInfo, Scores, SegmentInput
from metrics.error_spans import Spans

Segment = tuple[str, tuple[str, ...]]


class _Comparison(Judge):
    """A judge with the distinct outputs of every segment of a run; its signature names them."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        super().__init__(info, source_language=source_language, target_language=target_language)
        self.outputs: dict[Segment, tuple[str, ...]] = {}

    def compare(self, outputs: Iterable[tuple[str, tuple[str, ...], Sequence[str]]]) -> None:
        """Take source, references and the distinct outputs of each segment."""
        self.outputs = {
            (source, references): tuple(sorted(set(texts))) for source, references, texts in outputs
        }
        most = max(map(len, self.outputs.values()), default=0)
        if most > len(LETTERS):
            problem = message(
                "judge.too-many-outputs",
                "{metric} can compare at most {limit} outputs of a segment, but there are {count}.",
                metric=self.info.label,
                limit=len(LETTERS),
                count=most,
            )
            raise InputError(problem)

    def signature(self) -> str:
        """Everything that changes a value, including the other outputs."""
        parts = sorted(repr(each) for each in self.outputs.items())
        digest = hashlib.sha256("\n".join(parts).encode(errors="surrogatepass")).hexdigest()
        return f"{super().signature()}|outputs:{digest[:12]}"

    def all_outputs(self, segment: SegmentInput) -> tuple[str, ...]:
        """Return all outputs of a segment, including this one."""
        known = self.outputs.get((segment.source, segment.references), ())
        return known if segment.hypothesis in known else tuple(sorted({*known, segment.hypothesis}))


class PairJudge(_Comparison):
    """The share of comparisons that an output wins, a tie as half; each is asked in both orders.

    Its second number is the share of pairs whose verdict the order changes.
    """

    def questions(self, segment: SegmentInput) -> list[list[Question]]:
        """Return two questions for each other output: this one first, then second."""
        ours, others = segment.hypothesis, self._others(segment)
        return [
            list(
                chain.from_iterable(
                    (self._ask(segment, n, ours, other), self._ask(segment, n, other, ours))
                    for other in others
                )
            )
            for n in range(int(self.options["passes"]))
        ]

    def _others(self, segment: SegmentInput) -> list[str]:
        return [text for text in self.all_outputs(segment) if text != segment.hypothesis]

    def _ask(self, segment: SegmentInput, number: int, first: str, second: str) -> Question:
        values = self.values(segment) | {"a": first, "b": second}
        return self.builder.question(values, number, ("A", "B"))

    def judged(
        self, segment: SegmentInput, passes: Sequence[Sequence[Question]], answers: Answers
    ) -> tuple[list[float], Spans]:
        """Return the share won and the share swayed by the order."""
        shares, swayed = [], []
        for questions in passes:
            won = [_won(answers, question, at % 2 == 0) for at, question in enumerate(questions)]
            if found := [value for value in won if value is not None]:
                shares.append(float(np.mean(found)))
            swayed += [
                first != second
                for first, second in zip(won[::2], won[1::2], strict=True)
                if first is not None and second is not None
            ]
        return [*self.pooled(shares), float(np.mean(swayed)) if swayed else 0.0], ()


def _won(answers: Answers, question: Question, is_first: bool) -> float | None:
    """Return 1 if the output won, 0.5 for a tie, 0 if it lost; None without a verdict."""
    verdict = answers.verdicts.get(question.key)
    if verdict is None:
        return None
    first, second = (rank for _, rank in verdict.ranks)
    if first == second:
        return 0.5
    return float((first < second) == is_first)


class ListJudge(_Comparison):
    """The rank of an output among all outputs of its segment: 1 for the best, 0 for the worst.

    Each pass shows them in another order, which is drawn from their texts and the pass.
    """

    def questions(self, segment: SegmentInput) -> list[list[Question]]:
        """Return one question per pass, the same for every output of the segment."""
        if len(self.all_outputs(segment)) < 2:
            return []
        return [[self._ask(segment, n)] for n in range(int(self.options["passes"]))]

    def _order(self, segment: SegmentInput, number: int) -> list[str]:
        texts = list(self.all_outputs(segment))
        seed = hashlib.sha256(repr((segment.source, texts, number)).encode(errors="replace"))
        random.Random(seed.digest()).shuffle(texts)
        return texts

    def _ask(self, segment: SegmentInput, number: int) -> Question:
        texts = self._order(segment, number)
        listed = "\n\n".join(f"{a}: {text}" for a, text in zip(LETTERS, texts, strict=False))
        values = self.values(segment) | {"outputs": listed}
        return self.builder.question(values, number, tuple(LETTERS[: len(texts)]))

    def judged(
        self, segment: SegmentInput, passes: Sequence[Sequence[Question]], answers: Answers
    ) -> tuple[list[float], Spans]:
        """Return the mean place over passes."""
        from scipy.stats import rankdata

        places = []
        for number, (question,) in enumerate(passes):
            if verdict := answers.verdicts.get(question.key):
                at = self._order(segment, number).index(segment.hypothesis)
                ranks: Scores = rankdata([rank for _, rank in verdict.ranks])
                places.append(float((len(ranks) - ranks[at]) / (len(ranks) - 1)))
        return self.pooled(places), ()
