"""A draft against what is stored under its slug: what is new, what is there, what contradicts.

A stored text never changes, because judgments and scores are tied to it.
"""

from dataclasses import dataclass, field
from decimal import Decimal

from annotation.models import Output, Reference, Segment, System, TestSet
from annotation.uploads.drafts import TestSetDraft
from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import fold
from annotation.uploads.tables.lines import Listing
from core import languages
from core.text import join_truncated

ADVICE = "Test sets never change; upload it under another name."


@dataclass
class Stored:
    """A stored test set by the uploader's names: segment keys, system identities."""

    test_set: TestSet | None = None
    segments: dict[str, Segment] = field(default_factory=dict)
    references: dict[str, dict[str, str]] = field(default_factory=dict)
    systems: dict[tuple[str, Decimal], int] = field(default_factory=dict)

    def outputs(self, identity: tuple[str, Decimal]) -> dict[str, str]:
        """Return the stored outputs of a system by segment key; none for an unknown system."""
        pk = self.systems.get(identity)
        if pk is None:
            return {}
        rows = Output.objects.filter(system=pk).order_by()
        return dict(rows.values_list("segment__key", "text"))


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
        """Whether the import would store nothing."""
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
    stored.segments = {segment.key: segment for segment in test_set.segments.all()}
    stored.references = {key: {} for key in stored.segments}
    references = Reference.objects.filter(segment__test_set=test_set).order_by()
    for key, name, text in references.values_list("segment__key", "name", "text"):
        stored.references[key][name] = text
    systems = System.objects.filter(test_set=test_set).order_by()
    stored.systems = {(s.name, s.length_ratio): s.pk for s in systems}
    return stored


def compare(draft: TestSetDraft, stored: Stored, report: Report) -> Changes:
    """Count what an import would add; report whatever contradicts the stored test set."""
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
        references_added=sum(len(segment.references) for segment in draft.segments),
        systems_added=tuple(system.label for system in draft.systems),
        systems_unchanged=(),
        outputs_added=sum(len(system.outputs) for system in draft.systems),
        outputs_unchanged=0,
    )


def _compare_head(draft: TestSetDraft, test_set: TestSet, report: Report) -> None:
    for attribute in ("source_language", "target_language"):
        code, old = getattr(draft, attribute), getattr(test_set, attribute)
        new = languages.normalise(code) if languages.is_valid(code) else code
        if new != old:
            what = attribute.replace("_", " ")
            report.error(f"the stored test set has the {what} {old}, not {new}. {ADVICE}",
                         Place(field=what))  # fmt: skip
    if draft.name != test_set.name:
        report.warn(f"the stored name “{test_set.name}” is kept", Place(field="name"))
    if draft.description and draft.description != test_set.description:
        report.warn("the stored description is kept", Place(field="description"))


def _compare_segments(draft: TestSetDraft, stored: Stored, report: Report) -> None:
    if draft.keys_are_lines and stored.test_set is not None:
        _doubt_lines(draft, stored.test_set, report)
    for i, segment in enumerate(draft.segments):
        old = stored.segments.get(segment.key)
        if old is None:
            report.error(
                f"the stored test set has no segment “{segment.key}”. {ADVICE}",
                draft.place("key", i),
            )
            continue
        for kind in ("source", "document"):
            if getattr(segment, kind) != getattr(old, kind):
                report.error(f"segment “{segment.key}” is stored with another {kind}. {ADVICE}",
                             draft.place(kind, i))  # fmt: skip
        if segment.beside and segment.beside != old.beside:
            report.error(
                f"segment “{segment.key}” is stored with other files or notes beside it. {ADVICE}",
                draft.place("media", i),
            )
        _compare_references(draft, i, stored.references[segment.key], report)
    if draft.segments:
        _report_absent(draft, stored, report)


def _doubt_lines(draft: TestSetDraft, test_set: TestSet, report: Report) -> None:
    """Refuse lines without texts that tell whether they are the segments of their numbers."""
    if len({segment.source for segment in draft.segments}) > 1:
        return
    if Listing.stored(test_set.slug).is_unclear:
        report.error(
            "the files have lines without keys, and the stored test set does not have the order "
            "of a source file: which segments they are of is not known. Import them under another "
            "name"
        )


def _compare_references(
    draft: TestSetDraft, i: int, stored: dict[str, str], report: Report
) -> None:
    segment = draft.segments[i]
    for name, text in segment.references.items():
        if stored.get(name) == text:
            continue
        state = "with another" if name in stored else "without a"
        report.error(f"segment “{segment.key}” is stored {state} reference {name}. {ADVICE}",
                     draft.place("reference", i, name))  # fmt: skip


def _report_absent(draft: TestSetDraft, stored: Stored, report: Report) -> None:
    given = {segment.key for segment in draft.segments}
    if absent := [key for key in stored.segments if key not in given]:
        report.error(
            f"{len(absent):,} stored segments are not in this upload "
            f"({join_truncated(absent)}). To add "
            "systems only, leave out the source."
        )
    names = {name for references in stored.references.values() for name in references}
    gone = names - {name for segment in draft.segments for name in segment.references}
    if gone:
        report.warn(
            f"the stored reference {join_truncated(sorted(gone))} is not in this upload and stays"
        )


def _compare_spellings(draft: TestSetDraft, stored: Stored, report: Report) -> None:
    spellings = {fold(name): name for name, _ in stored.systems}
    for j, system in enumerate(draft.systems):
        old = spellings.get(fold(system.name), system.name)
        if old != system.name:
            report.error(
                f"the system name “{system.name}” and the stored “{old}” differ only in case or "
                "blanks",
                draft.place("system", j),
            )


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
                report.error(
                    f"system “{system.label}” is stored with another output for segment "
                    f"“{key}”. {ADVICE}",
                    draft.place("output", j, key),
                )
    return added, unchanged
