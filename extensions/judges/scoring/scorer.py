"""Judges: outputs in, questions out, verdicts back, numbers out.

Passes are asked singly, each with a seed of its own. Their scores are pooled by a mean without
those beyond two standard deviations (or the mean, or the median); of spans those stay that half of
the passes mark, with that share as confidence. Quotes are looked for in the text as they stand,
then by NFC and case; what is not found is kept without a place and counted.

Every reply is kept under its question as soon as it is there, and read again without a call. One
that cannot be used (refused, cut, unreadable) is asked for once more; then its pass is missing, and
where more than half of the passes are, so is the output.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from extensions.judges import prompts
from extensions.judges.calls.client import Client
from extensions.judges.desk import Desk, Question, Reply
from extensions.judges.scoring import reading
from extensions.judges.scoring.answering import Answers, Asking, read_reply
from extensions.judges.scoring.asking import Clerk, key_of
from extensions.judges.scoring.pending import Texts, Whole
from extensions.judges.scoring.reading import SEVERITIES, Verdict
from metrics.base import (
    Feed,
    MeanOfSegments,
    MetricError,
    MetricInfo,
    Scores,
    SegmentInput,
    UnfinishedError,
    check_inputs,
    format_signature,
)
from metrics.error_spans import Spans

REVISION = 1
# While other runs wait, a judge takes in texts for so long; then connections wait for the slowest.
STREAM_SECONDS = 30.0
# As many failed texts end a run that has no score yet (`metrics.runs.slices.HOPELESS`).
FIRST_SLICE = 10


class Judge(MeanOfSegments):
    """A judge that gives a number to each output by itself."""

    stream_seconds, first_slice = STREAM_SECONDS, FIRST_SLICE
    device = "endpoint"
    precision = ""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info, self.options = info, dict(info.options)
        self._codes = {"source_language": source_language, "target_language": target_language}
        self.languages = self._codes
        self.missing: dict[int, str] = {}

    def sit(self, desk: Desk) -> None:
        """Open the connections of the desk's endpoint, and ask it what it can."""
        self.desk, self.template = desk, desk.template
        self.languages = {side: desk.language(code) for side, code in self._codes.items()}
        self.client = Client(desk.endpoint, desk.key())
        self.served = _served(self.client, str(self.options["model"]))
        self.clerk = Clerk(
            desk.endpoint, self.template, self.options, has_schema=self._has_schema()
        )

    def _has_schema(self) -> bool:
        """Whether the server takes a schema: asked once, and kept as any reply."""
        wish = self.options["structure"]
        if wish != "as the server can":
            return wish == "schema"
        body: dict[str, Any] = {
            "model": self.options["model"],
            "messages": [{"role": "user", "content": 'Answer: {"score": 50}'}],
            str(self.options["limit_name"]): 64,
        }
        clerk = Clerk(self.desk.endpoint, self.template, self.options, has_schema=True)
        labels = ("A", "B")
        body["response_format"] = clerk.response_format(labels)
        question = Question(key_of(self.desk.endpoint, body, 0), body)
        known = self.desk.stored([question.key]).get(question.key, ())
        reply = known[-1] if known else self._probe(question)
        return reply.status == 200

    def _probe(self, question: Question) -> Reply:
        reply = self.client.ask_alone(question.body)
        self.desk.store([(question, reply)])
        return reply

    def stored(self) -> None:
        """Let the desk say what the verdicts look like so far."""
        self.desk.report()

    def signature(self) -> str:
        """Everything that changes a value."""
        named = {
            key: self.options[key]
            for key in ("model", "temperature", "top_p", "seed", "sampling", "passes", "pooling")
        }
        fields: dict[str, str | int] = {
            "endpoint": self.desk.endpoint.name,
            **{key: _short(value) for key, value in named.items()},
            "served": self.served,
            "template": self.template.key,
            "words": key_of(self.desk.endpoint, vars(self.template), 0)[:12],
            "output": "schema" if self.clerk.has_schema else "plain",
            "limit": int(self.options["limit"]),
            "revision": REVISION,
        }
        return format_signature(self.info.name, fields)

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, measures); :class:`UnfinishedError` where the asking ended early."""
        return self._whole(inputs).rows

    def _whole(self, inputs: Sequence[SegmentInput]) -> Whole:
        check_inputs(self.info, inputs)
        feed = Whole(inputs, self.info.width)
        if error := self._asked(feed):
            found = feed.spans if self.template.kind == prompts.SPANS else None
            raise UnfinishedError(error.message, feed.rows, found, permanent=error.permanent)
        self.missing = feed.missing
        return feed

    def score_from(self, feed: Feed) -> None:
        """Score the texts of a feed; connections are busy as long as it has any."""
        if error := self._asked(feed):
            none = np.empty((0, self.info.width))
            raise UnfinishedError(error.message, none, None, permanent=error.permanent)

    def _asked(self, feed: Feed) -> MetricError | None:
        """Ask about all texts of a feed; return what ended that early."""
        read, limit = read_reply(self.template.kind), int(self.options["limit"])
        asking = Asking(self.desk, self.client, read, limit)
        asking.ask(Texts(self, feed, asking))
        return asking.found.error

    def problem(self, passes: Sequence[Sequence[Question]], answers: Answers) -> str:
        """Say why there are too few verdicts; empty where there are enough."""
        wanted = [question.key for each in passes for question in each]
        unusable = [answers.unusable[key] for key in wanted if key in answers.unusable]
        if not wanted:
            return "There is no other output of this segment to compare it with."
        if 2 * len(unusable) <= len(wanted) and len(unusable) < len(wanted):
            return ""
        among = f" ({len(unusable)} of {len(wanted)} replies)" if len(wanted) > 1 else ""
        return unusable[0] + among

    def values(self, segment: SegmentInput) -> dict[str, str]:
        """What fills the placeholders; of several references the first."""
        reference = segment.references[0] if segment.references else ""
        return self.languages | {
            "source": segment.source,
            "output": segment.hypothesis,
            "reference": reference,
        }

    def questions(self, segment: SegmentInput) -> list[list[Question]]:
        """Return the questions of each pass."""
        values = self.values(segment)
        return [[self.clerk.question(values, n)] for n in range(int(self.options["passes"]))]

    def judged(
        self, segment: SegmentInput, passes: Sequence[Sequence[Question]], answers: Answers
    ) -> tuple[list[float], Spans]:
        """Return the row of an output, and its spans."""
        verdicts = _verdicts(passes, answers)
        return self.pooled([verdict.score for verdict in verdicts]), ()

    def pooled(self, scores: Sequence[float]) -> list[float]:
        """The score and, of several passes, their spread."""
        score = reading.pool(scores, str(self.options["pooling"]))
        return [score, reading.spread(scores)] if int(self.options["passes"]) > 1 else [score]


class SpanJudge(Judge):
    """A judge that lists errors: minus their MQM penalty, their spans, and how many there are."""

    def score_with_spans(self, inputs: Sequence[SegmentInput]) -> tuple[Scores, Sequence[Spans]]:
        """Return rows and, for each output, its spans."""
        feed = self._whole(inputs)
        return feed.rows, feed.spans

    def judged(
        self, segment: SegmentInput, passes: Sequence[Sequence[Question]], answers: Answers
    ) -> tuple[list[float], Spans]:
        """Return the row of an output, counts as means over passes, and its spans."""
        verdicts = _verdicts(passes, answers)
        placed = [reading.place(v.errors, segment.source, segment.hypothesis) for v in verdicts]
        counts = [
            float(np.mean([sum(e.severity == severity for e in v.errors) for v in verdicts]))
            for severity in reversed(SEVERITIES)
        ]
        row = [*self.pooled([verdict.score for verdict in verdicts]), *counts]
        return row, reading.agreed(placed)


def _verdicts(passes: Sequence[Sequence[Question]], answers: Answers) -> list[Verdict]:
    keys = [question.key for each in passes for question in each]
    return [answers.verdicts[key] for key in keys if key in answers.verdicts]


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _served(client: Client, model: str) -> str:
    """Return what the server calls the model, with what else tells it apart.

    llama.cpp takes any name and serves the one model that it has. `created` tells nothing: there
    and for vLLM it is the time of our question.
    """
    listed = client.models()
    found: Mapping[str, Any] = next((each for each in listed if each.get("id") == model), {})
    if not found and len(listed) == 1:
        found = listed[0]
    told = [str(found[key]) for key in ("id", "root") if found.get(key)]
    text = json.dumps(" ".join(dict.fromkeys(told)), ensure_ascii=False).strip('"')
    return text.replace("|", "/")[:200] or "not told"


def make(info: MetricInfo, *, source_language: str, target_language: str) -> Judge:
    """Return the judge for a kind of template; a permanent MetricError where it is not there."""
    from extensions.judges.scoring.comparing import ListJudge, PairJudge

    try:
        kind = prompts.find.get()(str(info.option("template"))).kind
    except ValueError as error:
        raise MetricError(str(error), permanent=True) from error
    kinds: dict[str, type[Judge]] = {
        prompts.SCORE: Judge,
        prompts.SPANS: SpanJudge,
        prompts.PAIRS: PairJudge,
        prompts.LISTS: ListJudge,
    }
    return kinds[kind](info, source_language=source_language, target_language=target_language)
