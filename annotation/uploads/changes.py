"""Compare a draft with the test set stored under its slug: what is new, stored or contradictory.

A stored text never changes, because judgments and scores refer to it.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from annotation.models import Output, Reference, System, TestSet
from annotation.uploads.drafts import (
    DESCRIPTION,
    NAME,
    SOURCE_LANGUAGE,
    TARGET_LANGUAGE,
    TestSetDraft,
    reference_texts,
)
from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import fold
from annotation.uploads.tables.lines import Listing
from core import languages
from metaeval.messages import Message, message, plural, truncated


class StoredSegment(NamedTuple):
    """A stored segment, as a tenth of the memory of a model."""

    pk: int
    position: int
    key: str
    source: str
    document: str
    domain: str
    beside: Any


@dataclass
class Stored:
    """A stored test set by the uploader's names: segment keys, system identities."""

    test_set: TestSet | None = None
    segments: dict[str, StoredSegment] = field(default_factory=dict)
    references: dict[str, dict[str, str]] = field(default_factory=dict)
    systems: dict[tuple[str, Decimal], int] = field(default_factory=dict)

    def outputs(self, identity: tuple[str, Decimal]) -> dict[str, str]:
        """Return the stored outputs of a system by segment key; none for an unknown system."""
        pk = self.systems.get(identity)
        if pk is None:
            return {}
        rows = Output.objects.filter(system=pk).order_by()
        return dict(rows.values_list("segment__key", "text"))


def read_segments(test_set: TestSet) -> dict[str, StoredSegment]:
    """Return the stored segments of a test set by key."""
    rows = test_set.segments.values_list(*StoredSegment._fields)
    return {row[2]: StoredSegment(*row) for row in rows.iterator()}


@dataclass(frozen=True)
class Changes:
    """How many rows an import would add, and how many of the draft's are stored already."""

    creates: bool
    segments_added: int
    segments_unchanged: int
    references_added: int
    systems_added: tuple[str, ...]
    systems_unchanged: tuple[str, ...]
    outputs_added: int
    outputs_unchanged: int

    @property
    def is_empty(self) -> bool:
        """Return True if the import would store nothing."""
        return not (self.creates or self.segments_added or self.systems_added or self.outputs_added)


NO_CHANGES = Changes(
    creates=False,
    segments_added=0,
    segments_unchanged=0,
    references_added=0,
    systems_added=(),
    systems_unchanged=(),
    outputs_added=0,
    outputs_unchanged=0,
)


def read_stored(slug: str, *, lock: bool = False) -> Stored:
    """Read what is stored under a slug; with `lock`, other imports into it wait."""
    rows = TestSet.objects.select_for_update() if lock else TestSet.objects.all()
    test_set = rows.filter(slug=slug).first()
    if test_set is None:
        return Stored()
    stored = Stored(test_set)
    stored.segments = read_segments(test_set)
    stored.references = {key: {} for key in stored.segments}
    references = Reference.objects.filter(segment__test_set=test_set).order_by()
    for key, name, text in references.values_list("segment__key", "name", "text"):
        stored.references[key][name] = text
    systems = System.objects.filter(test_set=test_set).order_by()
    stored.systems = {(s.name, s.length_ratio): s.pk for s in systems}
    return stored


def compare(draft: TestSetDraft, stored: Stored, report: Report) -> Changes:
    """Count what an import would add; report what contradicts the stored test set."""
    if stored.test_set is None:
        return _all_new(draft)
    _compare_head(draft, stored.test_set, report)
    _compare_segments(draft, stored, report)
    _compare_spellings(draft, stored, report)
    added, unchanged = _compare_outputs(draft, stored, report)
    known = {system.identity for system in draft.systems} & stored.systems.keys()
    return Changes(
        creates=False,
        segments_added=0,
        segments_unchanged=len(stored.segments),
        references_added=0,
        systems_added=tuple(s.label for s in draft.systems if s.identity not in known),
        systems_unchanged=tuple(s.label for s in draft.systems if s.identity in known),
        outputs_added=added,
        outputs_unchanged=unchanged,
    )


def _all_new(draft: TestSetDraft) -> Changes:
    return Changes(
        creates=True,
        segments_added=len(draft.segments),
        segments_unchanged=0,
        references_added=sum(1 for _ in reference_texts(draft.segments)),
        systems_added=tuple(system.label for system in draft.systems),
        systems_unchanged=(),
        outputs_added=sum(len(system.outputs) for system in draft.systems),
        outputs_unchanged=0,
    )


def _compare_head(draft: TestSetDraft, test_set: TestSet, report: Report) -> None:
    new, old = _code(draft.source_language), test_set.source_language
    if new != old:
        text = message(
            "stored.source-language",
            "The stored test set has the source language {stored}, not {new}. Stored test sets "
            "cannot be changed; upload yours under another name.",
            stored=old,
            new=new,
        )
        report.error(text, Place(field=SOURCE_LANGUAGE))
    new, old = _code(draft.target_language), test_set.target_language
    if new != old:
        text = message(
            "stored.target-language",
            "The stored test set has the target language {stored}, not {new}. Stored test sets "
            "cannot be changed; upload yours under another name.",
            stored=old,
            new=new,
        )
        report.error(text, Place(field=TARGET_LANGUAGE))
    if draft.name != test_set.name:
        text = message(
            "stored.name", "The stored name “{name}” does not change.", name=test_set.name
        )
        report.warn(text, Place(field=NAME))
    if draft.description and draft.description != test_set.description:
        text = message("stored.description", "The stored description does not change.")
        report.warn(text, Place(field=DESCRIPTION))


