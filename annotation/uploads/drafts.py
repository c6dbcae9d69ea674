"""A test set in memory, as read from files or built by code, before it is checked and stored."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cache, cached_property, partial
from itertools import chain, repeat
from operator import eq
from typing import Any

from annotation.uploads.problems import Place, Report
from metaeval.messages import Message, message, truncated
from metaeval.scores.human_systems import find_reference, looks_human, reference_letter

FULL_LENGTH = Decimal(1)
# Fields of a test set, as problems name them.
SLUG = message("field.slug", "slug")
NAME = message("field.name", "name")
SOURCE_LANGUAGE = message("field.source-language", "source language")
TARGET_LANGUAGE = message("field.target-language", "target language")
DESCRIPTION = message("field.description", "description")
# What messages call the parts of a segment.
SOURCE = message("part.source", "source")
DOCUMENT = message("part.document", "document")
REFERENCE = message("part.reference", "reference")
OUTPUT = message("part.output", "output")
DOMAIN = message("part.domain", "domain")
PARTS = {
    "key": message("part.key", "key"),
    "source": SOURCE,
    "document": DOCUMENT,
    "domain": DOMAIN,
}
Where = tuple[str | int, ...]


@dataclass(frozen=True)
class Rows:
    """The rows of a file's column: `rows` maps segment numbers, or keys of outputs, to lines.

    Only errors ask for them.
    """

    file: str
    field: str | Message
    rows: Callable[[], dict[Any, int]]

    @classmethod
    def of(cls, file: str, field: str | Message, keys: Iterable[Any], lines: Sequence[int]) -> Rows:
        """Return the rows of some keys; where a key repeats, its first row."""
        pairs = partial(zip, keys, lines)
        return cls(file, field, cache(lambda: dict(reversed(list(pairs())))))

    def place(self, where: str | int) -> Place | None:
        """Return where a text was read, if it was read here."""
        row = self.rows().get(where)
        return None if row is None else Place(self.file, row, self.field)


@dataclass(slots=True)
class SegmentDraft:
    """A source segment. `references` maps a reference's name, usually `A`, to its text.

    `attachments` are files and texts shown with it (`annotation.uploads.media.attachments`).
    """

    key: str
    source: str
    document: str = ""
    references: dict[str, str] = field(default_factory=dict)
    attachments: dict[str, Any] = field(default_factory=dict)
    domain: str = ""


class SegmentColumns(Sequence[SegmentDraft]):
    """Segments with different keys whose texts are columns on disk; each is made when asked for.

    Changes of such a segment are lost: who changes segments makes a list of them first.
    """

    def __init__(
        self,
        keys: Sequence[str],
        sources: Sequence[str],
        documents: Sequence[str],
        domains: Sequence[str],
        references: Mapping[str, Sequence[str]],
    ) -> None:
        self.keys, self.sources, self.references = keys, sources, references
        self.columns = {
            "key": keys, "source": sources, "document": documents, "domain": domains,
        }  # fmt: skip

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each segment by its key."""
        return {key: number for number, key in enumerate(self.keys)}

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[SegmentDraft]:
        texts = zip(*self.references.values(), strict=True) if self.references else repeat(())
        for key, source, document, domain, own in zip(*self.columns.values(), texts, strict=False):
            given = dict(zip(self.references, own, strict=True)) if own else {}
            yield SegmentDraft(key, source, document, given, {}, domain)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(len(self))[place]]
        own = {name: texts[place] for name, texts in self.references.items()}
        cells = {name: column[place] for name, column in self.columns.items()}
        return SegmentDraft(**cells, references=own)


class OutputColumn(Mapping[str, str]):
    """The outputs of all segments whose texts are a column on disk."""

    def __init__(self, segments: SegmentColumns, texts: Sequence[str]) -> None:
        self.segments, self._texts = segments, texts

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[str]:
        return iter(self.segments.keys)

    def __contains__(self, key: object) -> bool:
        return key in self.segments.numbers

    def __getitem__(self, key: str) -> str:
        return self._texts[self.segments.numbers[key]]

    def values(self) -> Any:
        """Return the texts."""
        return self._texts

    def items(self) -> ItemsView[str, str]:
        """Return the texts with their keys, block by block."""
        return _InOrder(self)


