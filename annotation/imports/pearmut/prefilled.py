"""Errors that a campaign of Pearmut marks beforehand, as suggestions here.

Offsets count UTF-16 units of the text as given, line breaks among them as from 1.1.5 on; what
begins behind the text is a special token. Pearmut's own ends name the last unit; lists that were
made elsewhere often name the place behind it, so whoever imports says which, or the words do.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.imports.pearmut.findings import Findings
from annotation.imports.published.mqm_names import our_category
from annotation.protocols import Protocol, Span
from annotation.protocols.base import SOURCE, TARGET
from metaeval.spans.ends import EndsAtWords, ends_at_words

INCLUDED, EXCLUDED = "included", "excluded"
INSTEAD = {"critical": "major"}
LEFT_OUT = (
    "errors marked beforehand, of a severity that is not known here or where there is no text"
)
ASK = (
    "say whether the ends of errors marked beforehand name their last character ({included:,} of "
    "{n:,} then end with a word) or the place behind it ({excluded:,})"
)


@dataclass(frozen=True)
class Raw:
    """The errors marked in one output, as they stand."""

    spans: Sequence[Mapping[str, Any]]
    text: str
    source: str


def read_raw(
    findings: Findings, value: Mapping[str, Any], path: str, targets: Mapping[str, str]
) -> dict[str, Raw]:
    """Return the errors marked beforehand by model; what is no list of them is reported."""
    given = value.get("error_spans")
    path = f"{path}.error_spans"
    if given is None or given == []:
        return {}
    if isinstance(given, list) and len(given) == len(targets):
        given = dict(zip(targets, given, strict=True))
    if not findings.is_a(path, given, "an object"):
        return {}
    found = {}
    for model, spans in given.items():
        inner = f"{path}.{model}"
        if model not in targets:
            findings.error(inner, "there is no output of this name")
        elif findings.is_a(inner, spans, "a list"):
            own = [each for each in spans if _is_span(findings, each, inner)]
            found[model] = Raw(own, targets[model], str(value.get("src", "")))
    return found


def _is_span(findings: Findings, value: Any, path: str) -> bool:
    if not findings.is_a(path, value, "an object"):
        return False
    ends = [value.get("start_i"), value.get("end_i")]
    if all(type(end) is int and end >= 0 for end in ends) and ends[0] <= ends[1]:
        return True
    findings.error(path, f"start_i and end_i are whole numbers in order, not {ends[0]}, {ends[1]}")
    return False


def are_included(findings: Findings, raws: Iterable[Raw], said: str) -> bool:
    """Return whether ends name the last unit: as was said, else as the words say."""
    told = _told(raws)
    if said or not told.n:
        return said != EXCLUDED
    counts = {"included": told.included, "excluded": told.excluded, "n": told.n}
    if told.are_included is None:
        findings.error("error_spans", ASK.format(**counts))
    else:
        read = "the last character" if told.are_included else "the place behind the last character"
        findings.report.warn(
            f"ends of errors marked beforehand are read as {read}: {told.included:,} of {told.n:,} "
            f"end with a word if they name the last character, {told.excluded:,} if the place "
            "behind it"
        )
    return bool(told.are_included)


def _told(raws: Iterable[Raw]) -> EndsAtWords:
    """What words say of ends; in places of UTF-16, which are those of most texts."""
    return ends_at_words(
        (raw.text, each["end_i"])
        for raw in raws
        for each in raw.spans
        if each["start_i"] < len(_units(raw.text))
    )


def read_spans(
    findings: Findings, raw: Raw, protocol: Protocol, *, ends_included: bool
) -> tuple[Span, ...]:
    """Return suggestions as a protocol takes them; what it cannot show is counted."""
    found = [_span(each, raw, protocol, ends_included) for each in raw.spans]
    kept = [span for span in found if span is not None]
    if len(kept) < len(found):
        findings.left_out[LEFT_OUT] += len(found) - len(kept)
    return tuple(dict.fromkeys(kept))


def _span(
    value: Mapping[str, Any], raw: Raw, protocol: Protocol, ends_included: bool
) -> Span | None:
    scheme = protocol.spans
    if scheme is None:
        return None
    given = str(value.get("severity") or "")
    severity = _known(scheme.severity_keys, given, given.lower(), INSTEAD.get(given.lower(), ""))
    if not severity:
        return None
    given = str(value.get("category") or "")
    category = _known(scheme.category_keys, given, our_category(given))
    units = _units(raw.text)
    start, end = value["start_i"], value["end_i"] + ends_included
    if start < len(units):
        last = units[min(max(end, start + 1), len(units)) - 1]
        return Span(TARGET, units[start], last + 1, severity, category)
    token = start - len(units)
    if token < len(scheme.tokens):
        place = len(raw.text) + token
        return Span(TARGET, place, place + 1, severity, category)
    if token == 0 and SOURCE in scheme.sides and raw.source:
        return Span(SOURCE, 0, len(raw.source), severity, category)
    return None


def _known(keys: Container[str], *names: str) -> str:
    """The first of some names that the campaign has."""
    return next((name for name in names if name in keys), "")


def _units(text: str) -> list[int]:
    """The code point that each UTF-16 unit belongs to."""
    return [index for index, sign in enumerate(text) for _ in range(1 + (ord(sign) > 0xFFFF))]
