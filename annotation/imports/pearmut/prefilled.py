"""Convert errors marked in a Pearmut campaign or log to our spans.

Offsets count UTF-16 units of the original text (:mod:`.offsets`); an offset after the text is a
special token.
"""

from collections.abc import Container, Mapping
from typing import Any

from annotation.imports.pearmut.findings import Findings, no_output
from annotation.imports.pearmut.offsets import NEW, Convention, Raw
from annotation.imports.published.mqm_names import our_category
from annotation.protocols import Protocol, Span
from annotation.protocols.base import SOURCE, TARGET
from metaeval.messages import message, plural

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
    converted = [_span(each, raw, protocol, convention) for each in raw.spans]
    spans = [span for span in converted if span is not None]
    if len(spans) < len(converted):
        findings.counts[SKIPPED] += len(converted) - len(spans)
    return tuple(dict.fromkeys(spans))


def _span(
    value: Mapping[str, Any], raw: Raw, protocol: Protocol, convention: Convention
) -> Span | None:
    scheme = protocol.spans
    if scheme is None:
        return None
    severity = known_severity(scheme.severity_keys, value.get("severity"))
    if not severity:
        return None
    given = str(value.get("category") or "")
    category = _known(scheme.category_keys, given, our_category(given))
    units = convention.units(raw.text)
    start, end = value["start_i"], value["end_i"] + convention.ends_included
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


def known_severity(keys: Container[str], given: Any) -> str:
    """Return the campaign's name of a severity, or nothing."""
    name = str(given or "")
    return _known(keys, name, name.lower(), INSTEAD.get(name.lower(), ""))


def _known(keys: Container[str], *names: str) -> str:
    """Return the first name that the campaign has, or nothing."""
    return next((name for name in names if name in keys), "")
