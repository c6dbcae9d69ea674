"""Convert answers to judgments as stored: scores, spans in code points, revisions."""

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol as Interface

import numpy as np

from annotation.imports.drafts import ItemDraft, JudgmentDraft
from annotation.imports.judgments.answers import Answer
from annotation.imports.judgments.exported import cells
from annotation.imports.judgments.options import LAST_WINS, Options
from annotation.imports.judgments.rows import Row
from annotation.imports.judgments.spans import SpanReader
from annotation.imports.judgments.texts import Texts
from annotation.models import Item
from annotation.models.judgment import MAX_SCORE
from annotation.protocols import Protocol, Span
from annotation.uploads.problems import Place, Report
from metaeval.messages import message

# Convert scores to whole numbers from 0 to 100, unchanged or from a stated scale.

SMALL_SCALE = 10


@dataclass
class Scores:
    """Converts the scores of one campaign; `scale` is None for unchanged scores of 0–100."""

    scale: tuple[float, float] | None
    report: Report
    rounded: int = 0
    converted: int = 0

    def read(self, row: Row, value: float) -> int | None:
        """Return a score from 0 to 100, or None with the reason reported."""
        if self.scale is not None:
            return self._rescaled(row, value)
        if 0 <= value <= MAX_SCORE and value == int(value):
            return int(value)
        refusal = message(
            "judgments.score-outside",
            "The score {score} is not a whole number from 0 to {highest}. If the scores are on "
            "another scale, state it, such as 0-6, and they are mapped linearly to 0–100. Import "
            "z-scores and means as published human scores: they are not judgments of one "
            "annotator.",
            score=value,
            highest=MAX_SCORE,
        )
        self.report.error(refusal, row.at("score"))
        return None

    def _rescaled(self, row: Row, value: float) -> int | None:
        low, high = self.scale or (0.0, 100.0)
        if not low <= value <= high:
            refusal = message(
                "judgments.score-outside-scale",
                "The score {score} is outside the stated scale {low}–{high}.",
                score=value,
                low=low,
                high=high,
            )
            self.report.error(refusal, row.at("score"))
            return None
        exact = (value - low) / (high - low) * MAX_SCORE
        score = math.floor(exact + 0.5)
        self.converted += 1
        self.rounded += not math.isclose(exact, score, abs_tol=1e-9)
        return score

    def say(self, values: Sequence[float]) -> None:
        """Report what was done, and a scale that is probably another one."""
        if self.scale is not None:
            low, high = self.scale
            self.report.warn(
                message(
                    "judgments.scores-mapped",
                    "Mapped {n} scores from {low}–{high} to 0–100; {rounded} of them were rounded "
                    "to whole numbers.",
                    n=self.converted,
                    low=low,
                    high=high,
                    rounded=self.rounded,
                )
            )
        elif values and max(values) <= SMALL_SCALE and len(set(values)) > 1:
            self.report.warn(
                message(
                    "judgments.scores-on-small-scale",
                    "All scores are between {low} and {high}. If that is their scale, state it. "
                    "Otherwise they are read as scores from 0 to 100.",
                    low=min(values),
                    high=max(values),
                )
            )


# Order several answers of one annotator to one item: revisions, copies, contradictions.


