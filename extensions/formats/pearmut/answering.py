"""Convert sliders, error taxonomies and text fields of Pearmut to a campaign's own answers.

Severities of Pearmut have no weights: known ones have those of MQM, and others that of a minor
error, with a warning.
"""

from collections.abc import Mapping
from typing import Any

from annotation import protocols
from annotation.protocols import composed
from extensions.formats.pearmut.findings import Findings
from metaeval.messages import message, plural, truncated

WEIGHTS = {"neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 10.0}
SLIDER = ("name", "min", "max", "step")
FREE = "input"
ANY = "Error"
FREE_CATEGORIES = plural(
    "pearmut.free-categories",
    "{n} field for categories that annotators type freely is not supported. It is kept in the "
    "stored file and exported again, but has no effect.",
    "{n} fields for categories that annotators type freely are not supported. They are kept in the "
    "stored file and exported again, but have no effect.",
    n=1,
)
DOCUMENT_POST_EDITS = plural(
    "pearmut.document-post-edits",
    "{n} field for post-editing of documents is not supported. It is kept in the stored file and "
    "exported again, but has no effect.",
    "{n} fields for post-editing of documents are not supported. They are kept in the stored file "
    "and exported again, but have no effect.",
    n=1,
)
# Our paths of the values in `info`.
PATHS = {"scales": "sliders", "spans.severities": "mqm_severities",
         "spans.categories": "mqm_categories", "text": "textfield"}  # fmt: skip


def read_answers(
    findings: Findings, values: Mapping[str, Any], protocol: str
) -> dict[str, Any] | None:
    """Return own answers; None if all are the protocol's, or if some are invalid and reported."""
    found: dict[str, Any] = {}
    if values.get("sliders") is not None:
        found["scales"] = _sliders(findings, values["sliders"])
    if spans := _spans(findings, values, protocol):
        found["spans"] = spans
    if _is_post_edit(findings, values, protocol):
        found["text"] = "prefilled"
    faults = composed.check(protocols.get(protocol), found) if found else ()
    for path, problem in faults:
        findings.error(_path(path), problem)
    return None if faults else found or None


def _path(path: str) -> str:
    for ours, theirs in PATHS.items():
        if path.startswith(ours):
            return f"info.{theirs}{path.removeprefix(ours)}"
    return f"info.{path}".rstrip(".")


def _sliders(findings: Findings, values: Any) -> list[dict[str, Any]]:
    return [
        {name: value[name] for name in SLIDER if name in value}
        for value, path in findings.entries("info.sliders", values)
        if findings.is_a(path, value, dict)
    ]


def _spans(findings: Findings, values: Mapping[str, Any], protocol: str) -> dict[str, Any]:
    given = [name for name in ("mqm_categories", "mqm_severities") if values.get(name) is not None]
    if protocol != "mqm":
        if given:
            findings.warn(
                "info",
                message(
                    "pearmut.only-mqm",
                    "These settings have no effect, because the protocol is not MQM: {settings}.",
                    settings=given,
                ),
            )
        return {}
    found: dict[str, Any] = {}
    if "mqm_severities" in given:
        found["severities"] = _severities(findings, values["mqm_severities"])
    if values.get("mqm_categories") == FREE:
        findings.counts[FREE_CATEGORIES] += 1
        found["categories"] = []
    elif "mqm_categories" in given:
        found["categories"] = _categories(findings, values["mqm_categories"])
    return found


def _severities(findings: Findings, values: Any) -> list[dict[str, Any]]:
    names = [name for name, _ in findings.entries("info.mqm_severities", values)]
    unknown = [str(name) for name in names if str(name).casefold() not in WEIGHTS]
    if unknown:
        findings.warn(
            "info.mqm_severities",
            plural(
                "pearmut.weights",
                "The weight of this severity is unknown and set to 1: {severities}.",
                "The weights of these severities are unknown and set to 1: {severities}.",
                n=len(unknown),
                severities=truncated([name[:80] for name in unknown]),
            ),
        )
    return [
        {"name": name, "weight": WEIGHTS.get(str(name).casefold(), 1.0)} for name in names or [ANY]
    ]


def _categories(findings: Findings, values: Any) -> list[dict[str, Any]]:
    if not findings.is_a("info.mqm_categories", values, dict):
        return []
    return [
        {
            "name": name,
            "children": [
                {"name": child}
                for child, _ in findings.entries(f"info.mqm_categories.{name}", children or [])
            ],
        }
        for name, children in values.items()
    ]


def _is_post_edit(findings: Findings, values: Mapping[str, Any], protocol: str) -> bool:
    """Return True if a text field begins with the output; an empty one is the comment here."""
    field = values.get("textfield")
    if field in (None, "hidden", "visible"):
        return False
    if field != "prefilled":
        findings.error(
            "info.textfield",
            message(
                "pearmut.textfield", "The value must be null, “hidden”, “visible” or “prefilled”."
            ),
        )
    elif protocols.get(protocol).layout.has_documents:
        findings.counts[DOCUMENT_POST_EDITS] += 1
        return False
    return True


def write_answers(protocol: protocols.Protocol) -> dict[str, Any]:
    """Return the values of `info` for a protocol's own answers."""
    found: dict[str, Any] = {}
    if protocol.text:
        found["textfield"] = "prefilled"
    scales = [scale for scale in protocol.scales if scale.key]
    if scales or not (protocol.scales or protocol.spans):
        found["sliders"] = [
            dict(zip(SLIDER, (each.key, each.low, each.high, each.step), strict=True))
            for each in scales
        ]
    return found | _write_spans(protocol)


def _write_spans(protocol: protocols.Protocol) -> dict[str, Any]:
    if protocol.spans in (None, protocols.get(protocol.name).spans) or protocol.name != "mqm":
        return {}
    return {
        "mqm_severities": [each.key for each in protocol.spans.severities],
        "mqm_categories": {
            str(each.label): [str(child.label) for child in each.children]
            for each in protocol.spans.categories
        },
    }
