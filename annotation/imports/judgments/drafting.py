"""Answers to judgments as they are stored: scores 0–100, spans in code points, revisions."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.imports.drafts import JudgmentDraft
from annotation.imports.judgments.answers import Answer
from annotation.imports.judgments.cells.scales import Scores
from annotation.imports.judgments.cells.spans import SpanReader
from annotation.imports.judgments.items import Items
from annotation.imports.judgments.options import Options
from annotation.imports.judgments.revisions import Revisions
from annotation.imports.judgments.texts import Texts
from annotation.models import Item
from annotation.protocols import Protocol, Span
from annotation.uploads.problems import Place, Report
from metaeval.messages import message, plural

DIFFERENCE = 1e-6


@dataclass
class Drafter:
    """Drafts the judgments of one campaign; `other_penalties` are scores that spans contradict."""

    protocol: Protocol
    texts: Texts
    options: Options
    report: Report
    other_penalties: int = 0
    first_other: Place | None = None

    def __post_init__(self) -> None:
        self.scores = Scores(self.options.scale, self.report)
        self.spans = SpanReader(self.protocol, self.options.ends_included, self.report)
        self.revisions = Revisions(self.options.ties, self.report)

    def draft(self, answers: Sequence[Answer], items: Items) -> list[JudgmentDraft]:
        """Return the judgments, in each person's own order; what was done is reported."""
        groups: dict[tuple[str, int], list[Answer]] = defaultdict(list)
        for answer in _in_time(answers):
            groups[answer.who, items.number(answer)].append(answer)
        drafts = [
            self._judgment(who, item, answer)
            for (who, item), group in groups.items()
            for answer in self.revisions.order(group)
        ]
        self._say(answers)
        return drafts

    def _judgment(self, who: str, item: int, answer: Answer) -> JudgmentDraft:
        spans = self._spans(answer)
        return JudgmentDraft(
            annotator=who,
            item=item,
            score=self._score(answer, spans),
            started_at=answer.started_at,
            submitted_at=answer.submitted_at,
            spans=spans,
            comment=answer.comment,
            is_flagged=answer.is_flagged,
        )

    def _spans(self, answer: Answer) -> tuple[Span, ...]:
        if self.protocol.spans is None:
            if answer.spans:
                refusal = message(
                    "judgments.protocol-without-spans",
                    "The protocol {protocol} has no error spans.",
                    protocol=self.protocol.name,
                )
                self.report.error(refusal, answer.spans[0].place)
            return ()
        output = self.texts.outputs.get((answer.system, answer.segment), "")
        # The text of a degraded copy is often not published: its spans cannot be checked then.
        is_unknown = answer.kind == Item.Kind.BAD_REF and not answer.text
        shown = answer.text or ("" if is_unknown else output)
        return self.spans.read(answer.spans, self.texts.sources.get(answer.segment, ""), shown)

    def _score(self, answer: Answer, spans: Sequence[Span]) -> int | None:
        if self.protocol.has_score and answer.score is None:
            refusal = message(
                "judgments.score-missing",
                "The protocol {protocol} needs a score, but the score is missing.",
                protocol=self.protocol.name,
            )
            self.report.error(refusal, answer.row.at("score"))
        elif self.protocol.has_score and answer.score is not None:
            return self.scores.read(answer.row, answer.score)
        elif answer.score is not None and self.protocol.spans is not None:
            penalty = self.protocol.spans.penalty(spans)
            if not math.isclose(abs(answer.score), penalty, abs_tol=DIFFERENCE):
                self.first_other = self.first_other or answer.row.at("score")
                self.other_penalties += 1
        return None

    def _say(self, answers: Sequence[Answer]) -> None:
        self.revisions.say()
        given = [answer.score for answer in answers if answer.score is not None]
        if self.protocol.has_score:
            self.scores.say(given)
        elif given:
            self.report.note(
                message(
                    "judgments.scores-from-spans",
                    "{protocol} computes scores from the spans. The scores of the table are only "
                    "compared with them.",
                    protocol=self.protocol.name,
                )
            )
        if self.other_penalties and self.first_other:
            self.report.warn(
                message(
                    "judgments.scores-differ-from-penalties",
                    "{n} of {total} scores differ from minus the penalty of their spans. The "
                    "penalty is used. To store the scores too, import them as published human "
                    "scores.",
                    n=self.other_penalties,
                    total=len(given),
                ),
                self.first_other,
            )
        counts = self.spans.counts
        if counts["undecided"]:
            self.report.warn(
                plural(
                    "judgments.spans-without-severity",
                    "Skipped {n} error span without a severity.",
                    "Skipped {n} error spans without a severity.",
                    n=counts["undecided"],
                )
            )
        if counts["unplaced"]:
            self.report.warn(
                plural(
                    "judgments.spans-of-unknown-texts",
                    "The text of {n} error span is unknown, so its end was not checked.",
                    "The texts of {n} error spans are unknown, so their ends were not checked.",
                    n=counts["unplaced"],
                )
            )


def _in_time(answers: Sequence[Answer]) -> Sequence[Answer]:
    """Return answers ordered by time if all times are known, else in the order of the table."""
    timed = [(answer.time, number) for number, answer in enumerate(answers)]
    known = [(time, number) for time, number in timed if time is not None]
    if len(known) < len(answers):
        return answers
    return [answers[number] for _, number in sorted(known)]
