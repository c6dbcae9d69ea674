"""Track the texts that a judge is scoring, and the questions that each still waits for."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from extensions.judges.context import Question
from extensions.judges.scoring.answering import Answers, Asking
from metaeval.messages import Message
from metrics.base import Feed, MetricError, MetricInfo, Scored, Scores, SegmentInput, check_inputs
from metrics.error_spans import Spans

Passes = Sequence[Sequence[Question]]


class Bench(Protocol):
    """A judge: it turns texts into questions, and verdicts into numbers."""

    info: MetricInfo

    def questions(self, segment: SegmentInput) -> Passes:
        """Return the questions of each pass about a text."""
        ...

    def problem(self, passes: Passes, answers: Answers) -> Message | None:
        """Return why there are too few verdicts; None where there are enough."""
        ...

    def judged(
        self, segment: SegmentInput, passes: Passes, answers: Answers
    ) -> tuple[Sequence[float], Spans]:
        """Return the row of a text, and its spans."""
        ...


class Texts:
    """The source (:class:`extensions.judges.scoring.answering.Source`) of the questions of a feed.

    Several texts may share a question; it is dropped when the last of them is finished.
    """

    def __init__(self, bench: Bench, feed: Feed, asking: Asking) -> None:
        self._bench, self._feed, self._asking = bench, feed, asking
        self._n = 0
        self._n_a_text = 1.0
        self._texts: dict[int, tuple[SegmentInput, Passes]] = {}
        self._open: dict[int, set[str]] = {}
        self._waiting: defaultdict[str, set[int]] = defaultdict(set)

    def more(self, n: int) -> list[Question]:
        """Return the questions of further texts; those of a text without any are skipped."""
        found: list[Question] = []
        while not found and (inputs := self._feed.more(max(1, int(n / self._n_a_text)))):
            for segment in inputs:
                found += self._begin(segment)
            self._n_a_text = max(1.0, len(found) / len(inputs))
        return found

    def _begin(self, segment: SegmentInput) -> list[Question]:
        number, self._n = self._n, self._n + 1
        try:
            check_inputs(self._bench.info, [segment])
        except MetricError as error:
            self._feed.done({number: self._missing(error.message)})
            return []
        passes = self._bench.questions(segment)
        questions = [question for each in passes for question in each]
        self._texts[number] = segment, passes
        self._open[number] = {question.key for question in questions}
        for key in self._open[number]:
            self._waiting[key].add(number)
        if not questions:
            self._feed.done({number: self._scored(number)})
        return questions

    def finish(self, keys: Iterable[str]) -> None:
        """Hand over the texts that are complete; the feed is called even if there are none."""
        ready: set[int] = set()
        for key in keys:
            for number in self._waiting.get(key, ()):
                self._open[number].discard(key)
                if not self._open[number]:
                    ready.add(number)
        self._feed.done({number: self._scored(number) for number in sorted(ready)})

    def _scored(self, number: int) -> Scored:
        """Score a text that is complete, and drop answers that no other text waits for."""
        segment, passes = self._texts.pop(number)
        del self._open[number]
        answers = self._asking.found
        if problem := self._bench.problem(passes, answers):
            scored = self._missing(problem)
        else:
            row, spans = self._bench.judged(segment, passes, answers)
            scored = Scored(np.asarray(row, dtype=np.float64), spans)
        for key in {question.key for each in passes for question in each}:
            self._waiting[key].discard(number)
            if not self._waiting[key]:
                del self._waiting[key]
                self._asking.forget(key)
        return scored

    def _missing(self, problem: Message) -> Scored:
        return Scored(np.full(self._bench.info.width, np.nan), problem=problem)


class Whole:
    """A feed of texts that are all available at once."""

    def __init__(self, inputs: Sequence[SegmentInput], width: int) -> None:
        self._inputs: Sequence[SegmentInput] = inputs
        self.rows: Scores = np.full((len(inputs), width), np.nan)
        self.spans: list[Spans] = [()] * len(inputs)
        self.missing: dict[int, Message] = {}

    def more(self, n: int) -> Sequence[SegmentInput]:
        """Return all of them, once."""
        inputs, self._inputs = self._inputs, ()
        return inputs

    def done(self, scored: Mapping[int, Scored]) -> None:
        """Store rows, spans and problems at their positions."""
        for number, each in scored.items():
            self.rows[number], self.spans[number] = each.row, each.spans
            if each.problem:
                self.missing[number] = each.problem
