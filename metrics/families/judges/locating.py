"""Where a quoted error stands: models copy text, they do not count characters."""

import unicodedata
from collections.abc import Sequence

from metrics.error_spans import TARGET, FoundSpan
from metrics.families.judges.reading import Error


def place(errors: Sequence[Error], source: str, output: str) -> list[FoundSpan]:
    """Return the errors as spans, in the order given; one that is not found is kept without place.

    A quote is looked for as it stands, then by NFC and case. Where it occurs several times the
    context decides, then the first place that no earlier error has taken (as GemSpanEval, Juraska
    et al. 2025).
    """
    taken: set[tuple[bool, int]] = set()
    return [_place(error, source, output, taken) for error in errors]


def _place(error: Error, source: str, output: str, taken: set[tuple[bool, int]]) -> FoundSpan:
    is_target = error.side == TARGET
    text = output if is_target else source
    found = _find(text, error.span.strip(), error.context.strip())
    free = [each for each in found if (is_target, each[0]) not in taken] or found
    if not free:
        return FoundSpan(error.side, 0, 0, error.severity, error.category)
    start, end = free[0]
    taken.add((is_target, start))
    return FoundSpan(error.side, start, end, error.severity, error.category)


def _find(text: str, quote: str, context: str) -> list[tuple[int, int]]:
    if not quote:
        return []
    found = _exact(text, quote, context)
    if found:
        return found
    folded, places = fold(text)
    found = _exact(folded, fold(quote)[0], fold(context)[0])
    return [(places[start][0], places[end - 1][1]) for start, end in found]


def _exact(text: str, quote: str, context: str) -> list[tuple[int, int]]:
    """All occurrences; those inside the context first."""
    found, at = [], text.find(quote) if quote else -1
    while at >= 0:
        found.append((at, at + len(quote)))
        at = text.find(quote, at + 1)
    window = text.find(context) if context and quote in context else -1
    if window < 0:
        return found
    stop = window + len(context)
    return sorted(found, key=lambda each: not (window <= each[0] and each[1] <= stop))


def fold(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text by NFC and case, and for each of its characters [start, end) in the text."""
    folded: list[str] = []
    places: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        part = unicodedata.normalize("NFC", text[start:end]).casefold()
        folded.append(part)
        places += [(start, end)] * len(part)
        start = end
    return "".join(folded), places
