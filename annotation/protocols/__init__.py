"""A protocol as data: what a screen shows, and which answers are asked. The presets by name.

A campaign puts its own segments, systems and answers in the place of a preset's (`composed`).
"""

from annotation.protocols import direct, edited, marked, mqm
from annotation.protocols.base import Protocol, Span, SpanScheme
from annotation.protocols.grid import Layout

PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        direct.SEGMENTS,
        direct.DOCUMENTS,
        direct.SIDE_BY_SIDE,
        marked.ONE,
        marked.CONTRASTIVE,
        mqm.ONE,
        mqm.SIDE_BY_SIDE,
        direct.TWO_SCALES,
        edited.POST_EDITING,
    )
}
DEFAULT = direct.SEGMENTS.name
CHOICES = [(name, protocol.label) for name, protocol in PROTOCOLS.items()]

__all__ = ["CHOICES", "DEFAULT", "PROTOCOLS", "Layout", "Protocol", "Span", "SpanScheme", "get"]


def get(name: str) -> Protocol:
    """Return a preset; raises KeyError for an unknown name."""
    return PROTOCOLS[name]
