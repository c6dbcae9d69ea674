"""Show two systems or two metrics, with the texts on which they differ most."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from django.http import HttpRequest

from annotation.filters import FilterError
from annotation.filters.systems import require_system
from annotation.models import Campaign, Output
from dashboards.comparisons.selection import no_scores
from dashboards.pages.page import Page
from dashboards.pairs.document import (
    FIRST,
    OUTPUT_PAIRS,
    SECOND,
    SEGMENTS,
    Difference,
    Pair,
    Part,
    answer,
    ends,
    outcomes,
    percent,
    ties_note,
)
from dashboards.pairs.two_metrics import MetricsPair
from dashboards.pairs.two_systems import HUMAN, SystemsPair, with_all
from dashboards.papers import latex
from dashboards.trust import marks
from metaeval.messages import Message, message
from metrics.scores import measure_keys

# Find the words (or characters, where a script has no spaces) in which two texts differ.

# Scripts written without spaces: each of their characters is one unit.
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "YI ")
JOINERS = "\u200c\u200d"
# Characters within a word, as in “don’t” and “e-mail”.
INNER = "'’-"


@dataclass(frozen=True)
class Piece:
    """A piece of a text; `is_other` where the other text does not have it."""

    text: str
    is_other: bool


def difference(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts in pieces; joined, the pieces are the texts."""
    left, right = list(units(first)), list(units(second))
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    ours, theirs = [], []
    for tag, i, j, k, m in matcher.get_opcodes():
        ours.append(Piece("".join(left[i:j]), tag != "equal"))
        theirs.append(Piece("".join(right[k:m]), tag != "equal"))
    return _without_empty(ours), _without_empty(theirs)


def _without_empty(pieces: Sequence[Piece]) -> list[Piece]:
    return [piece for piece in pieces if piece.text]


def units(text: str) -> Iterator[str]:
    """Yield words, characters of scripts without spaces, and single signs and spaces.

    A combining mark stays with its character.
    """
    word = ""
    for cluster in clusters(text):
        joins = _is_letter(cluster[0]) or (bool(word) and cluster in INNER)
        if joins:
            word += cluster
            continue
        if word:
            yield word
        word = ""
        yield cluster
    if word:
        yield word


def clusters(text: str) -> Iterator[str]:
    """Yield characters with their combining marks."""
    found = ""
    for character in text:
        is_mark = unicodedata.category(character).startswith("M") or character in JOINERS
        if found and not (is_mark or found[-1] == JOINERS[1]):
            yield found
            found = ""
        found += character
    if found:
        yield found


@lru_cache(maxsize=4096)
def _is_letter(character: str) -> bool:
    """Return whether a character is a letter or digit of a script with spaces."""
    if unicodedata.category(character)[0] not in "LN":
        return False
    return not unicodedata.name(character, "").startswith(UNSPACED)


# The most characters of texts on the page, which has 100 KiB.
MOST_CHARACTERS = 12_000
TIES = message("pair.ties", "tie")
COLUMNS = (
    *("side", "segment", "document", "system", "first", "second", "gap", "human"),
    *("output", "other"),
)


@dataclass(frozen=True)
class Bar:
    """One part of the bar of wins, ties and losses; position and width are in percent."""

    name: str
    label: Message | str
    x: float
    width: float
    share: str
    ends: str
    count: int


@dataclass(frozen=True)
class Texts:
    """The texts of one difference, in pieces that are shared or differ."""

    row: Difference
    source: str
    reference: str
    first: Sequence[Piece]
    second: Sequence[Piece]
    is_open: bool

    @property
    def is_same(self) -> bool:
        """Whether both texts are the same."""
        return not any(piece.is_other for piece in (*self.first, *self.second))


def context_of_systems(request: HttpRequest, campaign: Campaign, document: Pair) -> dict[str, Any]:
    """Return the bar, and the outputs of both systems."""
    return _context(campaign, document, SEGMENTS)


def context_of_metrics(request: HttpRequest, campaign: Campaign, document: Pair) -> dict[str, Any]:
    """Return the bar, and outputs with their references."""
    return _context(campaign, document, OUTPUT_PAIRS)


def _context(campaign: Campaign, document: Pair, over: str) -> dict[str, Any]:
    texts, left = _texts(campaign, document.rows)
    reason = marks.forbidden(document.trust) if document.is_of_humans else None
    labels = {FIRST: document.first, SECOND: document.second}
    return {
        "answer": answer(document, over, reason),
        "are_metrics": over == OUTPUT_PAIRS,
        "total": outcomes(over, document.n),
        "ties_note": ties_note(document, over),
        "bars": _bars(document),
        "lead_ends": ends(document.lead) if document.lead else "",
        "difference_ends": ends(document.difference, is_share=False) if document.difference else "",
        "sides": [
            (labels[side], [each for each in texts if each.row.side == side],
             [row for row in left if row.side == side])
            for side in (FIRST, SECOND)
            if labels[side] is not None
        ],
    }  # fmt: skip


