"""Preview a checked draft: counts, a table of the systems, the first segments."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import compress
from typing import Any

from django.db import transaction

from annotation.uploads.changes import NO_CHANGES, Changes, Stored
from annotation.uploads.drafts import (
    SegmentDraft,
    SystemDraft,
    TestSetDraft,
    column,
    reference_texts,
)
from annotation.uploads.files import Submission, of_pair
from annotation.uploads.problems import EnoughError, Report, showable
from annotation.uploads.readers import read
from annotation.uploads.store import ImportResult, examine, store
from annotation.uploads.tables.meanings import Meaning
from annotation.uploads.tables.pairs import ALL
from annotation.uploads.tables.skipping import read_skipping, skipped
from annotation.uploads.waiting import encoded
from annotation.uploads.warnings import (
    add_warnings,
    reference_lengths,
    sizes_of,
    warn_of_entities,
)
from metaeval.messages import message

FIRST = 5
# A damaged file of a million rows has a million errors; more than these do not help.
MOST_ERRORS = 1_000


@dataclass(frozen=True)
class SystemRow:
    """A system in the preview. `observed` is output length over reference length, if known."""

    label: str
    name: str
    ratio: str
    outputs: int
    empty: int
    missing: int
    observed: float | None
    is_new: bool


@dataclass(frozen=True)
class Preview:
    """Counts of a checked draft, plain values throughout so that it can be kept as JSON.

    `entities` counts the segments with HTML entities.
    """

    segments: int
    documents: int
    references: int
    outputs: int
    empty: int
    entities: int
    systems: list[SystemRow]
    first: list[dict[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


@dataclass
class Checked:
    """A checked draft with its problems, and the fields of the columns of its tables.

    `pairs` are the language pairs that tables name.
    """

    draft: TestSetDraft
    report: Report
    changes: Changes
    preview: Preview
    meanings: list[Meaning] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Part:
    """One of the test sets of an upload: what describes it, and what storing it changes."""

    head: dict[str, str]
    changes: Changes
    preview: Preview


@dataclass(frozen=True)
class Look:
    """What a page shows of an upload; `pairs` are the language pairs of the tables."""

    parts: list[Part]
    report: Report
    meanings: list[Meaning]
    pairs: list[tuple[str, str]]

    @property
    def seen(self) -> str:
        """A hash of what storing changes, which must still be the same after the confirmation."""
        return hashlib.sha256(encoded([part.changes for part in self.parts])).hexdigest()


def look_of(found: Sequence[Checked]) -> Look:
    """Return what a page shows of checked drafts, without their texts."""
    parts = [Part(each.draft.head(), each.changes, each.preview) for each in found]
    first = found[0]
    return Look(parts, first.report, first.meanings, first.pairs)


def check_submission(submission: Submission, *, user: Any = None) -> Checked:
    """Read and check files without storing anything: the dry run. Commands have no `user`."""
    return check_pairs(replace(submission, pair=""), user=user)[0]


def check_pairs(submission: Submission, *, user: Any = None) -> list[Checked]:
    """Check a submission as one test set, or one for each language pair if all were asked for.

    The results have one report.
    """

    def once(report: Report) -> list[Checked]:
        found = [_check(part, report, user) for part in _parts(submission)]
        # What is wrong with the files of several language pairs is reported once.
        report.problems = list(dict.fromkeys(report.problems))
        return found

    found, report = read_skipping(submission.skip, once, limit=MOST_ERRORS)
    report.gather()
    return found


def _parts(submission: Submission) -> list[Submission]:
    """Return a submission for each language pair of its tables if all were asked for."""
    if submission.pair != ALL:
        return [submission]
    own = submission.source_language, submission.target_language
    pairs = read(submission, Report()).pairs
    codes = dict.fromkeys((s or own[0], t or own[1]) for s, t in pairs)
    return [of_pair(submission, *pair) for pair in codes] or [submission]


def _check(submission: Submission, report: Report, user: Any) -> Checked:
    reading = read(submission, report)
    checked = check_draft(reading.draft, report, user=user)
    checked.meanings, checked.pairs = reading.meanings, list(reading.pairs)
    return checked


@transaction.atomic
def store_all(found: Sequence[Checked], user: Any) -> list[ImportResult]:
    """Store checked drafts, all or nothing. Raises what `store` raises."""
    lines = skipped(found[0].report)
    return [store(each.draft, user=user, expected=each.changes, skipped=lines) for each in found]


def check_draft(draft: TestSetDraft, report: Report, *, user: Any = None) -> Checked:
    """Check a draft and describe it."""
    try:
        stored, changes = examine(draft, report, user=user)
    except EnoughError:
        draft.segments, draft.systems = [], []
        stored, changes = Stored(), NO_CHANGES
    segments = draft.segments or stored_segments(stored)
    language = draft.target_language
    lengths = reference_lengths(segments, language)
    sizes = [sizes_of(system.outputs.values(), language) for system in draft.systems]
    entities = 0
    if not report.is_cut:
        entities = warn_of_entities(draft, report)
        add_warnings(draft, report, segments, lengths, sizes)
        if changes.creates and not (draft.systems or draft.is_systems_only or report.errors):
            text = message(
                "outputs.none",
                "There are no outputs. Add systems before annotators can rate anything.",
            )
            report.warn(text)
    preview = describe(draft, segments, stored, entities, lengths, sizes)
    return Checked(draft, report, changes, preview)


def stored_segments(stored: Stored) -> list[SegmentDraft]:
    """Return the stored segments as drafts, in order."""
    rows = sorted(stored.segments.values(), key=lambda segment: segment.position)
    return [SegmentDraft(s.key, s.source, s.document, stored.references[s.key]) for s in rows]


def describe(
    draft: TestSetDraft,
    segments: Sequence[SegmentDraft],
    stored: Stored,
    entities: int,
    lengths: dict[str, float],
    sizes: Sequence[Sequence[int]],
) -> Preview:
    """Count a draft; `segments` are the draft's or the stored ones that it adds systems to."""
    both = zip(draft.systems, sizes, strict=True)
    rows = [_row(system, own, len(segments), lengths, stored) for system, own in both]
    return Preview(
        segments=len(segments),
        documents=len(set(column(segments, "document")) - {""}),
        references=sum(1 for _ in reference_texts(segments)),
        outputs=sum(row.outputs for row in rows),
        empty=sum(row.empty for row in rows),
        entities=entities,
        systems=rows,
        first=[_first(segment, draft.systems) for segment in segments[:FIRST]],
    )


def _row(
    system: SystemDraft,
    sizes: Sequence[int],
    segments: int,
    lengths: dict[str, float],
    stored: Stored,
) -> SystemRow:
    own = list(map(lengths.get, system.outputs))
    wanted = math.fsum(length for length in own if length is not None)
    size = sum(compress(sizes, [length is not None for length in own]))
    texts = system.outputs.values()
    return SystemRow(
        label=showable(system.label),
        name=showable(system.name),
        ratio=str(system.ratio),
        outputs=len(system.outputs),
        empty=sum(not text or text.isspace() for text in texts),
        missing=max(0, segments - len(system.outputs)),
        observed=size / wanted if wanted else None,
        is_new=system.identity not in stored.systems,
    )


def _first(segment: SegmentDraft, systems: Sequence[SystemDraft]) -> dict[str, Any]:
    return {
        "key": showable(segment.key),
        "document": showable(segment.document),
        "source": showable(segment.source),
        "references": [(name, showable(text)) for name, text in sorted(segment.references.items())],
        "outputs": [[showable(s.label), _shown(s, segment.key)] for s in systems],
    }


def _shown(system: SystemDraft, key: str) -> str | None:
    return showable(system.outputs[key]) if key in system.outputs else None
