"""What stands beside a segment in a table or a campaign file, and the files that are meant.

A segment's `beside` is a dictionary of plain values. As read it names its file under `media`; once
the file is kept, `file`, `kind` and `type` stand in its place. Other keys: `start` and `end` in
seconds of the recording, `alt`, `transcript`, `glossary`, `register`, `instructions`, and
`is_source` where the segment has no other source than the file.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from annotation.models import TestSet
from annotation.uploads.drafts import SegmentDraft
from annotation.uploads.files import InputFile
from annotation.uploads.media.keeping import Kept, RefusedFileError, forget_unused, keep, recall
from annotation.uploads.media.sent import FAULTS, SentFiles, gather
from annotation.uploads.problems import Place, Report
from core.text import join_truncated

TEXTS = ("alt", "transcript", "glossary", "register", "instructions")
TIMES = {"media_start": "start", "media_end": "end"}
COLUMNS = ("media", *TIMES, *TEXTS)
# Stands for the source of a segment that has a file and no transcript.
NOT_TEXT = "[the source is not text]"
# A file that is kept already goes by its hash.
HASHED = re.compile(r"([0-9a-f]{64})(\.[a-z0-9]+)?")
# The most seconds of a recording: a week.
LONGEST = 7 * 24 * 3600
Where = Callable[[int, str], Place]


def read_beside(values: Mapping[str, Any], place: Callable[[str], Place], report: Report) -> Any:
    """Return what a row or object says under the names of `COLUMNS`; {} where it says nothing.

    `place` says where a column stands. What is wrong goes to the report.
    """
    beside: dict[str, Any] = {}
    for name in ("media", *TEXTS):
        value = values.get(name)
        if value is not None and not isinstance(value, str):
            report.error(f"“{name}” is no text", place(name))
        elif value and value.strip():
            beside[name] = value.replace("\r\n", "\n").strip()
    for name, key in TIMES.items():
        if (raw := values.get(name)) not in (None, ""):
            beside[key] = _seconds(raw, place(name), report)
    return _checked(beside, place, report)


def _seconds(raw: Any, place: Place, report: Report) -> float:
    try:
        seconds = math.nan if isinstance(raw, bool) else float(raw)
    except (TypeError, ValueError):
        seconds = math.nan
    if 0 <= seconds <= LONGEST:
        return round(seconds, 3)
    report.error("seconds from the beginning of the recording are expected, such as 12.4", place)
    return 0.0


def _checked(
    beside: dict[str, Any], place: Callable[[str], Place], report: Report
) -> dict[str, Any]:
    if "end" in beside and beside["end"] <= beside.get("start", 0):
        report.error("the end does not come after the start", place("media_end"))
    alone = {"start", "end", "alt", "transcript"} & set(beside)
    if alone and "media" not in beside:
        report.error(f"there is no file for {', '.join(sorted(alone))}", place("media"))
    return beside


def stand_in(segment: SegmentDraft) -> None:
    """Give a segment without a source text, but with a file, what metrics read as its source."""
    if not segment.source.strip() and "media" in segment.beside:
        segment.source = segment.beside.get("transcript", NOT_TEXT)
        segment.beside["is_source"] = True


def source_kinds(test_set: TestSet) -> set[str]:
    """Return what its sources are: `audio`, `video`, `image`, and nothing for texts (one query)."""
    rows = test_set.segments.values_list("beside__is_source", "beside__kind").distinct()
    return {kind if is_source else "" for is_source, kind in rows}


def attach(
    segments: Sequence[SegmentDraft], files: Iterable[InputFile], report: Report, place: Where
) -> None:
    """Keep the files that segments name, and put what they are in place of the names.

    `place(i, "media")` says where segment i names its file. What is wrong goes to the report.
    """
    sent = gather(files, report)
    named = {i: each.beside["media"] for i, each in enumerate(segments) if "media" in each.beside}
    if named:
        forget_unused()
    seen: dict[str, Kept | None] = {}
    used: set[str] = set()
    for i, name in named.items():
        if name not in seen:
            seen[name] = _kept(name, sent, used, report, place(i, "media"))
        if kept := seen[name]:
            _put(segments[i].beside, kept, report, place, i)
    if unused := sorted(set(sent.files) - used):
        report.warn(f"files that no segment names are left out: {join_truncated(unused)}")


def _put(beside: dict[str, Any], kept: Kept, report: Report, place: Where, i: int) -> None:
    if kept.format.kind == "image" and {"start", "end"} & set(beside):
        report.error("a picture has no start and end", place(i, "media_start"))
    del beside["media"]
    beside |= {"file": kept.sha256, "kind": kept.format.kind, "type": kept.format.content_type}


def _kept(name: str, sent: SentFiles, used: set[str], report: Report, place: Place) -> Kept | None:
    found = sent.find(name)
    hashed = HASHED.fullmatch(name)
    if len(found) > 1:
        report.error(f"“{name}” may be any of {join_truncated(found)}: give the whole path", place)
    elif not found and hashed and (kept := recall(hashed[1])):
        return kept
    elif not found:
        report.error(f"there is no file “{name}” among those that were sent", place)
    else:
        used.add(found[0])
        try:
            return keep(sent.files[found[0]])
        except (RefusedFileError, *FAULTS) as error:
            report.error(f"“{name}” is not taken: {error}", place)
    return None


def written_beside(beside: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `read_beside` reads; a file goes by the hash of its content."""
    values = {name: beside[name] for name in TEXTS if name in beside}
    times = {column: beside[key] for column, key in TIMES.items() if key in beside}
    return ({"media": beside["file"]} if "file" in beside else {}) | times | values