def _bars(document: Pair) -> list[Bar]:
    if document.first is None or document.second is None:
        return []
    parts: list[tuple[str, Message | str, Part | None]] = [
        ("wins", document.first.label, document.wins),
        ("ties", TIES, document.ties),
        ("losses", document.second.label, document.losses),
    ]
    bars, x = [], 0.0
    for name, label, part in parts:
        if part is None or part.share is None:
            return []
        width = 100 * part.share
        bars.append(Bar(name, label, x, width, percent(part), ends(part), part.count))
        x += width
    return bars


def _texts(campaign: Campaign, rows: Sequence[Difference]) -> tuple[list[Texts], list[Difference]]:
    """Return the rows with their texts, alternating between sides, and the rows without room.

    The first row of each side is open.
    """
    wanted = {pk for row in rows for pk in (row.output, row.other) if pk is not None}
    found = Output.objects.select_related("segment").in_bulk(wanted)
    references = _references(campaign, found)
    texts, left, room = [], [], MOST_CHARACTERS
    for place, row in sorted(_places(rows), key=lambda pair: pair[0]):
        shown = _text(row, found, references, is_open=place == 0)
        room -= 2 * sum(map(len, (shown.source, shown.reference)))
        room -= 2 * sum(len(piece.text) for side in (shown.first, shown.second) for piece in side)
        if room > 0 or place == 0:
            texts.append(shown)
        else:
            left.append(row)
    return texts, left


def _places(rows: Sequence[Difference]) -> list[tuple[int, Difference]]:
    """Return every row with its position on its side."""
    sides = [[row for row in rows if row.side == side] for side in (FIRST, SECOND)]
    return [(place, row) for own in sides for place, row in enumerate(own)]


def _references(campaign: Campaign, outputs: Mapping[int, Output]) -> dict[int, str]:
    """Return the first reference of every segment."""
    segments = {output.segment_id for output in outputs.values()}
    rows = campaign.test_set.segments.filter(pk__in=segments).order_by("-references__name")
    return dict(rows.values_list("pk", "references__text"))


def _text(
    row: Difference, outputs: Mapping[int, Output], references: Mapping[int, str], *, is_open: bool
) -> Texts:
    output = outputs[row.output]
    reference = references.get(output.segment_id) or ""
    if row.other is None:
        first, second = difference(output.text, reference)
    else:
        first, second = difference(output.text, outputs[row.other].text)
    return Texts(row, output.segment.source, reference, first, second, is_open)


def verify_systems(campaign: Campaign, filters: SystemsPair) -> None:
    """Raise FilterError for a system or a measure that a campaign does not have."""
    for name in (FIRST, SECOND):
        require_system(campaign, with_all(filters), name, getattr(filters, name))
    if filters.first and filters.first == filters.second:
        raise FilterError(
            message(
                "pair.same-system",
                "Choose two different systems. Both are “{system}” now.",
                system=filters.first,
            )
        )
    if filters.by not in (HUMAN, *measure_keys(campaign.test_set)):
        raise FilterError(no_scores("by", filters.by))


def verify_metrics(campaign: Campaign, filters: MetricsPair) -> None:
    """Raise FilterError for a measure that has no scores here."""
    known = measure_keys(campaign.test_set)
    for name in (FIRST, SECOND):
        value = getattr(filters, name)
        if value and value not in known:
            raise FilterError(no_scores(name, value))
    if filters.first and filters.first == filters.second:
        raise FilterError(
            message(
                "pair.same-metric",
                "Choose two different metrics. Both are “{metric}” now.",
                metric=filters.first,
            )
        )


def tables(document: Pair) -> list[latex.Table]:
    """Shares with their intervals, and the largest differences."""
    if document.first is None or document.second is None:
        return []
    names = (document.first.label, document.second.label)
    shares = [
        latex.texts(bar.label, bar.count, f"{bar.share} {bar.ends}") for bar in _bars(document)
    ]
    heads = latex.texts("Ahead", "Count", "Share and 95% interval")
    caption = f"{names[0]} against {names[1]} by {document.by}, {document.name}."
    rows = [
        [*latex.texts(row.segment, row.document, row.system),
         *(latex.number(value) for value in (row.first, row.second, row.gap))]
        for row in document.rows
    ]  # fmt: skip
    most = latex.texts("Segment", "Document", "System", *names, "Difference")
    label = f"{document.campaign}-pair"
    return [
        latex.Table(caption, label, "lrr", [heads], shares),
        latex.Table(f"Where they differ most. {caption}", f"{label}-most", "lllrrr", [most], rows),
    ]


SYSTEMS_PAIR: Page[Pair] = Page(
    name="systems-pair",
    title=message("page.two-systems", "Two systems"),
    kind="systems-pair",
    template="dashboards/pair.html",
    columns=COLUMNS,
    context=context_of_systems,
    tables=tables,
    verify=verify_systems,
    without=("humans", "outliers"),
)
METRICS_PAIR: Page[Pair] = Page(
    name="metrics-pair",
    title=message("page.two-metrics", "Two metrics"),
    kind="metrics-pair",
    template="dashboards/pair.html",
    columns=COLUMNS,
    context=context_of_metrics,
    tables=tables,
    verify=verify_metrics,
)