class _InOrder(ItemsView[str, str]):
    def __init__(self, outputs: OutputColumn) -> None:
        super().__init__(outputs)
        self._outputs = outputs

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return zip(self._outputs, self._outputs.values(), strict=True)


def column(segments: Sequence[SegmentDraft], name: str) -> Sequence[str]:
    """Return the `key`, `source`, `document` or `domain` of every segment."""
    if isinstance(segments, SegmentColumns):
        return segments.columns[name]
    return [getattr(segment, name) for segment in segments]


def reference_texts(segments: Sequence[SegmentDraft]) -> Iterator[str]:
    """Yield all references, in any order."""
    if isinstance(segments, SegmentColumns):
        return chain.from_iterable(segments.references.values())
    return (text for segment in segments for text in segment.references.values())


def reference_names(segments: Sequence[SegmentDraft]) -> set[str]:
    """Return the names of references that segments have."""
    if isinstance(segments, SegmentColumns):
        return set(segments.references)
    return {name for segment in segments for name in segment.references}


@dataclass
class SystemDraft:
    """A system's outputs at one required length; `outputs` maps segment keys to texts.

    `ratio` is the required length as a share of the full target length (1: no length control).
    An empty text is an output; a key that is absent is a segment the system did not translate.
    `is_human` says whether people wrote the outputs, None where nothing says so.
    """

    name: str
    ratio: Decimal | float | str = FULL_LENGTH
    outputs: dict[str, str] = field(default_factory=dict)
    is_human: bool | None = None

    def __post_init__(self) -> None:
        try:
            self.ratio = Decimal(str(self.ratio))
        except InvalidOperation:
            self.ratio = Decimal("NaN")

    @property
    def identity(self) -> tuple[str, Decimal]:
        """Name and ratio, which together identify a system of a test set."""
        return self.name, Decimal(self.ratio)

    @property
    def label(self) -> str:
        """The system as people write it: `name`, or `name@0.8` where the length is controlled."""
        return label(self.name, Decimal(self.ratio))


@dataclass
class TestSetDraft:
    """A test set to be stored, or systems to be added to the stored one of the same slug.

    `segments` may be empty where a test set of this slug is stored: its segments are meant then.
    `places` says where in the files a value was read, and `rows` the same for whole columns, see
    `place`. `is_systems_only` is a test set of systems of which only scores are known: it has
    neither segments nor outputs. `is_in_file_order`: the segments have the order of a source file.
    `keys_are_lines`: the keys are numbers of lines, and no names that a person gave.
    """

    __test__ = False  # not a test class, whatever pytest thinks

    slug: str
    name: str
    source_language: str
    target_language: str
    description: str = ""
    project: str = ""
    segments: list[SegmentDraft] = field(default_factory=list)
    systems: list[SystemDraft] = field(default_factory=list)
    places: dict[Where, Place] = field(default_factory=dict, repr=False, compare=False)
    is_systems_only: bool = False
    is_in_file_order: bool = False
    keys_are_lines: bool = False
    rows: dict[Where, list[Rows]] = field(default_factory=dict, repr=False, compare=False)

    def head(self) -> dict[str, str]:
        """Return what describes the test set, without its texts."""
        return {name: getattr(self, name) for name in HEAD}

    def place(self, *where: str | int) -> Place:
        """Return where a value was read.

        `where` is ("source", i), ("key", i), ("document", i), ("domain", i),
        ("reference", i, name), ("system", j) or ("output", j, key), with i and j counting segments
        and systems.
        """
        if where in self.places:
            return self.places[where]
        column, number = _column_of(where)
        found = (rows.place(number) for rows in self.rows.get(column, ()))
        return next(filter(None, found), None) or Place(field=self._describe(*where))

    def read_from(self, column: Where, rows: Rows) -> None:
        """Say where a column was read: ("source",), ("reference", name) or ("output", j) …"""
        self.rows.setdefault(column, []).append(rows)

    def rename_row(self, j: int, given: str, key: str) -> None:
        """Let the output of system j that was read under one key be found under another."""
        for rows in self.rows.get(("output", j), ()):
            if given in rows.rows():
                rows.rows().setdefault(key, rows.rows()[given])

    def _describe(self, kind: str | int, number: str | int, *rest: str | int) -> Message:
        if kind in ("system", "output"):
            system = self.systems[int(number)].label
            if not rest:
                return message("place.system", "system {system}", system=system)
            return message(
                "place.output", "system {system}, segment {segment}", system=system, segment=rest[0]
            )
        column = reference_label(str(rest[0])) if rest else PARTS.get(str(kind), str(kind))
        segment = self.segments[int(number)].key
        return message("place.text", "segment {segment}, {column}", segment=segment, column=column)