def _code(language: str) -> str:
    return languages.normalise(language) if languages.is_valid(language) else language


def _compare_segments(draft: TestSetDraft, stored: Stored, report: Report) -> None:
    if draft.keys_are_lines and stored.test_set is not None:
        _require_order(draft, stored.test_set, report)
    without: list[int] = []
    for i, segment in enumerate(draft.segments):
        old = stored.segments.get(segment.key)
        if old is None:
            text = message(
                "stored.no-segment",
                "The stored test set has no segment “{segment}”. Stored test sets cannot be "
                "changed; upload yours under another name.",
                segment=segment.key,
            )
            report.error(text, draft.place("key", i))
            continue
        if segment.source != old.source:
            report.error(_other_source(segment.key), draft.place("source", i))
        if segment.document != old.document:
            text = message(
                "stored.document",
                "Segment “{segment}” is stored with another document. Stored test sets cannot be "
                "changed; upload yours under another name.",
                segment=segment.key,
            )
            report.error(text, draft.place("document", i))
        if segment.domain and old.domain not in ("", segment.domain):
            text = message(
                "stored.domain",
                "Segment “{segment}” is stored with another domain. Stored test sets cannot be "
                "changed; upload yours under another name.",
                segment=segment.key,
            )
            report.error(text, draft.place("domain", i))
        elif segment.domain and not old.domain:
            without.append(i)
        if segment.attachments and segment.attachments != old.beside:
            text = message(
                "stored.attachments",
                "Segment “{segment}” is stored with another file or other notes. Stored test sets "
                "cannot be changed; upload yours under another name.",
                segment=segment.key,
            )
            report.error(text, draft.place("media", i))
        _compare_references(draft, i, stored.references[segment.key], report)
    if without:
        report.warn_of(
            len(without),
            "stored.no-domains",
            "{n} segment is stored without a domain, so that of the files is not used. Upload the "
            "files under another name to keep it.",
            "{n} segments are stored without a domain, so those of the files are not used. Upload "
            "the files under another name to keep them.",
            draft.place("domain", without[0]),
        )
    if draft.segments:
        _report_absent(draft, stored, report)


def _other_source(key: str) -> Message:
    return message(
        "stored.source",
        "Segment “{segment}” is stored with another source. Stored test sets cannot be changed; "
        "upload yours under another name.",
        segment=key,
    )


def _require_order(draft: TestSetDraft, test_set: TestSet, report: Report) -> None:
    """Refuse lines whose texts do not show whether they are the segments of their numbers."""
    if len({segment.source for segment in draft.segments}) > 1:
        return
    if Listing.stored(test_set.slug).is_unclear:
        text = message(
            "stored.unknown-order",
            "The lines of the files have no keys, and the stored test set is not in the order of a "
            "source file, so their segments are unknown. Import them under another name.",
        )
        report.error(text)


def _compare_references(
    draft: TestSetDraft, i: int, stored: dict[str, str], report: Report
) -> None:
    segment = draft.segments[i]
    for name, reference in segment.references.items():
        place = draft.place("reference", i, name)
        if name not in stored:
            text = message(
                "stored.no-reference",
                "Segment “{segment}” is stored without a reference {reference}. Stored test sets "
                "cannot be changed; upload yours under another name.",
                segment=segment.key,
                reference=name,
            )
            report.error(text, place)
        elif stored[name] != reference:
            text = message(
                "stored.reference",
                "Segment “{segment}” is stored with another reference {reference}. Stored test "
                "sets cannot be changed; upload yours under another name.",
                segment=segment.key,
                reference=name,
            )
            report.error(text, place)


def _report_absent(draft: TestSetDraft, stored: Stored, report: Report) -> None:
    given = {segment.key for segment in draft.segments}
    if absent := [key for key in stored.segments if key not in given]:
        text = plural(
            "stored.segments-absent",
            "{n} stored segment is missing in this upload: {segments}. To add systems only, do not "
            "upload a source.",
            "{n} stored segments are missing in this upload: {segments}. To add systems only, do "
            "not upload a source.",
            n=len(absent),
            segments=truncated(absent),
        )
        report.error(text)
    names = {name for references in stored.references.values() for name in references}
    gone = names - {name for segment in draft.segments for name in segment.references}
    report.warn_of(
        len(gone),
        "stored.references-absent",
        "The stored reference {references} is not in this upload and does not change.",
        "The stored references {references} are not in this upload and do not change.",
        references=truncated(sorted(gone)),
    )


def _compare_spellings(draft: TestSetDraft, stored: Stored, report: Report) -> None:
    spellings = {fold(name): name for name, _ in stored.systems}
    for j, system in enumerate(draft.systems):
        old = spellings.get(fold(system.name), system.name)
        if old != system.name:
            text = message(
                "stored.system-spelling",
                "The system name “{system}” and the stored name “{stored}” differ only in case or "
                "blanks.",
                system=system.name,
                stored=old,
            )
            report.error(text, draft.place("system", j))


def _compare_outputs(draft: TestSetDraft, stored: Stored, report: Report) -> tuple[int, int]:
    added = unchanged = 0
    for j, system in enumerate(draft.systems):
        old = stored.outputs(system.identity)
        for key, text in system.outputs.items():
            if key not in old:
                added += 1
            elif old[key] == text:
                unchanged += 1
            else:
                refusal = message(
                    "stored.output",
                    "System “{system}” is stored with another output for segment “{segment}”. "
                    "Stored test sets cannot be changed; upload yours under another name.",
                    system=system.label,
                    segment=key,
                )
                report.error(refusal, draft.place("output", j, key))
    return added, unchanged
