"""Collect the items that annotators answered, and pair control items with outputs."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from annotation.imports.drafts import SHOW_OUTPUT, ItemDraft
from annotation.imports.judgments.answers import Answer
from annotation.imports.judgments.exported import cells
from annotation.imports.judgments.texts import Texts
from annotation.models import Item
from annotation.models.campaign import KINDS
from annotation.uploads.problems import Report
from metaeval.messages import plural

PAIRED = (Item.Kind.BAD_REF, Item.Kind.REPEAT, Item.Kind.REF)
Key = tuple[object, ...]


@dataclass
class Items:
    """The items of a campaign in the order in which they are first answered.

    Ids of items hold for everybody unless one id means different things, as where every person's
    items are numbered from 1.
    """

    texts: Texts
    has_global_ids: bool
    report: Report
    drafts: list[ItemDraft] = field(default_factory=list)
    numbers: dict[Key, int] = field(default_factory=dict)
    by_id: dict[tuple[str, str], int] = field(default_factory=dict)
    documents: dict[tuple[str, str, str], int] = field(default_factory=dict)
    first: list[Answer] = field(default_factory=list)
    shown: dict[Key, str] = field(default_factory=dict)
    later: dict[Key, dict[str, int]] = field(default_factory=dict)
    again: int = 0

    def __post_init__(self) -> None:
        self.systems = self.texts.systems

    def number(self, answer: Answer) -> int:
        """Return the index of the item that an answer is about."""
        if answer.row.sheet.is_exported and answer.item:
            return self._find((answer.item,), answer, answer.kind)
        cell = answer.batch, answer.segment, answer.system
        n = self._time_shown((answer.who, answer.kind, *cell), answer.item)
        if answer.kind == Item.Kind.TARGET and n:
            self.again += 1
            return self._find((*cell, "again", n), answer, Item.Kind.REPEAT)
        if answer.kind in (Item.Kind.TARGET, Item.Kind.DOCUMENT) and not n:
            copy = bool(answer.row.cells.get("is_copy"))
            return self._find((*cell, answer.kind, copy), answer, answer.kind)
        mark = answer.item if self.has_global_ids and answer.item else n
        return self._find((*cell, answer.kind, answer.text, mark), answer, answer.kind)

    def _time_shown(self, cell: Key, item: str) -> int:
        """Return how many other items an annotator had seen of a cell, usually 0."""
        first = self.shown.setdefault(cell, item)
        if first == item:
            return 0
        others = self.later.setdefault(cell, {})
        return others.setdefault(item, len(others) + 1)

    def _find(self, key: Key, answer: Answer, kind: Item.Kind) -> int:
        if key in self.numbers:
            return self.numbers[key]
        self.numbers[key] = number = len(self.drafts)
        self.drafts.append(self._draft(answer, kind))
        self.first.append(answer)
        if answer.item:
            self.by_id.setdefault((answer.batch, answer.item), number)
        cell = answer.batch, answer.segment, answer.system
        if kind == Item.Kind.DOCUMENT and not answer.row.cells.get("is_copy"):
            self.documents.setdefault(cell, number)
        return number

    def _draft(self, answer: Answer, kind: Item.Kind) -> ItemDraft:
        if answer.row.sheet.is_exported:
            return ItemDraft(
                segment=answer.segment,
                system=answer.system or None,
                kind=kind,
                batch=answer.batch,
                text=answer.text,
                low=answer.low,
                high=answer.high,
                **cells.item(answer.row, self.report),
            )
        is_copy = bool(answer.row.cells.get("is_copy"))
        shows = (kind in SHOW_OUTPUT and (answer.system, answer.segment) in self.texts.outputs) or (
            kind == Item.Kind.DOCUMENT and not is_copy and answer.system in self.systems
        )
        return ItemDraft(
            segment=answer.segment,
            system=answer.system if shows and answer.system else None,
            kind=kind,
            batch=answer.batch,
            text=answer.text,
            low=answer.low,
            high=answer.high,
        )

    @cached_property
    def targets(self) -> dict[tuple[str, str, str], int]:
        """The target of each batch, segment and system, which controls alone ask for."""
        found: dict[tuple[str, str, str], int] = {}
        for number, (draft, answer) in enumerate(zip(self.drafts, self.first, strict=True)):
            if draft.kind == Item.Kind.TARGET:
                found.setdefault((answer.batch, answer.segment, answer.system), number)
        return found

    def pair(self) -> None:
        """Give controls the target that they are compared with: the one named, or of their cell."""
        unpaired: Counter[Item.Kind] = Counter()
        for number, (draft, answer) in enumerate(zip(self.drafts, self.first, strict=True)):
            if draft.kind == Item.Kind.TARGET:
                continue
            partner = self._partner(draft, answer)
            if partner is not None and partner != number:
                self.drafts[number] = replace(draft, partner=partner)
            elif draft.kind in PAIRED:
                unpaired[draft.kind] += 1
        for kind, count in unpaired.items():
            self.report.warn(
                plural(
                    "judgments.control-without-partner",
                    "{n} item of the kind “{kind}” has no output of the same segment, system and "
                    "batch to be compared with. No test is computed from it.",
                    "{n} items of the kind “{kind}” have no output of the same segment, system and "
                    "batch to be compared with. No test is computed from them.",
                    n=count,
                    kind=KINDS[kind],
                )
            )
        self.report.warn_of(
            self.again,
            "judgments.repeats-of-outputs",
            "{n} judgment is of an output that the same annotator rated before as another "
            "item. It was read as a repeat.",
            "{n} judgments are of outputs that the same annotator rated before as other "
            "items. They were read as repeats.",
        )

    def _partner(self, draft: ItemDraft, answer: Answer) -> int | None:
        if answer.row.sheet.is_exported:
            return self.numbers.get((answer.partner,))
        if draft.kind == Item.Kind.DOCUMENT and not answer.row.cells.get("is_copy"):
            return None
        named = self.by_id.get((answer.batch, answer.partner)) if answer.partner else None
        if named is not None and self.has_global_ids:
            return named
        among = self.documents if draft.kind == Item.Kind.DOCUMENT else self.targets
        return among.get((answer.batch, answer.segment, answer.system))


def on_screens(drafts: Sequence[ItemDraft], documents: Mapping[str, str]) -> list[ItemDraft]:
    """Put the segments of a document by one system on one screen, the document last.

    `documents` maps segments to their document. Items of no document stay alone.
    """
    shown: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    whole = Item.Kind.DOCUMENT
    for number in sorted(range(len(drafts)), key=lambda n: drafts[n].kind == whole):
        draft = drafts[number]
        if (
            draft.system
            and documents.get(draft.segment)
            and draft.kind in (whole, Item.Kind.TARGET)
        ):
            shown[draft.batch, documents[draft.segment], draft.system].append(number)
    placed = list(drafts)
    for screen, numbers in enumerate(shown.values(), 1):
        for place, number in enumerate(numbers):
            placed[number] = replace(drafts[number], screen=screen, place=place)
    return placed


def have_global_ids(answers: Sequence[Answer]) -> bool:
    """Return whether an item's id means the same thing, in its batch, for everybody."""
    meaning: dict[tuple[str, str], tuple[str, str, str]] = {}
    return all(
        meaning.setdefault((a.batch, a.item), (a.segment, a.system, a.kind))
        == (a.segment, a.system, a.kind)
        for a in answers
        if a.item
    )
