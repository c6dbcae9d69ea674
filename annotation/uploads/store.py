"""Store a checked test set, all of it or nothing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.access import (
    joined_project,
    may_change_test_set,
    test_set_refusal,
    test_sets_with_media,
)
from annotation.models import Output, Reference, Segment, SkippedRows, System, TestSet
from annotation.models.corpus import content_key, in_order
from annotation.uploads.changes import (
    Changes,
    Stored,
    compare,
    read_stored,
)
from annotation.uploads.checks import check
from annotation.uploads.drafts import (
    NAME,
    OutputColumn,
    References,
    TestSetDraft,
    translator_of,
)
from annotation.uploads.media.storage import recall
from annotation.uploads.problems import Place, Problem, Report
from annotation.uploads.quota import check_storage
from annotation.uploads.spellings import align
from core import languages
from core.database.inserting import insert, reserve
from core.messages import messages_of
from core.work.kinds import STORING, counted
from metaeval.messages import Message, message

BATCH = 2_000
PROJECT = message("field.project", "project")
TAKEN = message(
    "import.name-taken",
    "There is a test set of this name that you may not see. Choose another name.",
)


@dataclass(frozen=True)
class ImportResult:
    """What an import did; what was stored may have `warnings`."""

    test_set: TestSet
    changes: Changes
    warnings: list[Problem]

    @property
    def sentence(self) -> Message:
        """What was added, in one sentence."""
        changes, name = self.changes, str(self.test_set)
        if changes.is_empty:
            return message(
                "import.unchanged", "“{name}” already had all of this; nothing changed.", name=name
            )
        counts = {"systems": len(changes.systems_added), "outputs": changes.outputs_added}
        if changes.creates:
            return message(
                "import.created",
                "Created “{name}”. Segments: {segments}, systems: {systems}, outputs: {outputs}.",
                name=name,
                segments=changes.segments_added,
                **counts,
            )
        return message(
            "import.added",
            "Added to “{name}”. Systems: {systems}, outputs: {outputs}.",
            name=name,
            **counts,
        )


class OutdatedError(Exception):
    """The stored test set changed after the import was previewed."""


def examine(
    draft: TestSetDraft, report: Report, *, user: Any = None, lock: bool = False
) -> tuple[Stored, Changes]:
    """Check a draft, compare it with what is stored, and check that its user may add it.

    Every violation goes to the report. Commands have no user and may add to every test set.
    """
    stored = read_stored(draft.slug, lock=lock)
    if user is not None and _is_hidden(stored.test_set, user):
        report.error(TAKEN, Place(field=NAME))
        stored = Stored()
    documents = {key: segment.document for key, segment in stored.segments.items()}
    align(draft, report, segments=documents, systems=stored.systems)
    check(draft, report, None if stored.test_set is None else stored.segments.keys())
    changes = compare(draft, stored, report)
    _require_owner(stored.test_set, changes, user, report)
    _require_project(draft, stored.test_set, user, report)
    return stored, changes


def _is_hidden(test_set: TestSet | None, user: Any) -> bool:
    if test_set is None:
        return False
    return not test_sets_with_media(user).filter(pk=test_set.pk).exists()


def _require_owner(test_set: TestSet | None, changes: Changes, user: Any, report: Report) -> None:
    """Refuse additions to the test set of somebody else; an unchanged one may be sent again."""
    if test_set is None or user is None or changes.is_empty:
        return
    if not may_change_test_set(user, test_set):
        report.error(test_set_refusal(test_set))


def _require_project(
    draft: TestSetDraft, test_set: TestSet | None, user: Any, report: Report
) -> None:
    """Report a project into which the user may not put the test set, or which does not change."""
    if test_set is None:
        try:
            joined_project(user, draft.project)
        except ValidationError as error:
            for text in messages_of(error):
                report.error(text, Place(field=PROJECT))
    elif draft.project and (test_set.project is None or test_set.project.slug != draft.project):
        text = message("stored.project", "The stored test set stays in its project.")
        report.warn(text, Place(field=PROJECT))


def store(
    draft: TestSetDraft,
    *,
    user: Any = None,
    expected: Changes | None = None,
    skipped: Iterable[Message] = (),
) -> ImportResult:
    """Store a test set, or add its systems to the stored test set of the same slug.

    `skipped` says which rows of the files were skipped. Storing the same draft again changes
    nothing. Raises ValidationError with every violation, two being that the `user` may not add to
    the test set and that its project has no room, and OutdatedError where the changes are no longer
    the `expected` ones that were previewed.
    """
    report = Report()
    try:
        with transaction.atomic():
            stored, changes = examine(draft, report, user=user, lock=True)
            if report.errors:
                raise ValidationError([problem.sentence for problem in report.errors])
            if expected is not None and changes != expected:
                raise OutdatedError
            test_set = _write(draft, stored, user)
            if not changes.is_empty:
                note_skipped(skipped, test_set, user=user)
    except IntegrityError as error:
        conflict = message(
            "import.conflict",
            "Another import into this test set finished at the same moment. Try again.",
        )
        raise ValidationError([conflict]) from error
    return ImportResult(test_set, changes, report.warnings)


def note_skipped(
    skipped: Iterable[Message], test_set: TestSet, *, campaign: Any = None, user: Any = None
) -> None:
    """Store which rows of files an import skipped."""
    owner = user if user is not None and user.is_authenticated else None
    SkippedRows.objects.bulk_create(
        SkippedRows(
            test_set=test_set,
            campaign=campaign,
            sentence=each,  # type: ignore[misc]  # a text column for django-stubs
            created_by=owner,
        )
        for each in skipped
    )


def _write(draft: TestSetDraft, stored: Stored, user: Any) -> TestSet:
    if (test_set := stored.test_set) is None:
        test_set = _write_test_set(draft, user)
        segments = _write_segments(draft, test_set)
        systems = _write_systems(draft, stored, test_set, References.of(draft.segments))
        outputs = _all_outputs(draft, segments, systems)
    else:
        systems = _write_systems(draft, stored, test_set, References(stored.references))
        outputs = _new_outputs(draft, stored, systems)
    insert(Output, ("system_id", "segment_id", "text", "content_key"), outputs)
    check_storage(test_set)
    return test_set


def _write_test_set(draft: TestSetDraft, user: Any) -> TestSet:
    project = joined_project(user, draft.project)
    return TestSet.objects.create(
        project=project,
        is_private=project is not None,
        slug=draft.slug,
        name=draft.name,
        source_language=languages.normalise(draft.source_language),
        target_language=languages.normalise(draft.target_language),
        description=draft.description,
        is_in_file_order=draft.is_in_file_order,
        created_by=user if user is not None and user.is_authenticated else None,
    )


def _write_segments(draft: TestSetDraft, test_set: TestSet) -> Sequence[int]:
    """Store the segments, and return their primary keys in the draft's order."""
    pks = reserve(Segment, len(draft.segments))
    rows = (
        (pk, test_set.pk, i, s.key, s.document, s.domain, s.source)
        for i, (pk, s) in enumerate(zip(pks, counted(STORING, draft.segments), strict=True))
    )
    columns = ("id", "test_set_id", "position", "key", "document", "domain", "source")
    insert(Segment, columns, rows)
    _write_attachments(draft, pks)
    references = (
        (pk, name, text)
        for pk, s in zip(pks, draft.segments, strict=True)
        for name, text in s.references.items()
    )
    insert(Reference, ("segment_id", "name", "text"), references)
    return pks


