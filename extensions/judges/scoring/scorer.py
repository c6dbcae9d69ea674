"""Score outputs by a language model: outputs become questions, and replies become numbers.

Each pass is a separate question with its own seed. The scores of passes are pooled by a mean that
excludes those beyond two standard deviations (or by the mean, or the median); spans are those that
at least half of the passes mark, with that share as confidence. Quotes are searched in the text
exactly, then by NFC and case; those that are not found are stored without a position and counted.

Every reply is stored under its question when it arrives, and later read without a call. An unusable
reply (refused, truncated, unreadable) is requested once more; then its pass is missing, and if more
than half of the passes are missing, so is the output.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from extensions.judges import prompts
from extensions.judges.client import Client
from extensions.judges.context import JudgeContext, Question, Reply
from extensions.judges.scoring import reading
from extensions.judges.scoring.answering import Answers, Asking, QuestionBuilder, key_of, read_reply
from extensions.judges.scoring.reading import SEVERITIES, Verdict
from metaeval.messages import Message, message
from metrics.base import (
    Feed,
    MeanOfSegments,
    MetricError,
    MetricInfo,
    Scored,
    Scores,
    SegmentInput,
    UnfinishedError,
    check_inputs,
    format_signature,
)
from metrics.error_spans import Spans
from metrics.options import OptionError

# Track the texts that a judge is scoring, and the questions that each still waits for.

Passes = Sequence[Sequence[Question]]


class Bench(Protocol):
    """A judge: it turns texts into questions, and verdicts into numbers."""

    info: MetricInfo

    def questions(self, segment: SegmentInput) -> Passes:
        """Return the questions of each pass about a text."""
        ...

    def further(self, segment: SegmentInput, passes: Passes, answers: Answers) -> Passes:
        """Return the questions of each pass that follow from the replies; none at the end."""
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
        self._further: list[Question] = []

    def more(self, n: int) -> list[Question]:
        """Return the questions of further texts, those that follow from replies first.

        A text without any is skipped.
        """
        found, self._further = self._further, []
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
        self._wait(number, questions)
        if not questions:
            self._feed.done({number: self._scored(number)})
        return questions

    def _wait(self, number: int, questions: Sequence[Question]) -> None:
        self._open[number] = {question.key for question in questions}
        for key in self._open[number]:
            self._waiting[key].add(number)

    def _continues(self, number: int) -> bool:
        """Ask what follows from the replies about a text; return whether anything does."""
        segment, passes = self._texts[number]
        further = self._bench.further(segment, passes, self._asking.found)
        questions = [question for each in further for question in each]
        if questions:
            joined = [[*a, *b] for a, b in zip(passes, further, strict=True)]
            self._texts[number] = segment, joined
            self._wait(number, questions)
            self._further += questions
        return bool(questions)

    def finish(self, keys: Iterable[str]) -> None:
        """Hand over the texts that are complete; the feed is called even if there are none."""
        ready: set[int] = set()
        for key in keys:
            for number in self._waiting.get(key, ()):
                self._open[number].discard(key)
                if not self._open[number]:
                    ready.add(number)
        whole = [number for number in sorted(ready) if not self._continues(number)]
        self._feed.done({number: self._scored(number) for number in whole})

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


REVISION = 1
# While other runs wait, a judge accepts texts for so long, then waits for its open requests.
STREAM_SECONDS = 30.0
# As many failed texts end a run that has no score yet (`metrics.runs.slices.HOPELESS`).
FIRST_SLICE = 10


class Judge(MeanOfSegments):
    """A judge that scores each output alone."""

    stream_seconds, first_slice = STREAM_SECONDS, FIRST_SLICE
    device = "endpoint"
    precision = ""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info, self.options = info, dict(info.options)
        self._codes = {"source_language": source_language, "target_language": target_language}
        self.languages = self._codes
        self.missing: dict[int, Message] = {}

    def attach(self, context: JudgeContext) -> None:
        """Connect to the endpoint of the context, and find out what its server supports."""
        self.context, self.template = context, context.template
        self.languages = {side: context.language(code) for side, code in self._codes.items()}
        self.client = Client(context.endpoint, context.key())
        self.served = _served(self.client, str(self.options["model"]))
        self.builder = QuestionBuilder(
            context.endpoint, self.template, self.options, has_schema=self._has_schema()
        )

    def _has_schema(self) -> bool:
        """Return True if the server supports a schema; its reply is stored as any other."""
        wish = self.options["structure"]
        if self.template.kind in prompts.PLAIN:
            return False
        if wish != "as the server can":
            return wish == "schema"
        body: dict[str, Any] = {
            "model": self.options["model"],
            "messages": [{"role": "user", "content": 'Answer: {"score": 50}'}],
            str(self.options["limit_name"]): 64,
        }
        builder = QuestionBuilder(
            self.context.endpoint, self.template, self.options, has_schema=True
        )
        labels = ("A", "B")
        body["response_format"] = builder.response_format(labels)
        question = Question(key_of(self.context.endpoint, body, 0), body)
        known = self.context.stored([question.key]).get(question.key, ())
        reply = known[-1] if known else self._probe(question)
        return reply.status == 200

    def _probe(self, question: Question) -> Reply:
        reply = self.client.ask_alone(question.body)
        self.context.store([(question, reply)])
        return reply

    def stored(self) -> None:
        """Store a report on the verdicts so far."""
        self.context.report()

    def signature(self) -> str:
        """Everything that changes a value."""
        named = {
            key: self.options[key]
            for key in ("model", "temperature", "top_p", "seed", "sampling", "passes", "pooling")
        }
        fields: dict[str, str | int] = {
            "endpoint": self.context.endpoint.name,
            **{key: _short(value) for key, value in named.items()},
            "served": self.served,
            "template": self.template.key,
            "words": key_of(self.context.endpoint, self.template.content, 0)[:12],
            "output": "schema" if self.builder.has_schema else "plain",
            "limit": int(self.options["limit"]),
            "revision": REVISION,
        }
        return format_signature(self.info.name, fields)

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, measures); raise :class:`UnfinishedError` where asking ended early."""
        return self._whole(inputs).rows

    def _whole(self, inputs: Sequence[SegmentInput]) -> Whole:
        check_inputs(self.info, inputs)
        feed = Whole(inputs, self.info.width)
        if error := self._asked(feed):
            found = feed.spans if self.template.kind in prompts.WITH_SPANS else None
            raise UnfinishedError(error.message, feed.rows, found, permanent=error.permanent)
        self.missing = feed.missing
        return feed

    def score_from(self, feed: Feed) -> None:
        """Score the texts of a feed; connections are busy as long as it has any."""
        if error := self._asked(feed):
            none = np.empty((0, self.info.width))
            raise UnfinishedError(error.message, none, None, permanent=error.permanent)

    def _asked(self, feed: Feed) -> MetricError | None:
        """Ask about all texts of a feed; return the error that ended it early."""
        read, limit = read_reply(self.template), int(self.options["limit"])
        asking = Asking(self.context, self.client, read, limit)
        asking.ask(Texts(self, feed, asking))
        return asking.found.error

    def problem(self, passes: Sequence[Sequence[Question]], answers: Answers) -> Message | None:
        """Return why there are too few verdicts; None where there are enough."""
        wanted = [question.key for each in passes for question in each]
        unusable = [answers.unusable[key] for key in wanted if key in answers.unusable]
        if not wanted:
            return message(
                "judge.nothing-to-compare",
                "There is no other output of this segment to compare this output with.",
            )
        if 2 * len(unusable) <= len(wanted) and len(unusable) < len(wanted):
            return None
        if len(wanted) == 1:
            return unusable[0]
        return message(
            "judge.replies-unusable",
            "{problem} ({count} of {total} replies are unusable)",
            problem=unusable[0],
            count=len(unusable),
            total=len(wanted),
        )

    def values(self, segment: SegmentInput) -> dict[str, str]:
        """Return the values of the placeholders; of several references the first."""
        reference = segment.references[0] if segment.references else ""
        return self.languages | {
            "source": segment.source,
            "output": segment.hypothesis,
            "reference": reference,
        }

    def questions(self, segment: SegmentInput) -> list[list[Question]]:
        """Return the questions of each pass."""
        values = self.values(segment)
        return [[self.builder.question(values, n)] for n in range(int(self.options["passes"]))]

    def further(
        self, segment: SegmentInput, passes: Sequence[Sequence[Question]], answers: Answers
    ) -> Passes:
        """Return no questions: all are known from the beginning."""
        return ()

    def judged(
        self, segment: SegmentInput, passes: Sequence[Sequence[Question]], answers: Answers
    ) -> tuple[list[float], Spans]:
        """Return the row of an output, and its spans."""
        verdicts = _verdicts(passes, answers)
        return self.pooled([verdict.score for verdict in verdicts]), ()

    def pooled(self, scores: Sequence[float]) -> list[float]:
        """Return the score and, for several passes, their spread."""
        score = reading.pool(scores, str(self.options["pooling"]))
        return [score, reading.spread(scores)] if int(self.options["passes"]) > 1 else [score]