def _column_of(where: Where) -> tuple[Where, str | int]:
    """Split a place into its column and its number or key there."""
    kind, number, *rest = where
    if kind == "output":
        return (kind, number), rest[0]
    return (kind, *rest), number


def reference_label(name: str) -> Message:
    """Return what messages call a reference."""
    return message("place.reference", "reference {name}", name=name)


def label(name: str, ratio: Decimal) -> str:
    """Write a system as `name`, or `name@0.8` where the length is controlled."""
    return name if ratio == FULL_LENGTH else f"{name}@{ratio.normalize():f}"


HEAD = ("slug", "name", "source_language", "target_language", "description", "project")


@dataclass(frozen=True)
class Translator:
    """Whether people made a system's outputs, and the name of the reference that it is."""

    is_human: bool
    reference: str


class References:
    """The references of some segments as columns, by name."""

    @classmethod
    def of(cls, segments: Sequence[SegmentDraft]) -> References:
        """Return those of drafts of segments."""
        if not isinstance(segments, SegmentColumns):
            return cls({segment.key: segment.references for segment in segments})
        own = cls({})
        own.keys, own.columns = list(segments.keys), dict(sorted(segments.references.items()))
        return own

    def __init__(self, references: Mapping[str, Mapping[str, str]]) -> None:
        self.keys = list(references)
        names = sorted(set().union(*references.values()))
        each = list(references.values())
        self.columns: dict[str, Sequence[str | None]] = {
            name: [own.get(name) for own in each] for name in names
        }

    def columns_for(self, outputs: Mapping[str, str]) -> dict[str, Sequence[str | None]]:
        """Return the columns in the order of some outputs."""
        return {name: self.ordered(column, outputs) for name, column in self.columns.items()}

    def ordered(self, column: Sequence[Any], outputs: Mapping[str, str]) -> Sequence[Any]:
        """Return what the segments have in the order of some outputs, None for other keys."""
        if len(outputs) == len(self.keys) and all(map(eq, outputs, self.keys)):
            return column
        by_key = dict(zip(self.keys, column, strict=True))
        return list(map(by_key.get, outputs))


def translator_of(system: SystemDraft, references: References) -> Translator:
    """Return what a draft states about a system, or infer it from its name and texts.

    A system is a reference if (nearly) all of its outputs have that reference's text; without
    stored references, its name decides.
    """
    texts = references.columns_for(system.outputs)
    reference = find_reference(system.outputs.values(), texts)
    is_named = looks_human(system.name)
    if is_named and not texts:
        reference = reference_letter(system.name).upper()
    is_human = bool(reference) or is_named if system.is_human is None else system.is_human
    return Translator(is_human, reference)


def note_human(draft: TestSetDraft, report: Report, references: References) -> None:
    """Note the systems that are taken for human translations."""
    found = {system.label: translator_of(system, references) for system in draft.systems}
    human = [label for label, each in found.items() if each.is_human]
    if human:
        text = message(
            "systems.human",
            "These systems were taken for human translations, which are excluded from comparisons "
            "of metrics: {systems}. You can change this on the page of the test set.",
            systems=truncated(human),
        )
        report.note(text)
