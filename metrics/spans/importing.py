"""Check and store imported spans as a separate metric."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.access import may_change_test_set, test_set_refusal
from annotation.models import Output, TestSet
from annotation.uploads.files import InputFile, hashes
from annotation.uploads.offsets import only_place, other_words
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.cells import USUAL, direction_message, say_direction
from annotation.uploads.tables.pairs import Pair
from annotation.uploads.tables.skipping import read_skipping, skipped
from core.messages import messages_of
from metaeval.messages import Message, message, plural, truncated
from metaeval.scores.directions import Direction, infer_direction
from metaeval.spans.span_table import EndsAtWords, ends_at_words
from metrics.error_spans import MISSING, SOURCE, FoundSpan
from metrics.imported import naming
from metrics.imported.collecting import Collector
from metrics.imported.files import Choices
from metrics.imported.held import MetricScores, Names, names_of
from metrics.imported.storing import Draft, Outcome, store_all, with_note
from metrics.models import SegmentSpans
from metrics.spans.stored import AT_ONCE, pack
from metrics.spans.tables import Cell, Read, collect, wrong_severity

Texts = tuple[int, str, str]
NO_CHOICES = Choices()
NO_ENDS = EndsAtWords(0, 0, 0)
FIRST = 5
# Where no score is given: what a span takes off, as in xCOMET (unbabel-comet 2.2).
WEIGHTS = {"minor": 1.0, "major": 5.0, "critical": 10.0}
COMPUTED = message(
    "spans.scores-computed",
    "Scores are minus 1, 5 and 10 for each minor, major and critical span.",
)


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a page shows of files with spans, and every problem.

    `ends` counts ends at word boundaries for both meanings of an end; `ends_included` is the choice
    of a person, or None before. `columns` are those of all tables with their titles, `fields` the
    meaning of each, and `first` the first spans as they will be stored, by `LABELS`. Of
    `n_checked` outputs with `n_spans` spans, `n_clean` have none.
    """

    name: str
    ends_included: bool | None
    report: Report
    ends: EndsAtWords = NO_ENDS
    files: Sequence[Mapping[str, str]] = ()
    severities: Mapping[str, int] = field(default_factory=dict)
    has_scores: bool = False
    direction: Direction = USUAL
    columns: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    samples: Mapping[str, str] = field(default_factory=dict)
    pairs: Sequence[Pair] = ()
    first: Sequence[Sequence[str]] = ()
    n_checked: int = 0
    n_spans: int = 0
    n_clean: int = 0


