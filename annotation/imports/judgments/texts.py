"""Collect the test set that tables hold: segments and outputs, or keys alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from annotation.imports.judgments.rows import Row
from annotation.models import Item
from annotation.models.corpus import NO_SOURCE
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from annotation.uploads.problems import Place, Report
from metaeval.messages import message

REFERENCES = {"reference": "A", "reference_B": "B"}


@dataclass(frozen=True)
class Texts:
    """The known texts that were judged.

    `sources` holds every segment, empty where its text is not known; `outputs` (system, segment)
    every output, empty texts where none is known at all. `silent` are systems without any output,
    where others have some, and the place of each.
    """

    sources: Mapping[str, str]
    outputs: Mapping[tuple[str, str], str]
    silent: Mapping[str, Place] = field(default_factory=dict)

    @cached_property
    def systems(self) -> frozenset[str]:
        """The systems with an output."""
        return frozenset(system for system, _ in self.outputs)


@dataclass
class Collector:
    """Fills a test set from rows; whatever contradicts an earlier row is reported.

    `ratio` is the length ratio of rows that name none.
    """

    draft: TestSetDraft
    report: Report
    ratio: Decimal = Decimal(1)
    numbers: dict[str, int] = field(default_factory=dict)
    systems: dict[tuple[str, Decimal], int] = field(default_factory=dict)
    has_outputs: bool = False

    def add(self, row: Row) -> None:
        """Take a row's segment, texts and output in."""
        key = row.name("segment")
        is_document = row.cells.get("kind") == Item.Kind.DOCUMENT
        if not key or (is_document and not row.sheet.is_exported):
            return
        i = self._segment(key, row)
        self._fill("source", i, row)
        self._fill("document", i, row)
        self._fill("domain", i, row)
        for column, name in REFERENCES.items():
            self._reference(i, column, name, row)
        if row.shows_output:
            self._output(key, row)

    def _segment(self, key: str, row: Row) -> int:
        if key not in self.numbers:
            self.numbers[key] = i = len(self.draft.segments)
            self.draft.segments.append(SegmentDraft(key, ""))
            for kind in ("key", "source", "document", "domain"):
                self.draft.places[kind, i] = row.at("segment" if kind == "key" else kind)
        return self.numbers[key]

    def _fill(self, kind: str, i: int, row: Row) -> None:
        """Set a source, document or domain, which all rows of a segment share."""
        given = row.text(kind, self.report) if kind == "source" else row.name(kind)
        segment = self.draft.segments[i]
        known = getattr(segment, kind)
        if given.strip() and not known:
            setattr(segment, kind, given)
            self.draft.places[kind, i] = row.at(kind)
        elif given.strip() and given != known:
            first = self.draft.place(kind, i)
            refusal = (
                message(
                    "judgments.other-document",
                    "Segment “{segment}” has a different document in {place}. If segments are "
                    "numbered within documents, choose “place in the document” for their column.",
                    segment=segment.key,
                    place=first.label,
                )
                if kind == "document"
                else message(
                    "judgments.other-domain",
                    "Segment “{segment}” has a different domain in {place}.",
                    segment=segment.key,
                    place=first.label,
                )
                if kind == "domain"
                else message(
                    "judgments.other-source",
                    "Segment “{segment}” has a different source in {place}. If every document "
                    "counts its segments anew, choose the column of documents, or ignore that of "
                    "segments: then the different sources are numbered.",
                    segment=segment.key,
                    place=first.label,
                )
            )
            self.report.error(refusal, row.at(kind))

    def _reference(self, i: int, column: str, name: str, row: Row) -> None:
        text = row.text(column, self.report)
        segment = self.draft.segments[i]
        if text.strip() and segment.references.setdefault(name, text) != text:
            first = self.draft.place("reference", i, name)
            refusal = message(
                "judgments.other-reference",
                "Segment “{segment}” has a different reference in {place}.",
                segment=segment.key,
                place=first.label,
            )
            self.report.error(refusal, row.at(column))
        elif text.strip():
            self.draft.places.setdefault(("reference", i, name), row.at(column))

    def _output(self, key: str, row: Row) -> None:
        j = self._system(row)
        if "output" not in row.cells:
            return
        text = row.text("output", self.report)
        outputs = self.draft.systems[j].outputs
        self.has_outputs = self.has_outputs or bool(text.strip())
        if text and outputs.get(key, text) not in ("", text):
            first = self.draft.place("output", j, key)
            refusal = message(
                "judgments.other-output",
                "“{system}” has a different output for segment “{segment}” in {place}.",
                system=row.name("system"),
                segment=key,
                place=first.label,
            )
            self.report.error(refusal, row.at("output"))
        elif not outputs.get(key):
            outputs[key] = text
            self.draft.places["output", j, key] = row.at("output")

    def _system(self, row: Row) -> int:
        name, ratio = key = self.named(row)
        if key not in self.systems:
            self.systems[key] = j = len(self.draft.systems)
            self.draft.systems.append(SystemDraft(name, f"{ratio.normalize():f}"))
            self.draft.places["system", j] = row.at("system")
        return self.systems[key]

    def named(self, row: Row) -> tuple[str, Decimal]:
        """Return the system of a row with its length ratio."""
        number = row.number("length_ratio", Report())
        return row.name("system"), Decimal(str(number)) if number else self.ratio


