"""Files to a draft: plain parallel text here, tables in `table_readers`."""

from django.template.defaultfilters import filesizeformat

from annotation.models import Segment
from annotation.uploads.drafts import SegmentDraft, SystemDraft, TestSetDraft
from annotation.uploads.files import InputFile, lines_of, read_text, too_large
from annotation.uploads.problems import Place, Report
from annotation.uploads.submissions import Submission, SystemFile, reference_name, split_label
from annotation.uploads.table_readers import (
    Reading,
    is_segment_table,
    read_outputs,
    read_segments,
    warn_of_columns,
)
from annotation.uploads.tables import Table, parse


def read(submission: Submission, report: Report) -> TestSetDraft:
    """Read all files of a submission; whatever is wrong with them goes to the report.

    The draft holds what could be read, so that the checks find as much as possible at once.
    """
    draft = TestSetDraft(
        slug=submission.slug,
        name=submission.name,
        source_language=submission.source_language,
        target_language=submission.target_language,
        description=submission.description,
    )
    reading = Reading(draft, report, submission.ratio)
    if _fits(submission.files, report):
        tables = _read_tables(submission.tables, report)
        beside = _read_segments(reading, submission, tables)
        for table in tables:
            read_outputs(reading, table)
        _read_system_files(reading, submission, beside)
    return draft


def _fits(files: list[InputFile], report: Report) -> bool:
    if not files:
        report.error("no file was sent")
        return False
    total = sum(file.size for file in files)
    if len(files) > 1 and (message := too_large(total)):
        sizes = ", ".join(f"{file.name} {filesizeformat(file.size)}" for file in files[:10])
        report.error(f"all files together: {message} ({sizes})")
        return False
    return True


def _read_tables(files: list[InputFile], report: Report) -> list[Table]:
    tables = []
    for file in files:
        text = read_text(file, report)
        table = None if text is None else parse(file.name, text, report)
        if table is not None:
            warn_of_columns(table, report)
            tables.append(table)
    return tables


def _read_segments(reading: Reading, submission: Submission, tables: list[Table]) -> str:
    """Read the segments and return the name of the file that holds them, empty if none does."""
    holders = [table for table in tables if is_segment_table(table)]
    names = [table.file for table in holders]
    if submission.source:
        names.insert(0, submission.source.name)
        _read_plain_segments(reading, submission.source, submission)
    elif holders:
        read_segments(reading, holders[0])
    if len(names) > 1:
        reading.report.error(f"the segments must come from one file, not from {', '.join(names)}")
    if not submission.source:
        for file in filter(None, (submission.documents, *submission.references)):
            reading.report.error("this needs a plain source file beside it", Place(file.name))
    return names[0] if names else ""


def _read_plain_segments(reading: Reading, source: InputFile, submission: Submission) -> None:
    draft, places = reading.draft, reading.draft.places
    lines = _lines(source, "source", reading.report)
    if lines is None:
        return
    if not lines:
        reading.report.error("the file is empty", Place(source.name))
    draft.segments = [SegmentDraft(str(i + 1), line) for i, line in enumerate(lines)]
    for i in range(len(lines)):
        places["source", i] = places["key", i] = Place(source.name, i + 1, "source")
    for number, file in enumerate(submission.references):
        name = reference_name(number)
        for i, line in enumerate(_parallel(reading, file, f"reference {name}", source.name)):
            draft.segments[i].references[name] = line
            places["reference", i, name] = Place(file.name, i + 1, f"reference {name}")
    if submission.documents:
        _read_documents(reading, submission.documents, source.name)


def _read_documents(reading: Reading, file: InputFile, source: str) -> None:
    for i, line in enumerate(_parallel(reading, file, "document", source)):
        place = Place(file.name, i + 1, "document")
        reading.draft.segments[i].document = line.strip()
        reading.draft.places["document", i] = place
        if not line.strip():
            reading.report.error("the document id is empty", place)


def _lines(file: InputFile, field: str, report: Report) -> list[str] | None:
    text = read_text(file, report)
    if text is None:
        return None
    lines = lines_of(text)
    if tabs := [i + 1 for i, line in enumerate(lines) if "\t" in line]:
        report.warn(
            f"{len(tabs):,} lines contain a tab. Is this a table? Then send it as one",
            Place(file.name, tabs[0], field),
        )
    return lines


def _parallel(reading: Reading, file: InputFile, field: str, beside: str) -> list[str]:
    """Return a file's lines if it has one for each segment, else none."""
    lines = _lines(file, field, reading.report)
    if lines is None or not _matches(reading, file, lines, len(reading.draft.segments), beside):
        return []
    return lines


def _matches(reading: Reading, file: InputFile, lines: list[str], wanted: int, beside: str) -> bool:
    if len(lines) == wanted:
        return True
    if not wanted and reading.report.errors:  # the segments themselves could not be read
        return False
    reading.report.error(
        f"{file.name} has {len(lines):,} lines, {beside} has {wanted:,} segments",
        Place(file.name),
    )
    return False


def _read_system_files(reading: Reading, submission: Submission, beside: str) -> None:
    keys = [segment.key for segment in reading.draft.segments]
    if not beside:
        stored = Segment.objects.filter(test_set__slug=submission.slug).order_by("position")
        keys, beside = list(stored.values_list("key", flat=True)), "the stored test set"
    for system in submission.systems:
        _read_system_file(reading, system, keys, beside)


def _read_system_file(reading: Reading, system: SystemFile, keys: list[str], beside: str) -> None:
    file, draft = system.file, reading.draft
    lines = _lines(file, "output", reading.report)
    try:
        name, ratio = split_label(system.label, reading.ratio)
    except ValueError as error:
        reading.report.error(str(error), Place(file.name))
        return
    if lines is None or not _matches(reading, file, lines, len(keys), beside):
        return
    j = len(draft.systems)
    draft.systems.append(SystemDraft(name, ratio, dict(zip(keys, lines, strict=True))))
    draft.places["system", j] = Place(file.name)
    for i, key in enumerate(keys):
        draft.places["output", j, key] = Place(file.name, i + 1, "output")
