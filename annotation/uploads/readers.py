"""Read files into a draft: plain text here, tables in `segment_tables` and `output_tables`."""

from dataclasses import replace
from itertools import count

from django.conf import settings

from annotation.models import TestSet
from annotation.uploads.drafts import (
    DOCUMENT,
    OUTPUT,
    SOURCE,
    Rows,
    SegmentDraft,
    SystemDraft,
    TestSetDraft,
    column,
    reference_label,
)
from annotation.uploads.files import (
    InputFile,
    RatioError,
    Submission,
    SystemFile,
    beginning,
    label_of_file,
    read_text,
    reference_name,
    split_label,
    too_large,
)
from annotation.uploads.formats.base import TEST_SET, Import
from annotation.uploads.formats.registry import is_marked, read_files
from annotation.uploads.media.attachments import attach
from annotation.uploads.problems import EnoughError, Place, Report
from annotation.uploads.reading import Reading, wrong_length
from annotation.uploads.tables.columns import read_chosen
from annotation.uploads.tables.lines import Listing
from annotation.uploads.tables.meanings import WANTED, is_named, understand
from annotation.uploads.tables.nested import with_references
from annotation.uploads.tables.outputs import read_outputs
from annotation.uploads.tables.pairs import ALL, keep_pair, stated_by
from annotation.uploads.tables.rows import LONGEST_TEXT, Table, too_long
from annotation.uploads.tables.segments import is_segment_table, read_segments
from metaeval.files.decoding import split_lines
from metaeval.messages import Message, message, plural

STORED = message("upload.stored-test-set", "the stored test set")


def read(submission: Submission, report: Report) -> Reading:
    """Read all files of a submission; whatever is wrong with them goes to the report.

    The draft holds what could be read, so that the checks find as much as possible at once. Where
    reading on would help nobody, it stops with an error that says so.
    """
    stored = TestSet.objects.filter(slug=submission.slug).first()
    draft = TestSetDraft(
        slug=submission.slug,
        name=submission.name,
        source_language=submission.source_language or getattr(stored, "source_language", ""),
        target_language=submission.target_language or getattr(stored, "target_language", ""),
        description=submission.description,
        project=submission.project,
    )
    reading = Reading(
        draft, report, submission.ratio, decodes=submission.decode, lines=submission.lines
    )
    report.chosen = submission.columns
    try:
        if _fits(submission.files, report):
            _read_files(reading, _with_marked_as_tables(submission))
    except EnoughError:
        draft.segments, draft.systems = [], []
    return reading


def _with_marked_as_tables(submission: Submission) -> Submission:
    """Return the submission with XML and SGML files as tables: they state what their texts are."""
    plain = [file for file in (submission.source, *submission.references) if file is not None]
    plain += [system.file for system in submission.systems]
    marked = [file for file in plain if is_marked(file.name, beginning(file))]
    return replace(
        submission,
        source=None if submission.source in marked else submission.source,
        references=[file for file in submission.references if file not in marked],
        systems=[system for system in submission.systems if system.file not in marked],
        tables=[*submission.tables, *marked],
    )


def _read_files(reading: Reading, submission: Submission) -> None:
    tables = _read_tables(reading, submission)
    holder = _read_segments(reading, submission, tables)
    draft = reading.draft
    if reading.listing is None:
        reading.listing = _listing(draft) if holder else Listing.stored(draft.slug)
    attach(draft.segments, submission.media, reading.report, lambda i, field: draft.place(field, i))
    for table in tables:
        read_outputs(reading, table)
    for system in submission.systems:
        _read_system_file(reading, system, holder or STORED)
    reading.mention_decoded()


def _listing(draft: TestSetDraft) -> Listing:
    keys, documents = (column(draft.segments, name) for name in ("key", "document"))
    return Listing(keys, documents, draft.is_in_file_order)


def _fits(files: list[InputFile], report: Report) -> bool:
    if not files:
        report.error(message("upload.no-files", "No file was uploaded."))
        return False
    total = sum(file.size for file in files)
    if len(files) > 1 and (refusal := too_large(total)):
        report.error(refusal)
        return False
    return True


def _read_tables(reading: Reading, submission: Submission) -> list[Table]:
    def refuse_too_many(name: str, text: str) -> None:
        # A lower bound; the exact number of texts is known after the columns.
        if (lines := text.count("\n")) > settings.MAX_UPLOAD_TEXTS:
            reading.expect(lines, Place(name))

    report, draft = reading.report, reading.draft
    pair = draft.source_language, draft.target_language
    to = Import(TEST_SET, report, pair)
    found = read_files(submission.tables, to, check=refuse_too_many)
    every = [with_references(table) for table in found]
    chosen = read_chosen(every, WANTED, report, others=is_named)
    understood = [understand(*each, report) for each in zip(every, chosen, strict=True)]
    reading.meanings += [meaning for _, meaning in understood]
    taken = [table for table, _ in understood if table]
    is_all, n_errors = submission.pair == ALL, len(report.errors)
    if not is_all:
        draft.source_language, draft.target_language = pair = stated_by(taken, pair, report)
    tables, is_all = [], is_all or len(report.errors) > n_errors  # it was asked for
    for table in taken:
        kept, counts = keep_pair(table, pair, report, is_one_of_all=is_all)
        reading.pairs += counts
        tables.append(kept)
    for name in filter(None, submission.columns):
        if name not in {file.name for file in submission.files} | {each.file for each in found}:
            text = message(
                "upload.no-table", "No table with columns to name is called “{table}”.", table=name
            )
            report.error(text)
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
        text = message(
            "upload.several-sources",
            "The segments must come from one file, not from {files}.",
            files=names,
        )
        reading.report.error(text)
    if not submission.source:
        for file in filter(None, (submission.documents, *submission.references)):
            text = message("upload.no-source", "This file needs a plain-text source file.")
            reading.report.error(text, Place(file.name))
    return names[0] if names else ""


