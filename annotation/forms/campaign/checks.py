"""What a campaign's design must fulfil over its test set: each fault beside its field."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation import protocols
from annotation.campaigns.readiness import drawn_faults
from annotation.models import Campaign, TestSet
from annotation.protocols import composed
from annotation.protocols.base import SOURCE
from core.text import pluralize

Fault = tuple[str, str]


def check_design(test_set: TestSet, data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield (field, sentence) for everything that cannot be. Fields may be missing."""
    protocol = judging(data)
    if protocol:
        if protocol.layout.has_documents:
            yield from _documents(test_set, protocol)
        if protocol.layout.has_systems and len(data.get("systems") or []) == 1:
            yield "systems", f"{protocol.label} compares systems: choose at least two."
        n_systems = len(data.get("systems") or [])
        yield from drawn_faults(data, protocol.layout, n_systems=n_systems)
    yield from _shown_text(test_set, data)
    yield from _controls(test_set, data)
    yield from _test(data)


def _test(data: Mapping[str, Any]) -> Iterator[Fault]:
    n_asked = len(data.get("comprehension") or ())
    if n_asked and (data.get("pass_mark") or 0) > n_asked:
        yield (
            "pass_mark",
            f"The test has {pluralize(n_asked, 'question')}: ask for at most as many.",
        )


def judging(data: Mapping[str, Any]) -> protocols.Protocol | None:
    """Return the protocol of a design with its own answers, None where none is chosen."""
    name, own = data.get("protocol"), data.get("answers")
    if name not in protocols.PROTOCOLS:
        return None
    return composed.compose(protocols.get(name), own if isinstance(own, dict) else None)


def _documents(test_set: TestSet, protocol: protocols.Protocol) -> Iterator[Fault]:
    loose = test_set.segments.filter(document="").count()
    if loose:
        belong = pluralize(
            loose, "segment of the test set belongs", "segments of the test set belong"
        )
        yield "protocol", f"{protocol.label} needs documents, and {belong} to none."


def _shown_text(test_set: TestSet, data: Mapping[str, Any]) -> Iterator[Fault]:
    if data.get("shown_text") != Campaign.ShownText.REFERENCE:
        return
    protocol = judging(data)
    if protocol and protocol.spans and SOURCE in protocol.spans.sides:
        yield (
            "shown_text",
            f"{protocol.label} marks omissions in the source: show the source.",
        )
    unreferenced = test_set.segments.filter(references__isnull=True).count()
    if unreferenced:
        have = pluralize(
            unreferenced, "segment of the test set has", "segments of the test set have"
        )
        yield "shown_text", f"{have} no reference to show."


def _controls(test_set: TestSet, data: Mapping[str, Any]) -> Iterator[Fault]:
    if not data.get("references_per_annotator"):
        return
    if data.get("shown_text") == Campaign.ShownText.REFERENCE:
        yield (
            "references_per_annotator",
            "References cannot be rated where the reference is the gray text. Show the source, "
            "or ask for 0.",
        )
    elif not test_set.segments.filter(references__isnull=False).exists():
        yield "references_per_annotator", "The test set has no references: ask for 0."
