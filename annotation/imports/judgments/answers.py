"""Convert rows of judgments to answers, one per annotator and item."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from annotation.imports.drafts import SHOW_OUTPUT
from annotation.imports.judgments.exported.columns import is_answer
from annotation.imports.judgments.fields import KEYS, Sheet
from annotation.imports.judgments.options import Options
from annotation.imports.judgments.rows import NOT_JOINED, Key, Row, rows_of
from annotation.imports.judgments.spans import RawSpan, raw_spans
from annotation.imports.judgments.times import Clock, TimeError
from annotation.models import Annotator, Item
from annotation.models.judgment import MAX_SCORE
from annotation.protocols.composed import MOST_VALUE
from annotation.uploads.checks import FORBIDDEN_IN_NAMES, character, max_length
from annotation.uploads.problems import Report
from core.work.kinds import CHECKING, counted
from metaeval.messages import message, plural

LONGEST_PAUSE = 10**9  # seconds
# What rows with spans of one answer share.
OF_ONE_ANSWER = (*KEYS, "annotator", "kind", "revision", "document")


@dataclass(slots=True)
class Answer:
    """An answer as read; its score is on the table's own scale.

    `candidates` are the indices of the items of a given campaign that it may be about.
    """

    row: Row
    who: str
    segment: str
    system: str
    kind: Item.Kind
    score: float | None
    spans: tuple[RawSpan, ...]
    text: str
    batch: str = ""
    item: str = ""
    partner: str = ""
    started_at: datetime | None = None
    submitted_at: datetime | None = None
    comment: str = ""
    is_flagged: bool = False
    revision: int | None = None
    low: int | None = None
    high: int | None = None
    candidates: Sequence[int] = ()

    @property
    def content(self) -> tuple[object, ...]:
        """The content of an answer; equal rows are one answer."""
        spans = tuple(
            tuple(sorted((k, str(v)) for k, v in raw.values.items())) for raw in self.spans
        )
        others = tuple(sorted((f, self.row.name(f)) for f in self.row.cells if is_answer(f)))
        key = self.row.name("judgment") if self.row.sheet.is_exported else ""
        return (self.score, spans, self.started_at, self.submitted_at, self.comment,
                self.is_flagged, others, key)  # fmt: skip

    @property
    def time(self) -> datetime | None:
        """The time of the answer."""
        return self.submitted_at or self.started_at


@dataclass
class Reader:
    """Reads answers and counts skipped rows."""

    options: Options
    report: Report
    clock: Clock
    missing: list[Row] = field(default_factory=list)

    def read(self, rows: Sequence[Row], span_sheets: Sequence[Sheet]) -> list[Answer]:
        """Return the answers of rows, with the spans of sheets that hold one a row."""
        for name in ("started_at", "submitted_at"):
            self.clock.learn(row.cells.get(name) for row in rows)
        answers: list[Answer] = []
        begun: dict[Key, Answer] = {}
        for row in counted(CHECKING, rows):
            key = row.key(OF_ONE_ANSWER) if row.sheet.has_span_rows else ()
            if key in begun:
                self._add_spans(begun[key], row)
                continue
            answer = self._answer(row)
            if answer is not None:
                answers.append(answer)
                if key:
                    begun[key] = answer
        for sheet in span_sheets:
            self._join_spans(answers, sheet)
        return [answer for answer in answers if self._is_answer(answer, bool(span_sheets))]

    def _add_spans(self, answer: Answer, row: Row) -> None:
        score = row.number("score", self.report)
        if score is not None and answer.score is not None and score != answer.score:
            self.report.error(
                message(
                    "judgments.other-score-of-spans",
                    "This error belongs to the judgment in {place}, which has a different score "
                    "({score}).",
                    place=answer.row.place.label,
                    score=answer.score,
                ),
                row.at("score"),
            )
        answer.score = score if answer.score is None else answer.score
        answer.spans += raw_spans(row, self.report, self.options.severity)

    def _join_spans(self, answers: Sequence[Answer], sheet: Sheet) -> None:
        known = {name for answer in answers for name in answer.row.cells}
        shared = [key for key in KEYS if key in sheet.has and key in known]
        if not shared:
            self.report.error(NOT_JOINED, sheet.table.head)
            return
        by_key: dict[Key, list[Answer]] = {}
        for answer in answers:
            by_key.setdefault(answer.row.key(shared), []).append(answer)
        for row in rows_of(sheet):
            found = by_key.get(row.key(shared), [])
            if len(found) == 1:
                found[0].spans += raw_spans(row, self.report, self.options.severity)
                continue
            refusal = message(
                "judgments.span-of-no-single-judgment",
                "This error must belong to exactly one judgment, but {n} judgments have {keys}.",
                n=len(found),
                keys=row.named(shared),
            )
            self.report.error(refusal, row.place)

    def _answer(self, row: Row) -> Answer | None:
        before = self.report.n_errors
        who = self._label(row, "annotator") or self.options.annotator
        if not who:
            self.report.error(
                message("judgments.no-annotator", "The annotator is missing."), row.at("annotator")
            )
        started, submitted = self._times(row)
        kind = row.kind(self.report)
        answer = Answer(
            row=row,
            who=who,
            segment=row.name("segment"),
            system=row.name("system"),
            kind=kind,
            batch=self._label(row, "batch"),
            item=row.name("item"),
            partner=row.name("partner"),
            score=row.number("score", self.report),
            spans=raw_spans(row, self.report, self.options.severity),
            started_at=started,
            submitted_at=submitted,
            comment=row.clean("comment", self.report),
            is_flagged=row.is_true("is_flagged", self.report),
            revision=row.whole("revision", self.report),
            text=self._text(row, kind),
            low=self._bound(row, "low"),
            high=self._bound(row, "high"),
        )
        return answer if self.report.n_errors == before else None

    def _text(self, row: Row, kind: Item.Kind) -> str:
        """Return the text that was shown instead of an output."""
        if row.sheet.is_exported:
            return row.clean("own_text", self.report)
        return "" if kind in SHOW_OUTPUT else row.clean("output", self.report)

    def _label(self, row: Row, name: str) -> str:
        """Read a name, and report one that cannot be stored."""
        model, column = (Annotator, "label") if name == "annotator" else (Item, "batch")
        label, longest = row.name(name), max_length(model, column)
        if len(label) > longest:
            refusal = message(
                "judgments.name-too-long",
                "“{name}…” has {n} characters; at most {longest} are allowed.",
                name=label[:30],
                n=len(label),
                longest=longest,
            )
            self.report.error(refusal, row.at(name))
        if found := FORBIDDEN_IN_NAMES.search(label):
            self.report.error(
                message(
                    "judgments.character-in-name",
                    "The name contains the character {character}, which is not allowed.",
                    character=character(found[0]),
                ),
                row.at(name),
            )
        return label

    def _bound(self, row: Row, name: str) -> int | None:
        bound = row.whole(name, self.report)
        lowest, highest = (-MOST_VALUE, MOST_VALUE) if row.sheet.is_exported else (0, MAX_SCORE)
        if bound is not None and not lowest <= bound <= highest:
            self.report.error(
                message(
                    "judgments.bound-outside",
                    "{bound} is not between {lowest} and {highest}.",
                    bound=bound,
                    lowest=lowest,
                    highest=highest,
                ),
                row.at(name),
            )
        return bound

    def _times(self, row: Row) -> tuple[datetime | None, datetime | None]:
        times: list[datetime | None] = []
        for name in ("started_at", "submitted_at"):
            try:
                times.append(self.clock.read(row.cells.get(name)))
            except TimeError as error:
                self.report.error(error.message, row.at(name))
                times.append(None)
        seconds = row.number("seconds", self.report)
        if seconds is not None and not 0 <= seconds <= LONGEST_PAUSE:
            self.report.error(
                message(
                    "judgments.impossible-duration",
                    "{seconds} seconds is not a possible duration.",
                    seconds=seconds,
                ),
                row.at("seconds"),
            )
            seconds = None
        if seconds is not None and times == [None, None]:
            # A duration without any time is the time at work.
            row.cells.setdefault("active_ms", round(1000 * seconds))
        return self.clock.both(times[0], times[1], seconds)

    def _is_answer(self, answer: Answer, has_span_sheets: bool) -> bool:
        """Return whether a row has an answer: a score or spans, as far as its table has them."""
        row = answer.row
        if row.sheet.is_exported or any(row.name(f) for f in row.cells if is_answer(f)):
            return True
        takes_spans = has_span_sheets or row.sheet.has_span_rows or "spans" in row.sheet.has
        takes_score = "score" in row.sheet.has or "score" in row.cells
        is_there = answer.score is not None or bool(answer.spans)
        if not is_there and (takes_score or not takes_spans):
            self.missing.append(row)
            return False
        return True


def say(reader: Reader, report: Report) -> None:
    """Report skipped rows and times that were dropped or are uncertain."""
    if reader.missing:
        text = plural(
            "judgments.rows-without-answer",
            "{n} row has neither a score nor an error and was skipped.",
            "{n} rows have neither a score nor an error and were skipped.",
            n=len(reader.missing),
        )
        report.warn(text, reader.missing[0].at("score"))
    reader.clock.warn(report)
