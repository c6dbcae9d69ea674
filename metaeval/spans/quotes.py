"""Find the places of words that are quoted from a text without offsets."""

import unicodedata

Places = list[tuple[int, int]]


def find_quote(text: str, quote: str, context: str = "") -> Places:
    """Return all [start, end) at which a text has a quote, those inside the context first.

    A quote is searched exactly, and if that fails by NFC, case and blanks.

    Examples
    --------
    >>> find_quote("a\\r\\nb A B", "a b"), find_quote("no, no", "no", ", no")
    ([(0, 4), (5, 8)], [(4, 6), (0, 2)])
    """
    if found := _exact(text, quote, context):
        return found
    folded, places = _fold(text)
    found = _exact(folded, _fold(quote)[0], _fold(context)[0])
    return [(places[start][0], places[end - 1][1]) for start, end in found]


def _exact(text: str, quote: str, context: str) -> Places:
    found, at = [], text.find(quote) if quote else -1
    while at >= 0:
        found.append((at, at + len(quote)))
        at = text.find(quote, at + 1)
    window = text.find(context) if context and quote in context else -1
    if window < 0:
        return found
    stop = window + len(context)
    return sorted(found, key=lambda each: not (window <= each[0] and each[1] <= stop))


def _fold(text: str) -> tuple[str, Places]:
    """Return a text by NFC, case and blanks, and the place of each of its characters."""
    folded: list[str] = []
    places: Places = []
    start = 0
    while start < len(text):
        end = start + 1
        is_blank = text[start].isspace()
        while end < len(text) and (
            text[end].isspace() if is_blank else unicodedata.combining(text[end])
        ):
            end += 1
        part = " " if is_blank else unicodedata.normalize("NFC", text[start:end]).casefold()
        folded.append(part)
        places += [(start, end)] * len(part)
        start = end
    return "".join(folded), places
