"""Unicode spellings of keys, names and ids: NFC and NFD of one text are one.

Names that look alike may differ in code points (“é” as one or as two), for example after macOS
wrote a file. Segment keys, document ids and system names are therefore compared in NFC. The first
spelling is stored, and stored spellings never change; translations are never changed.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import chain

from annotation.uploads.drafts import SystemDraft, TestSetDraft, column
from annotation.uploads.problems import Report
from metaeval.messages import Message, message, truncated


def nfc(name: str) -> str:
    """Return what all normalisations of a name have in common."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def fold(name: str) -> str:
    """Return what two names that a person would confuse have in common."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


class Near:
    """Find the known name that an unknown one may mean.

    Spreadsheets and data frames write the keys 1 and 01 as 1.0 and 1. A file of such keys has as
    many errors as rows, so the known names are indexed once, at the first error.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = known

    @cached_property
    def _names(self) -> dict[Decimal | str, str]:
        return {_number_or_folded(name): name for name in self._known}

    def name(self, unknown: str) -> str:
        """Return the known name, or an empty text."""
        return self._names.get(_number_or_folded(unknown), "")

    @cached_property
    def _listed(self) -> list[str]:
        return sorted(self._known)

    def no_segment(self, key: str) -> Message:
        """Return the message that refuses a key that no segment has."""
        if not key:
            return message("segment.missing", "The segment is missing.")
        if known := self.name(key):
            return message(
                "segment.unknown-near",
                "The test set has no segment “{segment}”, but it has “{known}”.",
                segment=key,
                known=known,
            )
        return message(
            "segment.unknown",
            "The test set has no segment “{segment}”. Its {n} segments: {segments}.",
            segment=key,
            n=len(self._listed),
            segments=truncated(self._listed, 6),
        )

    def no_system(self, name: str) -> Message:
        """Return the message that refuses a name that no system has."""
        if not name:
            return message("system.missing", "The system is missing.")
        if known := self.name(name):
            return message(
                "system.unknown-near",
                "The test set has no system “{system}”, but it has “{known}”. Say which one it is "
                "(command line: --column “(system) {system}=NAME”; API: columns).",
                system=name,
                known=known,
            )
        return message(
            "system.unknown",
            "The test set has no system “{system}”. Its {n} systems: {systems}. Say which one it "
            "is (command line: --column “(system) {system}=NAME”; API: columns).",
            system=name,
            n=len(self._listed),
            systems=truncated(self._listed, 6),
        )


def _number_or_folded(name: str) -> Decimal | str:
    is_like_one = name[:1].isdigit() and name[-1:].isdigit()
    try:
        return Decimal(name) if is_like_one else fold(name)
    except InvalidOperation:
        return fold(name)


def align(
    draft: TestSetDraft,
    report: Report,
    *,
    segments: Mapping[str, str],
    systems: Iterable[tuple[str, Decimal]],
) -> None:
    """Write the draft's keys, ids and names as the stored ones that they equal in NFC.

    `segments` maps stored keys to document ids, `systems` are stored identities. Keys of outputs
    are written as those of their segments; two of one system that become equal are an error.
    """
    _align_segments(draft, segments)
    keys: dict[str, str] = {}
    if not all(key.isascii() for system in draft.systems for key in system.outputs):
        keys = {
            nfc(key): key for key in (*(each.key for each in reversed(draft.segments)), *segments)
        }
    names = {nfc(name): name for name, _ in systems}
    for j, system in enumerate(draft.systems):
        system.name = names.setdefault(nfc(system.name), system.name)
        if not all(map(str.isascii, system.outputs)):
            _align_outputs(draft, j, keys, report)


def _align_segments(draft: TestSetDraft, stored: Mapping[str, str]) -> None:
    names = (column(draft.segments, name) for name in ("key", "document", "domain"))
    if all(map(str.isascii, chain.from_iterable(names))):
        return
    keys = {nfc(key): key for key in stored}
    documents = {nfc(document): document for document in stored.values()}
    taken: set[str] = set()
    draft.segments = list(draft.segments)
    for segment in draft.segments:
        key = keys.get(nfc(segment.key), segment.key)
        # A second one keeps its spelling, so that its error can show it.
        segment.key = segment.key if key in taken else key
        taken.add(key)
        if segment.document:
            segment.document = documents.setdefault(nfc(segment.document), segment.document)
        segment.domain = nfc(segment.domain)


def _align_outputs(draft: TestSetDraft, j: int, keys: Mapping[str, str], report: Report) -> None:
    system: SystemDraft = draft.systems[j]
    outputs: dict[str, str] = {}
    first: dict[str, str] = {}
    for given, text in system.outputs.items():
        key = keys.get(nfc(given), given)
        place = draft.place("output", j, given)
        draft.rename_row(j, given, key)
        if key in outputs:
            refusal = message(
                "output.twice-unicode",
                "The output of “{system}” for segment “{segment}” occurs twice, first in {place}. "
                "The two keys differ only in their Unicode normalisation.",
                system=system.label,
                segment=key,
                place=draft.place("output", j, first[key]).label,
            )
            report.error(refusal, place)
            continue
        outputs[key], first[key] = text, given
    system.outputs = outputs