def collect(
    draft: TestSetDraft,
    judged: list[Row],
    others: Iterable[Row],
    report: Report,
    ratios: Sequence[Decimal] = (Decimal(1),),
) -> dict[Decimal, Texts]:
    """Fill a test set from the judgments and the other tables, and say what it lacks.

    Returns the texts at each of the `ratios` that were judged.
    """
    collector = Collector(draft, report, ratios[0])
    for row in (*others, *judged):
        collector.add(row)
    _name_sources(draft, report)
    if not collector.has_outputs and draft.segments:
        _keys_alone(collector, judged, report)
    sources = {s.key: "" if s.source == NO_SOURCE else s.source for s in draft.segments}
    silent = _without_silent(draft)
    found = {}
    for ratio in ratios:
        own = [system for system in draft.systems if Decimal(str(system.ratio)) == ratio]
        outputs = {(s.name, key): text for s in own for key, text in s.outputs.items()}
        found[ratio] = Texts(sources, outputs, silent.get(ratio, {}))
    return found


def _name_sources(draft: TestSetDraft, report: Report) -> None:
    """Mark sources as unpublished if all are missing; report single missing ones."""
    lacking = [i for i, segment in enumerate(draft.segments) if not segment.source]
    if lacking and len(lacking) == len(draft.segments):
        for segment in draft.segments:
            segment.source = NO_SOURCE
        report.warn(
            message(
                "judgments.no-sources",
                "The tables have no source texts, so metrics that read the source cannot run.",
            )
        )
        return
    for i in lacking:
        refusal = message(
            "judgments.source-missing",
            "Segment “{segment}” has no source text, but others have one.",
            segment=draft.segments[i].key,
        )
        report.error(refusal, draft.place("source", i))


def _keys_alone(collector: Collector, judged: Iterable[Row], report: Report) -> None:
    for row in judged:
        if row.shows_output and row.name("segment"):
            j = collector.systems[collector.named(row)]
            collector.draft.systems[j].outputs[row.name("segment")] = ""
    report.warn(
        message(
            "judgments.no-outputs",
            "The tables have no outputs, so the new test set has only keys. Judgments can be "
            "analysed, but metrics cannot run. To include the texts, add tables with them or "
            "choose a stored test set.",
        )
    )


def _without_silent(draft: TestSetDraft) -> dict[Decimal, dict[str, Place]]:
    """Take systems without any output out of the test set; return their places by ratio."""
    silent: dict[Decimal, dict[str, Place]] = {}
    for j, system in enumerate(draft.systems):
        if not system.outputs:
            own = silent.setdefault(Decimal(str(system.ratio)), {})
            own[system.name] = draft.place("system", j)
    kept = [j for j, system in enumerate(draft.systems) if system.outputs]
    moved = {old: new for new, old in enumerate(kept)}
    of_systems = ("system", "output")
    draft.places = {
        (w[0], moved[int(w[1])], *w[2:]) if w[0] in of_systems else w: place
        for w, place in draft.places.items()
        if w[0] not in of_systems or int(w[1]) in moved
    }
    draft.systems = [draft.systems[j] for j in kept]
    return silent
