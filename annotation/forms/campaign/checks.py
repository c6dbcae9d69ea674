"""Check a campaign's design against its test set; every fault belongs to a field."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation import protocols
from annotation.campaigns.layouts import NEEDS_SYSTEMS, needs_documents
from annotation.campaigns.readiness import drawn_faults, unreferenced
from annotation.models import Campaign, TestSet
from annotation.protocols import composed
from annotation.protocols.base import SOURCE
from metaeval.messages import Message, message, plural

Fault = tuple[str, Message]
REFERENCES_SHOWN = message(
    "design.references-shown",
    "References cannot be rated if outputs are compared with the reference. Show the source, or "
    "set this to 0.",
)
NO_REFERENCES = message("design.no-references", "The test set has no references. Set this to 0.")


def check_design(test_set: TestSet, data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield (field, message) for everything that is not possible. Fields may be missing."""
    protocol = judging(data)
    if protocol:
        if protocol.layout.has_documents and (n := test_set.segments.filter(document="").count()):
            yield "protocol", needs_documents(n)
        n_systems = len(data.get("systems") or [])
        if protocol.layout.has_systems and n_systems == 1:
            yield "systems", NEEDS_SYSTEMS
        yield from drawn_faults(data, protocol.layout, n_systems=n_systems)
    yield from _shown_text(test_set, data)
    yield from _controls(test_set, data)
    yield from _test(data)


def _test(data: Mapping[str, Any]) -> Iterator[Fault]:
    n = len(data.get("comprehension") or ())
    if n and (data.get("pass_mark") or 0) > n:
        yield (
            "pass_mark",
            plural(
                "design.pass-mark",
                "The test has {n} question, so at most {n} right answer can be required.",
                "The test has {n} questions, so at most {n} right answers can be required.",
                n=n,
            ),
        )


def judging(data: Mapping[str, Any]) -> protocols.Protocol | None:
    """Return the protocol of a design with its own answers; None if none is chosen."""
    name, own = data.get("protocol"), data.get("answers")
    if name not in protocols.PROTOCOLS:
        return None
    return composed.compose(protocols.get(name), own if isinstance(own, dict) else None)


def _shown_text(test_set: TestSet, data: Mapping[str, Any]) -> Iterator[Fault]:
    if data.get("shown_text") != Campaign.ShownText.REFERENCE:
        return
    protocol = judging(data)
    if protocol and protocol.spans and SOURCE in protocol.spans.sides:
        yield (
            "shown_text",
            message(
                "design.omissions",
                "This protocol marks omissions in the source. Show the source.",
            ),
        )
    if n := test_set.segments.filter(references__isnull=True).count():
        yield "shown_text", unreferenced(n)


def _controls(test_set: TestSet, data: Mapping[str, Any]) -> Iterator[Fault]:
    if not data.get("references_per_annotator"):
        return
    if data.get("shown_text") == Campaign.ShownText.REFERENCE:
        yield "references_per_annotator", REFERENCES_SHOWN
    elif not test_set.segments.filter(references__isnull=False).exists():
        yield "references_per_annotator", NO_REFERENCES
