"""Read the entries of a Pearmut log: lines of JSON, or a download `{campaign_id: [entry]}`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from annotation.imports.jsonfiles import ESCAPES, parse, unstorable
from annotation.imports.judgments.spans import RawSpan
from annotation.uploads import InputFile, Report
from annotation.uploads.checks import character
from annotation.uploads.files import read_text
from extensions.formats.pearmut.findings import Findings
from extensions.formats.pearmut.offsets import marked_in
from metaeval.files.decoding import split_lines
from metaeval.messages import message, truncated

# Longer pauses do not count as work (Pearmut 1.1.5; 60 seconds before).
LONGEST_GAP = 61.0
# Unix seconds from 1970 to 2096; other numbers are not times.
LAST_TIME = 4e9
Entry = Mapping[str, Any]


def logs_of(name: str, logs: Sequence[InputFile], *, is_alone: bool) -> Sequence[InputFile]:
    """Return the logs of a campaign: all of them, or those that are called as it is.

    Of several campaigns with one log, this is a download of all of them.
    """
    called = [log for log in logs if PurePath(log.name).stem == name]
    return called or (logs if is_alone or len(logs) == 1 else ())


def read_entries(
    files: Sequence[InputFile], findings: Findings, name: str, *, is_alone: bool = True
) -> list[tuple[Entry, str]]:
    """Return the entries with their paths: those of the campaign in downloads, or all lines.

    Lines do not name their campaign, so `is_alone` must be True for them, or the file has the name
    of the campaign.
    """
    before = len(findings.report.errors)
    objects: list[tuple[Entry, str]] = []
    for file in files:
        is_known = is_alone or PurePath(file.name).stem == name
        prefix = f"{file.name}, " if len(files) > 1 else ""
        objects += _entries_of(file, findings, name, prefix, is_known=is_known)
    return [] if len(findings.report.errors) > before else objects


def _entries_of(
    file: InputFile, findings: Findings, name: str, prefix: str, *, is_known: bool
) -> list[tuple[Entry, str]]:
    text = read_text(file, findings.report)
    if text is None:
        return []
    found: list[tuple[Any, str]] = []
    try:
        found = list(_entries(parse(text), findings, name))
    except (ValueError, RecursionError):
        found = list(_lines(split_lines(text), findings, prefix))
    findings.report.saw(file.name, format="JSON", rows=len(found))
    if not is_known and (found and not found[0][1].startswith(f"{name}[")):
        findings.error(
            "",
            message(
                "pearmut.log-of-several",
                "The lines of a log do not name their campaign. Send a download instead, or a log "
                "with the name of its campaign.",
            ),
        )
    found = [(each, f"{prefix}{path.removeprefix(prefix)}") for each, path in found]
    for each, start in found if ESCAPES.search(text) else ():
        for path, sign in unstorable(each, start):
            findings.error(
                path,
                message(
                    "pearmut.character",
                    "The text contains {character}, which is not allowed.",
                    character=character(sign),
                ),
            )
    return [(each, path) for each, path in found if findings.is_a(path, each, dict)]


def _entries(whole: Any, findings: Findings, name: str) -> Iterator[tuple[Any, str]]:
    if not isinstance(whole, dict) or "annotation" in whole:
        yield whole, "line 1"
        return
    if name not in whole:
        findings.error(
            "",
            message(
                "pearmut.log-of-other",
                "This log belongs to {campaigns}, not to “{name}”.",
                campaigns=truncated([each[:80] for each in whole]),
                name=name,
            ),
        )
    yield from findings.entries(name, whole.get(name, []))


def _lines(lines: Sequence[str], findings: Findings, prefix: str) -> Iterator[tuple[Any, str]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield parse(line), f"line {number}"
        except (ValueError, RecursionError):
            findings.error(
                f"{prefix}line {number}", message("pearmut.not-json", "The line is not valid JSON.")
            )


def shown_errors(entries: Sequence[tuple[Entry, str]]) -> list[RawSpan]:
    """Return the errors marked in all readable entries; `LogReader` reports the others."""
    unheard = Findings("", Report())
    return [
        raw
        for entry, _ in entries
        if isinstance(entry.get("annotation"), list) and isinstance(entry.get("item"), list)
        for answers, item in zip(entry["annotation"], entry["item"], strict=False)
        if isinstance(answers, dict) and isinstance(item, dict)
        for targets in [item.get("tgt")]
        if isinstance(targets, dict)
        for model, answer in answers.items()
        if model in targets and isinstance(answer, dict)
        for raw in marked_in(unheard, answer.get("error_spans") or [], "", str(targets[model]), "")
    ]


@dataclass(frozen=True)
class Times:
    """When an entry was answered: begin, end, and the milliseconds at work per answer."""

    started_at: datetime | None = None
    submitted_at: datetime | None = None
    active_ms: int | None = None


def times_of(actions: Any, n_answers: int) -> Times:
    """Return the times of an entry; pauses count up to LONGEST_GAP seconds."""
    moments = sorted(
        float(each["time"])
        for each in (actions if isinstance(actions, list) else [])
        if isinstance(each, dict)
        and type(each.get("time")) in (int, float)
        and 0 < each["time"] < LAST_TIME
    )
    if not moments or not n_answers:
        return Times()
    gaps = (later - sooner for sooner, later in pairwise(moments))
    seconds = sum(min(gap, LONGEST_GAP) for gap in gaps)
    begin, end = (datetime.fromtimestamp(each, UTC) for each in (moments[0], moments[-1]))
    active = round(seconds * 1000 / n_answers)
    return Times(begin, end, active)