class SpanJudge(Judge):
    """A judge that lists errors: it returns minus the MQM penalty, the counts, and the spans."""

    def score_with_spans(self, inputs: Sequence[SegmentInput]) -> tuple[Scores, Sequence[Spans]]:
        """Return rows and, for each output, its spans."""
        feed = self._whole(inputs)
        return feed.rows, feed.spans

    def judged(
        self, segment: SegmentInput, passes: Sequence[Sequence[Question]], answers: Answers
    ) -> tuple[list[float], Spans]:
        """Return the row of an output, counts as means over passes, and its spans."""
        verdicts = _verdicts(passes, answers)
        return self.with_spans(segment, verdicts, [verdict.score for verdict in verdicts])

    def with_spans(
        self, segment: SegmentInput, verdicts: Sequence[Verdict], scores: Sequence[float]
    ) -> tuple[list[float], Spans]:
        """Return the row of an output with these scores and lists of errors, and its spans."""
        placed = [reading.place(v.errors, segment.source, segment.hypothesis) for v in verdicts]
        counts = [
            float(np.mean([sum(e.severity == severity for e in v.errors) for v in verdicts]))
            for severity in reversed(SEVERITIES)
        ]
        return [*self.pooled(scores), *counts], reading.agreed(placed)


class EsaJudge(SpanJudge):
    """A judge that lists errors, and then gives a score to the output with these errors.

    As in GEMBA-ESA, the second question has the first reply as it is.
    """

    def further(
        self, segment: SegmentInput, passes: Sequence[Sequence[Question]], answers: Answers
    ) -> Passes:
        """Return the second question of each pass with a list of errors, once."""
        if any(len(questions) > 1 for questions in passes):
            return ()
        values = self.values(segment)
        return [
            [
                self.builder.question(values | {prompts.REPLY: verdict.text}, n, (prompts.SECOND,))
                for question in questions
                if (verdict := answers.verdicts.get(question.key))
            ]
            for n, questions in enumerate(passes)
        ]

    def problem(self, passes: Sequence[Sequence[Question]], answers: Answers) -> Message | None:
        """Return why there are too few verdicts; the last question of each pass counts."""
        return super().problem([questions[-1:] for questions in passes], answers)

    def judged(
        self, segment: SegmentInput, passes: Sequence[Sequence[Question]], answers: Answers
    ) -> tuple[list[float], Spans]:
        """Return the row of an output: scores of the second replies, errors of the first ones."""
        both = [_verdicts([questions], answers) for questions in passes if len(questions) > 1]
        whole = [each for each in both if len(each) > 1]
        listed, scored = zip(*whole, strict=True)
        return self.with_spans(segment, listed, [verdict.score for verdict in scored])