def _read_plain_segments(reading: Reading, source: InputFile, submission: Submission) -> None:
    draft = reading.draft
    lines = _lines(source, SOURCE, reading)
    if lines is None:
        return
    if not lines:
        reading.report.error(message("file.empty", "The file is empty."), Place(source.name))
    gone = reading.skipped(source.name, len(lines))
    kept = [line for line in range(1, len(lines) + 1) if line not in gone]
    reading.listing = Listing([str(n) for n in range(1, len(lines) + 1)], [""] * len(lines), True)
    reading.skipped_keys = set(map(str, gone))
    draft.segments = [SegmentDraft(str(line), lines[line - 1]) for line in kept]
    draft.is_in_file_order = draft.keys_are_lines = True
    draft.read_from(("source",), Rows.of(source.name, SOURCE, count(), kept))
    draft.read_from(("key",), Rows.of(source.name, SOURCE, count(), kept))
    for number, file in enumerate(submission.references):
        name = reference_name(number)
        label = reference_label(name)
        if texts := _parallel(reading, file, label, source.name):
            absent = reading.skipped(file.name, len(texts))
            for segment, line in zip(draft.segments, kept, strict=True):
                if line not in absent:
                    segment.references[name] = texts[line - 1]
        draft.read_from(("reference", name), Rows.of(file.name, label, count(), kept))
    if submission.documents:
        _read_documents(reading, submission.documents, source.name, kept)


def _read_documents(reading: Reading, file: InputFile, source: str, lines_read: list[int]) -> None:
    lines = _parallel(reading, file, DOCUMENT, source)
    for i, line in enumerate(lines_read if lines else ()):
        document = lines[line - 1].strip()
        place = Place(file.name, line, DOCUMENT)
        reading.draft.segments[i].document = document
        reading.draft.places["document", i] = place
        if not document:
            reading.report.error(message("document.empty", "The document id is empty."), place)


def _lines(file: InputFile, field: Message, reading: Reading) -> list[str] | None:
    report = reading.report
    content = read_text(file, report)
    if content is None:
        return None
    if field != DOCUMENT:
        reading.expect(content.count("\n"), Place(file.name))
    lines = split_lines(content)
    report.saw(file.name, rows=len(lines))
    for i in (i for i, line in enumerate(lines) if len(line) > LONGEST_TEXT):
        report.stop(too_long(len(lines[i])), Place(file.name, i + 1, field))
    if field != DOCUMENT:
        lines = reading.texts(lines, file.name, field, range(1, len(lines) + 1))
    if tabs := [i + 1 for i, line in enumerate(lines) if "\t" in line]:
        text = plural(
            "upload.tabs",
            "{n} line contains a tab. If this is a table, upload it as a table.",
            "{n} lines contain a tab. If this is a table, upload it as a table.",
            n=len(tabs),
        )
        report.warn(text, Place(file.name, tabs[0], field))
    return lines


def _parallel(reading: Reading, file: InputFile, field: Message, source: str) -> list[str]:
    """Return a file's lines if it has one for each segment, else none."""
    lines = _lines(file, field, reading)
    wanted = len(reading.listing.keys) if reading.listing else 0
    if lines is None or not _matches(reading, file, lines, wanted, source):
        return []
    return lines


def _matches(reading: Reading, file: InputFile, lines: list[str], wanted: int, source: str) -> bool:
    if len(lines) == wanted:
        return True
    if not wanted and reading.report.errors:  # the segments themselves could not be read
        return False
    reading.report.error(wrong_length(len(lines), wanted, source), Place(file.name))
    return False


def _read_system_file(reading: Reading, system: SystemFile, within: str | Message) -> None:
    """Read the outputs of one system, one line per segment of the file or test set `within`."""
    file, draft = system.file, reading.draft
    lines = _lines(file, OUTPUT, reading)
    try:
        label = system.label or label_of_file(file.name, draft.target_language)
        name, ratio = split_label(label, reading.ratio)
    except RatioError as error:
        reading.report.error(error.message, Place(file.name))
        return
    if lines is None:
        return
    keys = reading.key_of_lines(len(lines), Place(file.name), within)
    if keys is None:
        return
    j = len(draft.systems)
    gone = reading.skipped(file.name, len(lines))
    rows = {
        key: row
        for row, key in enumerate(keys, 1)
        if key is not None and row not in gone and key not in reading.skipped_keys
    }
    outputs = {key: lines[row - 1] for key, row in rows.items()}
    draft.systems.append(SystemDraft(name, ratio, outputs))
    draft.places["system", j] = Place(file.name)
    draft.read_from(("output", j), Rows(file.name, OUTPUT, lambda: rows))