@dataclass(frozen=True, kw_only=True)
class Checked(Look):
    """The content of files, with the spans of each output."""

    test_set: TestSet
    spans: Mapping[int, Sequence[FoundSpan]] = field(default_factory=dict)
    scores: Mapping[Cell, float] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A hash of all spans, for the signature."""
        packed = {pk: sorted(map(repr, pack(own))) for pk, own in self.spans.items()}
        text = json.dumps(sorted(packed.items()))
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def check(
    test_set: TestSet,
    files: Sequence[InputFile],
    name: str,
    ends_included: bool | None,
    user: Any = None,
    choices: Choices = NO_CHOICES,
) -> Checked:
    """Read and check files without storing anything. Commands have no user and are not refused."""
    if user is not None and not may_change_test_set(user, test_set):
        report = Report()
        report.error(test_set_refusal(test_set))
        return Checked(test_set=test_set, name=name, ends_included=ends_included, report=report)

    def once(report: Report) -> Checked:
        return _check(test_set, files, name, ends_included, choices, report)

    checked, report = read_skipping(choices.skip, once)
    report.gather()
    return checked


def _check(
    test_set: TestSet,
    files: Sequence[InputFile],
    name: str,
    ends_included: bool | None,
    choices: Choices,
    report: Report,
) -> Checked:
    names = names_of(test_set)
    collected = collect(files, test_set, choices.columns, Collector(names, report))
    texts = _texts(test_set)
    ends = ends_at_words(
        (texts[cell][1], each.end)
        for cell, own in collected.spans.items()
        for each in own
        if each.side == "target" and not each.has_words_alone
    )
    if not report.errors and not collected.spans:
        report.error(
            message("spans.file-has-none", "The files have no spans and no outputs without spans.")
        )
    if ends_included is None and ends.n:
        report.error(
            message(
                "spans.ends-unclear",
                "State whether the end of a span is its last character ({included} of {n} spans "
                "then end with a word) or the position after it ({excluded} of {n}).",
                included=ends.included,
                excluded=ends.excluded,
                n=ends.n,
            )
        )
    elif ends.n and ends.are_included is not None and ends.are_included != ends_included:
        report.warn(
            message(
                "spans.ends-against-words",
                "More spans end with a word under the other reading of their ends. Check the ends.",
            )
        )
    reader = _Reader(report, bool(ends_included))
    spans = {texts[cell][0]: reader.read(own, texts[cell]) for cell, own in collected.spans.items()}
    reader.warn()
    scores = _scores(collected.scores, collected.spans, report)
    # Without scores in the files they are minus what the spans take off.
    direction = infer_direction(name, collected.scores.values()) if collected.scores else USUAL
    say_direction(name, direction, report)
    try:
        naming.check_name(name)
    except ValidationError as error:
        for refusal in messages_of(error):
            report.error(refusal, Place(field="name"))
    return Checked(
        test_set=test_set,
        name=name,
        ends_included=ends_included,
        report=report,
        ends=ends,
        spans=spans,
        scores=scores,
        files=hashes(files),
        severities=dict(Counter(each.severity for own in spans.values() for each in own)),
        has_scores=bool(collected.scores),
        direction=direction,
        columns=collected.titles,
        fields=collected.fields,
        samples=collected.samples,
        pairs=list(collected.pairs),
        first=_first(spans, texts, names),
        n_checked=len(spans),
        n_spans=sum(map(len, spans.values())),
        n_clean=sum(not own for own in spans.values()),
    )


LABELS = (
    message("spans.label-system", "System"),
    message("spans.label-segment", "Segment"),
    message("spans.label-side", "Side"),
    message("spans.label-words", "Marked text"),
    message("spans.label-severity", "Severity"),
    message("spans.label-category", "Category"),
)


def _first(
    spans: Mapping[int, Sequence[FoundSpan]], texts: Mapping[Cell, Texts], names: Names
) -> list[list[str]]:
    cells = {pk: cell for cell, (pk, _, _) in texts.items() if pk in spans}
    found = []
    for pk, own in spans.items():
        system, segment = cells[pk]
        _, output, source = texts[cells[pk]]
        for each in own or (None,):
            text = source if each and each.side == SOURCE else output
            about = (
                [each.side, text[each.start : each.end], each.severity, each.category]
                if each
                else ["", "", "no-error", ""]
            )
            found.append([names.labels[system], names.keys[segment], *about])
        if len(found) >= FIRST:
            break
    return found[:FIRST]


def _texts(test_set: TestSet) -> dict[Cell, Texts]:
    """Return primary key, text and source of each output, by system and segment."""
    rows = Output.objects.filter(system__test_set=test_set).order_by()
    columns = ("system_id", "segment_id", "pk", "text", "segment__source")
    return {(system, segment): (pk, text, source)
            for system, segment, pk, text, source in rows.values_list(*columns)}  # fmt: skip


@dataclass
class _Reader:
    """Convert spans to the form in which they are stored, and count those that do not fit."""

    report: Report
    ends_included: bool
    n_quoted: int = 0
    n_behind: int = 0
    n_cut: int = 0

    def read(self, spans: Sequence[Read], texts: Texts) -> tuple[FoundSpan, ...]:
        """Return the spans of an output."""
        found = [self._span(each, texts) for each in spans]
        return tuple(each for each in found if each is not None)

    def _span(self, span: Read, texts: Texts) -> FoundSpan | None:
        text = texts[2] if span.side in (SOURCE, MISSING) else texts[1]
        about = (span.severity, span.category, span.confidence)
        start, end = span.start, span.end + self.ends_included
        if span.has_words_alone:
            if not span.severity and span.words == text.strip():
                return None
            found = only_place(text, span.words) if span.severity else wrong_severity("")
            if isinstance(found, Message):
                self.report.error(found, span.place)
                return None
            self.n_quoted += 1
            start, end = found
        if span.side == MISSING and span.start == span.end == 0:
            return FoundSpan(MISSING, 0, 0, *about)
        # A column of texts has the whole one.
        if span.words != text and (differs := other_words(span.words, text[start:end])):
            self.report.error(differs, span.place)
            return None
        if start >= len(text):
            self.n_behind += 1
            return FoundSpan(MISSING, 0, 0, *about)
        if end > len(text):
            self.n_cut += 1
            end = len(text)
        if end <= start:
            refusal = message(
                "spans.empty",
                "The span [{start:d}, {end:d}) is empty. Check whether its end is the last "
                "character.",
                start=start,
                end=end,
            )
            self.report.error(refusal, span.place)
            return None
        return FoundSpan(span.side, start, end, *about)

    def warn(self) -> None:
        """Report spans without offsets, and those that did not fit their texts."""
        self.report.note_of(
            self.n_quoted,
            "spans.by-words",
            "{n} error span has no offsets and was placed where its words are.",
            "{n} error spans have no offsets and were placed where their words are.",
        )
        self.report.warn_of(
            self.n_behind,
            "spans.behind-text",
            "{n} span starts after the end of its text and was read as an omission.",
            "{n} spans start after the end of their texts and were read as omissions.",
        )
        self.report.warn_of(
            self.n_cut,
            "spans.cut",
            "{n} span was cut at the end of its text.",
            "{n} spans were cut at the end of their texts.",
        )


def _scores(
    given: Mapping[Cell, float], spans: Mapping[Cell, Sequence[Read]], report: Report
) -> dict[Cell, float]:
    """Return the scores of the files; without scores, the negated penalties of the spans."""
    if not given:
        return {
            cell: -sum(WEIGHTS.get(each.severity, 0.0) for each in own)
            for cell, own in spans.items()
        }
    if lacking := len(spans.keys() - given.keys()):
        report.error(
            plural(
                "spans.scores-missing",
                "{n} output with spans has no score, but others have one.",
                "{n} outputs with spans have no score, but others have one.",
                n=lacking,
            )
        )
    return dict(given)


def _origin(checked: Checked) -> Message | str:
    files = truncated([file["name"] for file in checked.files])
    origin: Message | str = (
        message(
            "spans.origin-included",
            "Spans from {files}; the end of a span is its last character.",
            files=files,
        )
        if checked.ends_included
        else message(
            "spans.origin-excluded",
            "Spans from {files}; the end of a span is the position after its last character.",
            files=files,
        )
    )
    text = with_note(origin, None if checked.has_scores else COMPUTED)
    for each in skipped(checked.report):
        text = with_note(text, each)
    return text


def store(checked: Checked, user: Any = None) -> Outcome:
    """Store spans and scores, all or nothing. Raises ValidationError with every error."""
    if checked.report.errors:
        raise ValidationError([problem.sentence for problem in checked.report.errors])
    outputs: dict[int, dict[int, float]] = {}
    for (system, segment), score in checked.scores.items():
        outputs.setdefault(system, {})[segment] = score
    draft = Draft(
        checked.name,
        MetricScores(outputs, {}),
        not checked.direction.is_lower,
        fields={"spans": checked.digest},
        note=direction_message(checked.direction),
    )
    with transaction.atomic():
        (outcome,) = store_all(
            checked.test_set, [draft], provenance=_origin(checked), files=checked.files, user=user
        )
        keys = dict(Output.objects.filter(pk__in=checked.spans).values_list("pk", "content_key"))
        SegmentSpans.objects.bulk_create(
            [
                SegmentSpans(
                    signature=outcome.signature, content_key=keys[pk], output_id=pk, spans=pack(own)
                )
                for pk, own in checked.spans.items()
            ],
            batch_size=AT_ONCE,
            ignore_conflicts=True,
        )
    return outcome
