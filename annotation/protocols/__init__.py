"""The protocols by name. A new one is a module here, a template and a JavaScript module."""

from importlib import import_module

from annotation.protocols.base import Layout, Protocol, Span, SpanScheme

PROTOCOLS = {
    "segment-da": "annotation.protocols.segment_da",
    "document-da": "annotation.protocols.document_da",
    "side-by-side": "annotation.protocols.side_by_side",
    "esa": "annotation.protocols.esa",
    "contrastive-esa": "annotation.protocols.contrastive_esa",
    "mqm": "annotation.protocols.mqm",
}
DEFAULT = "segment-da"

__all__ = ["DEFAULT", "PROTOCOLS", "Layout", "Protocol", "Span", "SpanScheme", "get"]


def get(name: str) -> Protocol:
    """Return a protocol; raises KeyError for an unknown name."""
    protocol: Protocol = import_module(PROTOCOLS[name]).PROTOCOL
    return protocol
