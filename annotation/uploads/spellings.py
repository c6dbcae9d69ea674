"""Unicode spellings of keys, names and ids: NFC and NFD of one text are one.

Names that look alike may differ in code points (“é” as one or as two), for example after a file
went through macOS. Segment keys, document ids and system names are therefore compared in NFC. They
are kept as first written, and stored ones as they are stored; translations are never changed.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import cached_property

from annotation.uploads.drafts import SystemDraft, TestSetDraft
from annotation.uploads.problems import Report


def nfc(name: str) -> str:
    """Return what all normalisations of a name have in common."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def fold(name: str) -> str:
    """Return what two names that a person would confuse have in common."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


class Near:
    """Ends the sentence that refuses a name: the known one that it may mean, or nothing.

    Spreadsheets and data frames write the keys 1 and 01 as 1.0 and 1. A file of nothing but such
    keys has as many errors as rows: the known names are looked through once, and not without need.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = known

    @cached_property
    def _names(self) -> dict[Decimal | str, str]:
        return {_number_or_folded(name): name for name in self._known}

    def __call__(self, name: str) -> str:
        """Return `; “1” is there`, or an empty text."""
        found = self.name(name)
        return f"; “{found}” is there" if found else ""

    def name(self, unknown: str) -> str:
        """Return the known name, or an empty text."""
        return self._names.get(_number_or_folded(unknown), "")


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
    are written as those of their segments; two of one system that thereby meet are an error.
    """
    _align_segments(draft, segments)
    keys = {nfc(key): key for key in segments}
    for segment in draft.segments:
        keys.setdefault(nfc(segment.key), segment.key)
    names = {nfc(name): name for name, _ in systems}
    for j, system in enumerate(draft.systems):
        system.name = names.setdefault(nfc(system.name), system.name)
        if not all(map(str.isascii, system.outputs)):
            _align_outputs(draft, j, keys, report)


def _align_segments(draft: TestSetDraft, stored: Mapping[str, str]) -> None:
    keys = {nfc(key): key for key in stored}
    documents = {nfc(document): document for document in stored.values()}
    taken: set[str] = set()
    for segment in draft.segments:
        key = keys.get(nfc(segment.key), segment.key)
        # A second one keeps its spelling, so that its error can show it.
        segment.key = segment.key if key in taken else key
        taken.add(key)
        if segment.document:
            segment.document = documents.setdefault(nfc(segment.document), segment.document)


def _align_outputs(draft: TestSetDraft, j: int, keys: Mapping[str, str], report: Report) -> None:
    system: SystemDraft = draft.systems[j]
    outputs: dict[str, str] = {}
    first: dict[str, str] = {}
    for given, text in system.outputs.items():
        key = keys.get(nfc(given), given)
        place = draft.place("output", j, given)
        draft.rename_row(j, given, key)
        if key in outputs:
            report.error(
                f"the output of “{system.label}” for segment “{key}” is there already "
                f"({draft.place('output', j, first[key])}); the two keys differ in their Unicode "
                "normalisation alone",
                place,
            )
            continue
        outputs[key], first[key] = text, given
    system.outputs = outputs
