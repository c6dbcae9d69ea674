"""Find out what an offset of Pearmut counts, and whether an end is the last unit or the next one.

Up to 1.1.4 line breaks were not counted, and files do not have a version. The mark of an omission
shows it: its index is the length of the text, with or without line breaks. Ends that Pearmut writes
name the last unit; lists that were made elsewhere often name the position after it.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.imports.jsonfiles import Findings, ends_are_included, no_output
from annotation.protocols import Protocol, Span
from annotation.protocols.base import SOURCE, TARGET
from annotation.protocols.published import our_category
from annotation.uploads.normalising import normalise
from annotation.uploads.offsets import PEARMUT, Convention, other_words
from metaeval.messages import message, plural
from metaeval.spans.span_table import EndsAtWords

UNCOUNTED = "uncounted"


@dataclass(frozen=True)
class Raw:
    """The errors marked in one output, with the offsets and texts of the file."""

    spans: Sequence[Mapping[str, Any]]
    text: str
    source: str


@dataclass(frozen=True)
class Stated:
    """What the importing person states about offsets; empty values are inferred from the file."""

    ends: str = ""
    breaks: str = ""


NEW, OLD = PEARMUT, replace(PEARMUT, uncounted="\n")


def are_included(
    findings: Findings, raws: Iterable[Raw], stated: str, convention: Convention
) -> bool:
    """Return whether ends name the last unit: as stated, or as the words suggest."""

    def count() -> EndsAtWords:
        return convention.count_ends(
            (raw.text, span["end_i"])
            for raw in raws
            for span in raw.spans
            if span["start_i"] < len(convention.positions(raw.text))
        )

    return ends_are_included(count, stated, findings.report, findings.place("error_spans"))


def are_counted(findings: Findings, raws: Sequence[Raw], stated: str, n_tokens: int) -> bool:
    """Return whether line breaks count: as stated, or as marks of omissions show."""
    late = [(raw, span) for raw in raws for span in raw.spans if _is_behind_break(raw.text, span)]
    if stated or not late:
        return stated != UNCOUNTED
    votes = [_vote(raw.text, span, n_tokens) for raw, span in late]
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


def _is_behind_break(text: str, span: Mapping[str, Any]) -> bool:
    """Return True if a span depends on whether line breaks count."""
    first = text.find("\n")
    return first >= 0 and span["end_i"] >= len(NEW.positions(text[:first]))


def _vote(text: str, span: Mapping[str, Any], n_tokens: int) -> str:
    """Return what one span shows: “counted”, “uncounted”, or nothing if both are possible."""
    counted, uncounted = len(NEW.positions(text)), len(OLD.positions(text))
    is_one, index = span["start_i"] == span["end_i"], span["start_i"]
    can_be_old = is_one and 0 <= index - uncounted < n_tokens
    can_be_new = is_one and 0 <= index - counted < n_tokens
    if can_be_old != can_be_new:
        return UNCOUNTED if can_be_old else "counted"
    return "counted" if not can_be_old and span["start_i"] >= uncounted else ""


# Convert errors marked in a Pearmut campaign or log to our spans. Offsets count UTF-16 units of
# the original text (:mod:`.offsets`); an offset after the text is a special token.

INSTEAD = {"critical": "major"}
SKIPPED = plural(
    "pearmut.skipped-spans",
    "{n} error marked beforehand is skipped: its severity is unknown, or there is no text at its "
    "position.",
    "{n} errors marked beforehand are skipped: their severity is unknown, or there is no text at "
    "their position.",
    n=1,
)


def read_raw(
    findings: Findings, value: Mapping[str, Any], path: str, targets: Mapping[str, str]
) -> dict[str, Raw]:
    """Return the errors marked beforehand by model, and report invalid values."""
    given = value.get("error_spans")
    path = f"{path}.error_spans"
    if given is None or given == []:
        return {}
    if isinstance(given, list) and len(given) == len(targets):
        given = dict(zip(targets, given, strict=True))
    if not findings.is_a(path, given, dict):
        return {}
    found = {}
    for model, spans in given.items():
        inner = f"{path}.{model}"
        if model not in targets:
            findings.error(inner, no_output(model))
        elif findings.is_a(inner, spans, list):
            own = [each for each in spans if is_span(findings, each, inner)]
            found[model] = Raw(own, targets[model], str(value.get("src", "")))
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
    findings: Findings, raw: Raw, protocol: Protocol, convention: Convention = NEW
) -> tuple[Span, ...]:
    """Return the spans that a protocol can show, and count the others."""
    converted = [_span(findings, each, raw, protocol, convention) for each in raw.spans]
    spans = [span for span in converted if span is not None]
    if len(spans) < len(converted):
        findings.counts[SKIPPED] += len(converted) - len(spans)
    return tuple(dict.fromkeys(spans))


def _span(
    findings: Findings,
    value: Mapping[str, Any],
    raw: Raw,
    protocol: Protocol,
    convention: Convention,
) -> Span | None:
    scheme = protocol.spans
    if scheme is None:
        return None
    severity = known_severity(scheme.severity_keys, value.get("severity"))
    if not severity:
        return None
    given = str(value.get("category") or "")
    category = _known(scheme.category_keys, given, our_category(given))
    start, end = value["start_i"], value["end_i"]
    text = normalise(raw.text).text
    if at := convention.stored(raw.text, start, end):
        if differs := other_words(value.get("text"), text[slice(*at)]):
            findings.error("error_spans", differs)
        return Span(TARGET, *at, severity, category)
    token = start - len(convention.positions(raw.text))
    if token < len(scheme.tokens):
        place = len(text) + token
        return Span(TARGET, place, place + 1, severity, category)
    if token == 0 and SOURCE in scheme.sides and raw.source:
        return Span(SOURCE, 0, len(normalise(raw.source).text), severity, category)
    return None


def known_severity(keys: Container[str], given: Any) -> str:
    """Return the campaign's name of a severity, or nothing."""
    name = str(given or "")
    return _known(keys, name, name.lower(), INSTEAD.get(name.lower(), ""))


def _known(keys: Container[str], *names: str) -> str:
    """Return the first name that the campaign has, or nothing."""
    return next((name for name in names if name in keys), "")