def _verdicts(passes: Sequence[Sequence[Question]], answers: Answers) -> list[Verdict]:
    keys = [question.key for each in passes for question in each]
    return [answers.verdicts[key] for key in keys if key in answers.verdicts]


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _served(client: Client, model: str) -> str:
    """Return the name of the model at the server, with its other identifiers.

    llama.cpp accepts any name and serves its only model. `created` is ignored: for llama.cpp and
    vLLM it is the time of our question.
    """
    listed = client.models()
    found: Mapping[str, Any] = next((each for each in listed if each.get("id") == model), {})
    if not found and len(listed) == 1:
        found = listed[0]
    names = [str(found[key]) for key in ("id", "root") if found.get(key)]
    text = json.dumps(" ".join(dict.fromkeys(names)), ensure_ascii=False).strip('"')
    return text.replace("|", "/")[:200] or "not told"


def make(info: MetricInfo, *, source_language: str, target_language: str) -> Judge:
    """Return the judge for a kind of template; raise MetricError where there is no template."""
    from extensions.judges.scoring.comparing import ListJudge, PairJudge

    try:
        kind = prompts.find.get()(str(info.option("template"))).kind
    except OptionError as error:
        raise MetricError(error.problem, permanent=True) from error
    kinds: dict[str, type[Judge]] = {
        prompts.SCORE: Judge,
        prompts.STARS: Judge,
        prompts.CLASSES: Judge,
        prompts.SPANS: SpanJudge,
        prompts.LINES: SpanJudge,
        prompts.ESA: EsaJudge,
        prompts.PAIRS: PairJudge,
        prompts.LISTS: ListJudge,
    }
    return kinds[kind](info, source_language=source_language, target_language=target_language)
