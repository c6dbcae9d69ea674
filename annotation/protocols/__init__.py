"""A protocol as data: what a screen shows, and which answers are asked. The presets by name.

A campaign puts its own segments, systems and answers in the place of a preset's (`composed`).
"""

from annotation.protocols import published
from annotation.protocols.base import Layout, Protocol, Span, SpanScheme

PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        published.SEGMENT_DA,
        published.DOCUMENT_DA,
        published.SIDE_BY_SIDE,
        published.ESA,
        published.CONTRASTIVE_ESA,
        published.MQM,
        published.SIDE_BY_SIDE_MQM,
        published.TWO_SCALES,
        published.POST_EDITING,
    )
}
DEFAULT = published.SEGMENT_DA.name
CHOICES = [(name, protocol.label) for name, protocol in PROTOCOLS.items()]

__all__ = ["CHOICES", "DEFAULT", "PROTOCOLS", "Layout", "Protocol", "Span", "SpanScheme", "get"]


def get(name: str) -> Protocol:
    """Return a preset; raises KeyError for an unknown name."""
    return PROTOCOLS[name]