@dataclass
class Revisions:
    """Orders answers; `copies` and `revised` count what was found."""

    ties: str
    report: Report
    copies: int = 0
    revised: int = 0
    by_rule: int = 0

    def order(self, answers: Sequence[Answer]) -> list[Answer]:
        """Return the different answers to one thing, the first one first."""
        if len(answers) < 2:
            return list(answers)
        versions = list({answer.content: answer for answer in reversed(answers)}.values())[::-1]
        self.copies += len(answers) - len(versions)
        if len(versions) < 2:
            return versions
        self.revised += len(versions) - 1
        for orders in ([a.revision for a in versions], [a.time for a in versions]):
            if None not in orders and len(set(orders)) == len(versions):
                numbered = sorted(zip(orders, range(len(versions)), strict=True))
                return [versions[number] for _, number in numbered]
        if self.ties == LAST_WINS:
            self.by_rule += 1
            return versions
        self._contradict(versions)
        return versions

    def _contradict(self, versions: Sequence[Answer]) -> None:
        for answer in versions[1:]:
            self.report.error(
                message(
                    "judgments.contradiction",
                    "“{annotator}” has a different judgment of the same item in {place}, and no "
                    "time or revision shows which is later. Choose that the last row counts, or "
                    "name the column that distinguishes the two (item, batch, kind or campaign).",
                    annotator=answer.who,
                    place=versions[0].row.place.label,
                ),
                answer.row.at("score"),
            )

    def say(self) -> None:
        """Report what was found."""
        self.report.warn_of(
            self.copies,
            "judgments.copies",
            "{n} row is a copy of another and was skipped.",
            "{n} rows are copies of others and were skipped.",
        )
        self.report.note_of(
            self.revised,
            "judgments.revised",
            "{n} judgment was revised later. All versions are stored; the last is current.",
            "{n} judgments were revised later. All versions are stored; the last is current.",
        )
        self.report.note_of(
            self.by_rule,
            "judgments.last-row-counts",
            "The rule that the last row counts was used {n} time.",
            "The rule that the last row counts was used {n} times.",
        )


DIFFERENCE = 1e-6


class Judged(Interface):
    """The items of a campaign, and which of them an answer is about."""

    @property
    def drafts(self) -> Sequence[ItemDraft]:
        """The items, in the order of the campaign."""

    def number(self, answer: Answer) -> int:
        """Return the index of an answer's item."""


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

    def draft(self, answers: Sequence[Answer], items: Judged) -> list[JudgmentDraft]:
        """Return the judgments, in each person's own order; what was done is reported."""
        ordered = _in_order(answers)
        numbers = array("q", map(items.number, ordered))
        drafts = [
            self._judgment(answer.who, items.drafts[item], item, answer)
            for item, group in _revised(ordered, numbers)
            for answer in self.revisions.order(group)
        ]
        self._say(answers)
        return drafts

    def _judgment(self, who: str, item: ItemDraft, number: int, answer: Answer) -> JudgmentDraft:
        protocol, row = self.protocol, answer.row
        if answer.kind == Item.Kind.DOCUMENT:
            protocol = protocol.of_document
        spans = self._spans(answer)
        ratings = cells.ratings(row, protocol, self.report)
        post_edit = row.clean("post_edit", self.report) or None
        return JudgmentDraft(
            annotator=who,
            item=number,
            score=self._score(answer, protocol, spans, ratings),
            started_at=answer.started_at,
            submitted_at=answer.submitted_at,
            spans=spans,
            comment=answer.comment,
            is_flagged=answer.is_flagged,
            ratings=ratings,
            choices=cells.choices(row, protocol, self.report),
            post_edit=self._edited(answer, protocol, post_edit),
            revision=answer.revision if row.sheet.is_exported else None,
            shown=cells.shown(row, item.column, self.report),
            **cells.judged(row, self.report),
        )

    def _edited(self, answer: Answer, protocol: Protocol, post_edit: str | None) -> str | None:
        """Return the post-edit, which must be there where nothing else gives a value."""
        if protocol.text and post_edit is None and not (protocol.scales or protocol.spans):
            self.report.error(
                message("judgments.post-edit-missing", "The post-edit is missing."),
                answer.row.at("post_edit"),
            )
        has_value = protocol.scales or protocol.spans or answer.row.name("hter")
        if protocol.text and not has_value and not self._output(answer):
            refusal = message(
                "judgments.output-of-post-edit",
                "The edits cannot be counted, because the output is not known. Add its text, or a "
                "column hter.",
            )
            self.report.error(refusal, answer.row.at("post_edit"))
        return post_edit

    def _output(self, answer: Answer) -> str:
        return answer.text or self.texts.outputs.get((answer.system, answer.segment), "")

    def _spans(self, answer: Answer) -> tuple[Span, ...]:
        if self.protocol.spans is None:
            if answer.spans:
                refusal = message(
                    "judgments.protocol-without-spans",
                    "The protocol {protocol} has no error spans.",
                    protocol=self.protocol.name,
                )
                self.spans.refuse(answer.spans[0], refusal)
            return ()
        # The text of a degraded copy is often not published: its spans cannot be checked then.
        is_unknown = answer.kind == Item.Kind.BAD_REF and not answer.text
        shown = "" if is_unknown else self._output(answer)
        return self.spans.read(answer.spans, self.texts.sources.get(answer.segment, ""), shown)

    def _score(
        self,
        answer: Answer,
        protocol: Protocol,
        spans: Sequence[Span],
        ratings: Mapping[str, int],
    ) -> int | None:
        if protocol.scales and (name := protocol.scales[0].key):
            return self._first(answer, name, ratings)
        if protocol.has_score and answer.score is None:
            refusal = message(
                "judgments.score-missing",
                "The protocol {protocol} needs a score, but the score is missing.",
                protocol=protocol.name,
            )
            self.report.error(refusal, answer.row.at("score"))
        elif protocol.has_usual_score and answer.score is not None:
            return self.scores.read(answer.row, answer.score)
        elif answer.score is not None and not protocol.has_score and protocol.spans is not None:
            penalty = protocol.spans.penalty(spans)
            if not math.isclose(abs(answer.score), penalty, abs_tol=DIFFERENCE):
                self.first_other = self.first_other or answer.row.at("score")
                self.other_penalties += 1
        return None

    def _first(self, answer: Answer, name: str, ratings: Mapping[str, int]) -> int | None:
        """Return the value of the first scale, which a column of scores has to repeat."""
        value = ratings.get(name)
        if value is not None and answer.score not in (None, value):
            refusal = message(
                "judgments.other-first-scale",
                "The score is {score}, but the scale {scale} has {value}.",
                score=answer.score,
                scale=name,
                value=value,
            )
            self.report.error(refusal, answer.row.at("score"))
        return value

    def _say(self, answers: Sequence[Answer]) -> None:
        self.revisions.say()
        given = [answer.score for answer in answers if answer.score is not None]
        if self.protocol.has_usual_score:
            self.scores.say(given)
        elif given and not self.protocol.has_score:
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
        self.report.note_of(
            counts["quoted"],
            "spans.by-words",
            "{n} error span has no offsets and was placed where its words are.",
            "{n} error spans have no offsets and were placed where their words are.",
        )
        self.report.warn_of(
            counts["undecided"],
            "judgments.spans-without-severity",
            "Skipped {n} error span without a severity.",
            "Skipped {n} error spans without a severity.",
        )
        self.report.warn_of(
            counts["unplaced"],
            "judgments.spans-of-unknown-texts",
            "The text of {n} error span is unknown, so its end was not checked.",
            "The texts of {n} error spans are unknown, so their ends were not checked.",
        )


