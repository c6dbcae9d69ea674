"""Find out what an offset of Pearmut counts, and whether an end is the last unit or the next one.

Up to 1.1.4 line breaks were not counted, and files do not have a version. The mark of an omission
shows it: its index is the length of the text, with or without line breaks. Ends that Pearmut writes
name the last unit; lists that were made elsewhere often name the position after it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotation.imports.judgments.spans import RawSpan, SpanReader
from annotation.protocols import Span
from annotation.protocols.base import SOURCE, TARGET
from annotation.uploads.normalising import normalise
from annotation.uploads.offsets import PEARMUT, Convention
from extensions.formats.ends import ends_are_included
from extensions.formats.pearmut.findings import Findings, no_output
from metaeval.messages import message, plural

UNCOUNTED = "uncounted"


@dataclass(frozen=True)
class Stated:
    """What the importing person states about offsets; empty values are inferred from the file."""

    ends: str = ""
    breaks: str = ""


NEW, OLD = PEARMUT, replace(PEARMUT, uncounted="\n")


def are_included(
    findings: Findings, raws: Iterable[RawSpan], stated: str, convention: Convention
) -> bool:
    """Return whether ends name the last unit: as stated, or as the words suggest."""
    ends = (
        (raw.texts[TARGET], raw.values["end_i"])
        for raw in raws
        if raw.values["start_i"] < len(convention.positions(raw.texts[TARGET]))
    )
    place = findings.place("error_spans")
    return ends_are_included(lambda: convention.count_ends(ends), stated, findings.report, place)


def are_counted(findings: Findings, raws: Iterable[RawSpan], stated: str, n_tokens: int) -> bool:
    """Return whether line breaks count: as stated, or as marks of omissions show."""
    late = [raw for raw in raws if _is_behind_break(raw)]
    if stated or not late:
        return stated != UNCOUNTED
    votes = [_vote(raw, n_tokens) for raw in late]
    counted, uncounted = votes.count("counted"), votes.count(UNCOUNTED)
    if bool(counted) == bool(uncounted):
        findings.error(
            "error_spans",
            message(
                "pearmut.breaks-unclear",
                "State whether offsets count line breaks. {n} marked errors are after a line "
                "break, and marks of omissions do not decide it: {counted} are at the length of "
                "the text, and {uncounted} at its length without line breaks.",
                n=len(late),
                counted=counted,
                uncounted=uncounted,
            ),
        )
    elif uncounted:
        findings.warn(
            "error_spans",
            message(
                "pearmut.breaks-uncounted",
                "Offsets were read without counting line breaks, as in Pearmut up to 1.1.4, "
                "because the marks of omissions show it.",
            ),
        )
    return not uncounted


def _is_behind_break(raw: RawSpan) -> bool:
    """Return True if a span depends on whether line breaks count."""
    text = raw.texts[TARGET]
    first = text.find("\n")
    return bool(first >= 0 and raw.values["end_i"] >= len(NEW.positions(text[:first])))


def _vote(raw: RawSpan, n_tokens: int) -> str:
    """Return what one span shows: “counted”, “uncounted”, or nothing if both are possible."""
    text, index = raw.texts[TARGET], raw.values["start_i"]
    counted, uncounted = len(NEW.positions(text)), len(OLD.positions(text))
    is_one = index == raw.values["end_i"]
    can_be_old = is_one and 0 <= index - uncounted < n_tokens
    can_be_new = is_one and 0 <= index - counted < n_tokens
    if can_be_old != can_be_new:
        return UNCOUNTED if can_be_old else "counted"
    return "counted" if not can_be_old and index >= uncounted else ""


SKIPPED = plural(
    "pearmut.skipped-spans",
    "{n} error marked beforehand is skipped: its severity is unknown, or there is no text at its "
    "position.",
    "{n} errors marked beforehand are skipped: their severity is unknown, or there is no text at "
    "their position.",
    n=1,
)


def marked_in(findings: Findings, values: Any, path: str, text: str, source: str) -> list[RawSpan]:
    """Return the errors marked in one output with its texts, and report invalid ones."""
    texts = {TARGET: text, SOURCE: source}
    return [
        RawSpan(value, findings.place(inner), texts)
        for value, inner in findings.entries(path, values)
        if is_span(findings, value, inner)
    ]


def marked_beforehand(
    findings: Findings, value: Mapping[str, Any], path: str, targets: Mapping[str, str]
) -> dict[str, list[RawSpan]]:
    """Return the errors marked beforehand by model, and report invalid values."""
    given = value.get("error_spans")
    path = f"{path}.error_spans"
    if given is None or given == []:
        return {}
    if isinstance(given, list) and len(given) == len(targets):
        given = dict(zip(targets, given, strict=True))
    if not findings.is_a(path, given, dict):
        return {}
    source = str(value.get("src", ""))
    found = {}
    for model, spans in given.items():
        if model not in targets:
            findings.error(f"{path}.{model}", no_output(model))
        else:
            found[model] = marked_in(findings, spans, f"{path}.{model}", targets[model], source)
    return found


def is_span(findings: Findings, value: Any, path: str) -> bool:
    """Return True if a value has two offsets in order; otherwise report an error."""
    if not findings.is_a(path, value, dict):
        return False
    ends = [value.get("start_i"), value.get("end_i")]
    if all(type(end) is int and end >= 0 for end in ends) and ends[0] <= ends[1]:
        return True
    findings.error(
        path,
        message(
            "pearmut.offsets",
            "start_i and end_i must be whole numbers in order, not {start} and {end}.",
            start=str(ends[0])[:40],
            end=str(ends[1])[:40],
        ),
    )
    return False


def read_spans(
    reader: SpanReader, raws: Iterable[RawSpan], convention: Convention = NEW
) -> tuple[Span, ...]:
    """Return spans as they are stored, each once; `reader` counts those it cannot show."""
    spans = [
        span
        for raw in raws
        for texts in [{side: normalise(text).text for side, text in raw.texts.items()}]
        for span in reader.read([replace(raw, convention=convention)], texts[SOURCE], texts[TARGET])
    ]
    return tuple(dict.fromkeys(spans))