def _write_attachments(draft: TestSetDraft, pks: Sequence[int]) -> None:
    """Store attachments. Raises OutdatedError if a file has been deleted since the preview."""
    own = zip(pks, draft.segments, strict=True)
    rows = [(pk, each.attachments) for pk, each in own if each.attachments]
    for _, each in rows:
        if "file" in each and recall(each["file"]) is None:
            raise OutdatedError
    written = [Segment(pk=pk, beside=each) for pk, each in rows]
    Segment.objects.bulk_update(written, ["beside"], batch_size=BATCH // 4)


def _write_systems(
    draft: TestSetDraft, stored: Stored, test_set: TestSet, references: References
) -> list[int]:
    """Return the primary keys of the draft's systems, in the draft's order."""
    new = [s for s in draft.systems if s.identity not in stored.systems]
    rows = System.objects.bulk_create(
        [
            System(
                test_set=test_set,
                name=s.name,
                length_ratio=s.ratio,
                **vars(translator_of(s, references)),
            )
            for s in new
        ]
    )
    pks = stored.systems | {s.identity: row.pk for s, row in zip(new, rows, strict=True)}
    return [pks[system.identity] for system in draft.systems]


def _all_outputs(
    draft: TestSetDraft, pks: Sequence[int], systems: list[int]
) -> Iterator[tuple[int, int, str, str]]:
    """Yield system, segment, text and content key of every output of a new test set."""
    numbers: dict[str, int] = {}
    for system, pk in zip(draft.systems, systems, strict=True):
        outputs = counted(STORING, system.outputs.items())
        if isinstance(system.outputs, OutputColumn):
            for at, segment, (_, text) in zip(pks, draft.segments, outputs, strict=True):
                key = content_key(segment.source, in_order(segment.references), text)
                yield pk, at, text, key
            continue
        numbers = numbers or {segment.key: n for n, segment in enumerate(draft.segments)}
        for name, text in outputs:
            segment = draft.segments[numbers[name]]
            key = content_key(segment.source, in_order(segment.references), text)
            yield pk, pks[numbers[name]], text, key


def _new_outputs(
    draft: TestSetDraft, stored: Stored, systems: list[int]
) -> Iterator[tuple[int, int, str, str]]:
    """Yield system, segment, text and content key of every output that is not stored yet."""
    references = {key: in_order(texts) for key, texts in stored.references.items()}
    for system, pk in zip(draft.systems, systems, strict=True):
        old = stored.outputs(system.identity)
        for key, text in counted(STORING, system.outputs.items()):
            if key not in old:
                segment = stored.segments[key]
                yield pk, segment.pk, text, content_key(segment.source, references[key], text)