def _revised(
    answers: Sequence[Answer], numbers: Sequence[int]
) -> Iterable[tuple[int, Sequence[Answer]]]:
    """Yield the answers of one person to one item together, with the number of the item."""
    people: dict[str, int] = {}
    who = array("q", (people.setdefault(answer.who, len(people)) for answer in answers))
    keys = np.array(who) + len(people) * np.array(numbers)
    if len(np.unique(keys)) == len(keys):
        return ((number, [answer]) for number, answer in zip(numbers, answers, strict=True))
    groups: dict[tuple[str, int], list[Answer]] = defaultdict(list)
    for number, answer in zip(numbers, answers, strict=True):
        groups[answer.who, number].append(answer)
    return ((number, group) for (_, number), group in groups.items())


def _in_order(answers: Sequence[Answer]) -> Sequence[Answer]:
    """Return each person's answers by position or time; as in the table if that lacks any.

    Our exports have the order of positions, also those that do not state them.
    """
    first: dict[str, int] = {}
    for answer in answers:
        first.setdefault(answer.who, len(first))
    if any(answer.row.sheet.is_exported for answer in answers):
        places = [answer.row.name("position") for answer in answers]
        if not all(place.isdecimal() for place in places):
            return answers
        keys = [(first[a.who], float(place)) for a, place in zip(answers, places, strict=True)]
    else:
        untimed = {answer.who for answer in answers if answer.time is None}
        keys = [
            (first[a.who], a.time.timestamp() if a.time and a.who not in untimed else 0.0)
            for a in answers
        ]
    return [answers[n] for n in sorted(range(len(answers)), key=keys.__getitem__)]
