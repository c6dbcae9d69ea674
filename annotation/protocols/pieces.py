"""Texts with errors marked in them, cut into pieces that a page draws."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from annotation.protocols.base import TARGET, Span, SpanScheme


@dataclass(frozen=True)
class Piece:
    """A stretch of a text: `classes` are empty where nothing is marked, `words` say what is."""

    text: str
    classes: str = ""
    words: str = ""


def cut(
    scheme: SpanScheme | None, text: str, spans: Iterable[Span], side: str = TARGET
) -> tuple[Piece, ...]:
    """Return the pieces of a text with the errors marked in it; special tokens stand behind it."""
    if scheme is None:
        return (Piece(text),)
    own = [span for span in spans if span.side == side]
    found = list(_pieces(scheme, text, own))
    for number, token in enumerate(scheme.tokens if side == TARGET else ()):
        there = [span for span in own if span.start == len(text) + number]
        if there:
            found += [Piece(" "), _piece(scheme, token, there)]
    return tuple(found)


def _pieces(scheme: SpanScheme, text: str, spans: Sequence[Span]) -> Iterator[Piece]:
    ends = {0, len(text)} | {end for span in spans for end in (span.start, span.end)}
    for start, end in pairwise(sorted(place for place in ends if place <= len(text))):
        over = [span for span in spans if span.start <= start and end <= span.end]
        yield _piece(scheme, text[start:end], over)


def _piece(scheme: SpanScheme, text: str, spans: Sequence[Span]) -> Piece:
    if not spans:
        return Piece(text)
    worst = max(spans, key=scheme.weight)
    many = " mark-many" if len(spans) > 1 else ""
    said = "; ".join(" ".join(filter(None, (each.severity, each.category))) for each in spans)
    return Piece(text, f"mark mark-{scheme.level(worst.severity)}{many}", said)
