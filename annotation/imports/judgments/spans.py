"""Error spans of tables, of Appraise and of Pearmut: a JSON list, or one span per row.

Spans with `start` and `end` count code points, the end excluded unless a person says otherwise.
Those with `start_i` and `end_i` are Appraise's or Pearmut's: UTF-16 code units, the end included,
and Appraise (`error_type`) without the text's outer blanks. Campaign files state their convention.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.imports.judgments.rows import Row
from annotation.protocols import Protocol, Span
from annotation.protocols.base import CRITICAL, SOURCE, TARGET
from annotation.protocols.published import our_category
from annotation.uploads.normalising import Normalised, normalise
from annotation.uploads.offsets import (
    APPRAISE,
    PEARMUT,
    Convention,
    find,
    only_place,
    other_words,
)
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.spans import NOT_SPANS, span_objects
from metaeval.files.cells import is_missing, read_score
from metaeval.messages import Message, MessageError, message

NO_ERROR = frozenset({"", "noerror", "none", "ok", "correct", "nan", "na"})
SIDES = {
    "": TARGET, "target": TARGET, "tgt": TARGET, "output": TARGET, "translation": TARGET,
    "mt": TARGET, "hypothesis": TARGET, "source": SOURCE, "src": SOURCE, "none": TARGET,
    "missing": SOURCE, "omission": SOURCE,
}  # fmt: skip
WHOLE = frozenset({"none", "missing", "omission"})
LONGEST_CATEGORY = 80
# What Appraise writes: an omission, and a span whose severity nobody chose.
MISSING, UNDECIDED = "missing", "undecided"
OMISSION = "accuracy/omission"
# What a severity becomes where suggestions lack it.
INSTEAD = {CRITICAL: "major"}


@dataclass(frozen=True)
class RawSpan:
    """A span as it stands: `values` by the names of a span's JSON, and where it was read.

    `texts` are those of its row, by side, in which its offsets are counted; `convention` says what
    they count, where the file is known to be a tool's. A span of our own export is exact.
    """

    values: Mapping[str, Any]
    place: Place
    texts: Mapping[str, str] = field(default_factory=dict)
    is_exported: bool = False
    convention: Convention | None = None

    @property
    def severity(self) -> str:
        """The severity in small letters."""
        return str(self.values.get("severity") or "").strip().lower()

    @property
    def offsets(self) -> list[Any]:
        """Start and end as they stand."""
        is_tool = "start_i" in self.values
        return [self.values.get(f"{name}_i" if is_tool else name) for name in ("start", "end")]

    @property
    def has_words_alone(self) -> bool:
        """Whether words take the place of offsets."""
        words = self.values.get("text")
        return isinstance(words, str) and bool(words.strip()) and all(map(is_missing, self.offsets))


def raw_spans(row: Row, report: Report, severity: str = "") -> tuple[RawSpan, ...]:
    """Return the spans of a row: of its severity columns, and of its JSON cell.

    `severity` is that of spans in JSON that name none.
    """
    has_columns = row.sheet.has_span_rows or "severity" in row.cells
    names = {"span_start": "start", "span_end": "end", "marked_text": "text"}
    if not (has_columns or row.cells.get("spans")):
        return ()
    given = {SOURCE: row.cells.get("source"), TARGET: row.cells.get("output")}
    texts = {side: text for side, text in given.items() if isinstance(text, str)}
    raws, is_exported = [], row.sheet.is_exported
    listed = span_objects(row.cells.get("spans"))
    if listed is None:
        report.error(NOT_SPANS, row.at("spans"))
    for value in listed or ():
        path = value.get("path")
        place = row.place._replace(field=path) if isinstance(path, str) else row.at("spans")
        given = value if value.get("severity") else value | {"severity": severity}
        raws.append(RawSpan(given, place, texts, is_exported))
    if has_columns:
        fields = ("severity", "category", "side", *names)
        values = {names.get(f, f): row.cells[f] for f in fields if f in row.cells}
        word = row.name("severity").lower().replace("-", "").replace(" ", "")
        if word not in NO_ERROR or (not word and _marks(values, texts)):
            given = values if word else values | {"severity": severity}
            raws.append(RawSpan(given, row.at("severity" if word else "marked_text"), texts))
    return tuple(raws)


def _marks(values: Mapping[str, Any], texts: Mapping[str, str]) -> bool:
    """Return whether columns without a severity mark something: a column of texts does not."""
    start, words = values.get("start"), str(values.get("text") or "").strip()
    has_start = not is_missing(start) and str(start).strip() != "-1"
    return has_start or (bool(words) and all(words != text.strip() for text in texts.values()))


class UnusableSpanError(MessageError):
    """A span cannot be stored."""


@dataclass
class SpanReader:
    """Converts raw spans to stored ones; `counts` counts what is unknown.

    With `can_skip`, spans that the protocol cannot show are counted as `skipped` and are no errors.
    """

    protocol: Protocol
    ends_included: bool
    report: Report
    counts: Counter[str] = field(default_factory=Counter)
    can_skip: bool = False

    def read(self, raws: Sequence[RawSpan], source: str, output: str) -> tuple[Span, ...]:
        """Return the spans of a judgment; an empty text is unknown.

        Campaign files of tools have a span once, tables as often as it counts.
        """
        kept = [raw for raw in raws if raw.is_exported or raw.severity != UNDECIDED]
        self.counts["undecided"] += len(raws) - len(kept)
        stored: list[Span] = []
        for raw in kept:
            try:
                stored.append(self._span(raw, source, output))
            except UnusableSpanError as error:
                self.refuse(raw, error.message)
        is_tool = any(raw.convention for raw in kept)
        return tuple(dict.fromkeys(stored) if is_tool else stored)

    def _exact(self, raw: RawSpan, source: str, output: str) -> Span:
        """Return a span of our own export unchanged, if it lies in its text or is a token."""
        values, scheme = raw.values, self.protocol.spans
        side, severity = values.get("side"), str(values.get("severity"))
        start: Any = values.get("start")
        end: Any = values.get("end")
        category = str(values.get("category") or "")
        if scheme is None or severity not in scheme.severity_keys:
            raise UnusableSpanError(self._unknown_severity(raw))
        are_numbers = isinstance(start, int) and isinstance(end, int)
        if side not in (SOURCE, TARGET) or not are_numbers or not 0 <= start < end < 2**31:
            refusal = message("judgments.span-changed", "The error span is not as it was exported.")
            raise UnusableSpanError(refusal)
        text = source if side == SOURCE else output
        n_tokens = len(scheme.tokens) if side == TARGET else 0
        self.counts["unplaced"] += not text
        if text and end > len(text) + n_tokens:
            self.report.error(_outside(start, end, len(text)), raw.place)
        return Span(side, start, end, severity, category[:LONGEST_CATEGORY])

    def _span(self, raw: RawSpan, source: str, output: str) -> Span:
        if raw.is_exported:
            return self._exact(raw, source, output)
        scheme = self.protocol.spans
        known = scheme.severity_keys if scheme else frozenset[str]()
        instead = INSTEAD if self.can_skip else {}
        severity = known_severity(known, raw.values.get("severity"), instead)
        if scheme is None or not severity:
            raise UnusableSpanError(self._unknown_severity(raw))
        word = str(raw.values.get("side") or "").strip().lower()
        if word not in SIDES:
            refusal = message(
                "judgments.unknown-side",
                "The side “{side}” is neither source nor target.",
                side=word[:40],
            )
            raise UnusableSpanError(refusal)
        side, text = SIDES[word], source if SIDES[word] == SOURCE else output
        # Offsets are those of the text as its row has it: they move with its line endings.
        moved = normalise(raw.texts.get(side, text))
        moved = moved if moved.text == text else Normalised(text)
        text = raw.texts[side] if moved.removed else text
        start, end = self._ends(raw, word, text)
        self.counts["quoted"] += raw.has_words_alone
        is_omission = start < 0
        if not is_omission and start >= len(text) > 0 and start - len(text) < len(scheme.tokens):
            place = len(moved.text) + start - len(text)
            return Span(TARGET, place, place + 1, severity, self._category(raw, False))
        if is_omission:
            side, text, moved = SOURCE, source, Normalised(source)
        if is_omission or word in WHOLE:
            start, end = 0, len(text) or 1
        self.counts["unplaced"] += not text
        if text and not 0 <= start < end <= len(text):
            raise UnusableSpanError(_outside(start, end, len(text)))
        words = raw.values.get("text")
        # A column of texts has the whole one.
        is_stated = bool(text) and words != text and not raw.has_words_alone
        if is_stated and (differs := other_words(words, text[start:end])):
            self.report.error(differs, raw.place)
        start, end = moved.place(start), moved.place(end)
        category = self._category(raw, is_omission)
        return Span(side, start, max(start + 1, end), severity, category)

    def refuse(self, raw: RawSpan, refusal: Message) -> None:
        """Report why a span cannot be stored, or count it."""
        if self.can_skip:
            self.counts["skipped"] += 1
        else:
            self.report.error(refusal, raw.place)

    def _unknown_severity(self, raw: RawSpan) -> Message:
        scheme = self.protocol.spans
        if not raw.severity:
            return message(
                "judgments.no-severity",
                "The severity of the error is missing. State that of errors that name none "
                "(command line: --severity; API: severity).",
            )
        if scheme and raw.severity == CRITICAL and raw.convention is None:
            # GEMBA-MQM counts 25 (Kocmi and Federmann 2023), Unbabel 10.
            return message(
                "judgments.critical-without-weight",
                "{protocol} has no critical errors. State the weight of a critical error, such as "
                "25 or 10 where a major error has 5; the campaign then has that severity.",
                protocol=self.protocol.name,
            )
        return message(
            "judgments.unknown-severity",
            "The severity “{severity}” is unknown. {protocol} has the severities {severities}.",
            severity=raw.severity[:40],
            protocol=self.protocol.name,
            severities=[each.key for each in scheme.severities] if scheme else [],
        )

    def _ends(self, raw: RawSpan, word: str, text: str) -> tuple[int, int]:
        """Return start and end; (-1, -1) is an omission.

        A start behind the text is a special token of the protocol.
        """
        pair = raw.offsets
        if word in WHOLE:
            return 0, 0
        if any(str(each).strip().lower() == MISSING for each in pair):
            return -1, -1
        if raw.has_words_alone:
            place = only_place(text, raw.values["text"])
            if isinstance(place, Message):
                raise UnusableSpanError(place)
            return place
        if all(map(is_missing, pair)):
            refusal = message("judgments.offsets-missing", "Start and end of the span are missing.")
            raise UnusableSpanError(refusal)
        start, end = map(_whole, pair)
        if start is None or end is None or start < 0:
            refusal = message(
                "judgments.offsets-not-numbers",
                "Start and end of a span must be whole numbers, not “{start}” and “{end}”.",
                start=f"{pair[0]!s:.20}",
                end=f"{pair[1]!s:.20}",
            )
            raise UnusableSpanError(refusal)
        if "start_i" in raw.values:
            return self._of_tool(raw, start, end, text)
        words = raw.values.get("text")
        if isinstance(words, str) and (at := find(text, start, end, words)):
            return at
        if start < end + self.ends_included:
            return start, end + self.ends_included
        refusal = message(
            "judgments.span-empty",
            "The span [{start:d}, {end:d}) is empty. If ends name the last character, state "
            "that ends are included. An omission has the side “missing”.",
            start=start,
            end=end + self.ends_included,
        )
        raise UnusableSpanError(refusal)

    def _of_tool(self, raw: RawSpan, start: int, end: int, text: str) -> tuple[int, int]:
        convention = raw.convention or (APPRAISE if "error_type" in raw.values else PEARMUT)
        if not text:
            return start, end + 1
        if at := convention.place(text, start, end):
            return at
        scheme, behind = self.protocol.spans, start - len(convention.positions(text))
        if scheme and not convention.is_stripped:
            if 0 <= behind < len(scheme.tokens):
                return len(text) + behind, len(text) + behind + 1
            if not behind and SOURCE in scheme.sides:
                return -1, -1
        raise UnusableSpanError(_outside(start, end, len(text)))

    def _category(self, raw: RawSpan, is_omission: bool) -> str:
        path = raw.values.get("category", raw.values.get("error_type"))
        parts = path if isinstance(path, list) else [path] if path else []
        given = "/".join(str(part) for part in parts)
        known = self.protocol.spans.category_keys if self.protocol.spans else frozenset[str]()
        category = given if given in known else our_category(given)[:LONGEST_CATEGORY]
        if is_omission and OMISSION in known and category in ("", "other"):
            return OMISSION
        return category or ("other" if "other" in known else "")


def known_severity(keys: Container[str], given: Any, instead: Mapping[str, str] = INSTEAD) -> str:
    """Return the campaign's name of a severity, or nothing.

    >>> known_severity({"minor", "major"}, "Critical")
    'major'
    """
    name = str(given or "").strip()
    names = (name, name.lower(), instead.get(name.lower(), ""))
    return next((each for each in names if each in keys), "")


def _outside(start: int, end: int, n: int) -> Message:
    return message(
        "judgments.span-outside",
        "[{start:d}, {end:d}) is outside the text, which has {n} characters.",
        start=start,
        end=end,
        n=n,
    )


def _whole(value: Any) -> int | None:
    number = read_score(value)
    if number is None or not abs(number) < 2**31:
        return None
    return int(number) if number == int(number) else None
