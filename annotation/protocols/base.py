"""What a protocol is: data about a way of judging, from which pages, forms and scores follow.

Besides the protocol: the layout of its screens, and texts cut into pieces where errors are marked.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from django.utils.functional import Promise

from annotation.protocols.questions import QUESTIONS, Asks

# What is asked of an output besides errors: scores on scales, a text, a choice.


class TextField(StrEnum):
    """Whether a text is asked for: none, one written from nothing, or the output post-edited."""

    NONE = ""
    EMPTY = "empty"
    PREFILLED = "prefilled"


@dataclass(frozen=True)
class Anchor:
    """A mark of a scale at `low`, and the words that stand there."""

    low: int
    label: str | Promise


@dataclass(frozen=True)
class Scale:
    """One score that is asked: `low`, `low + step`, … up to `high`, whole numbers.

    `key` is what is stored and exported; it is empty for the only scale of a protocol, whose
    question stands above it. `label` is what is shown of a scale whose words are translated.
    `anchors` say what values mean, from the lowest.
    """

    key: str = ""
    low: int = 0
    high: int = 100
    step: int = 1
    anchors: Sequence[Anchor] = ()
    label: str | Promise = ""

    @property
    def is_percent(self) -> bool:
        """Whether it is the usual one, from 0 to 100 by ones."""
        return (self.low, self.high, self.step) == (0, 100, 1)

    @property
    def name(self) -> str | Promise:
        """What is shown above it."""
        return self.label or self.key

    def holds(self, value: object) -> bool:
        """Return whether a value is a whole number on the scale."""
        return type(value) is int and value in range(self.low, self.high + 1, self.step)

    def at(self, share: float) -> float:
        """Return the place on the scale of a share: 0 is the lowest value, 1 the highest."""
        return self.low + share * (self.high - self.low)

    def range_at(self, low: float, high: float) -> tuple[int, int]:
        """Return the least and the greatest value between two shares, the ends included."""
        values = range(self.low, self.high + 1, self.step)
        found = [each for each in values if self.at(low) <= each <= self.at(high)]
        return (found[0], found[-1]) if found else (self.low, self.high)


@dataclass(frozen=True)
class Choice:
    """One of several words that is chosen, such as `yes` and `no`: stored as it is, no score."""

    key: str
    options: Sequence[str]


class Layout(StrEnum):
    """What one screen shows: a grid of segments (one, or a document) × systems (one, several).

    SINGLE: one item. DOCUMENT: the segments of one document by one system, in order, then the
    document as a whole where scores are asked. TOGETHER: outputs of several systems for one
    segment. GRID: a document with the outputs of several systems as columns, alike in all its
    rows. What a screen shows is submitted as one.
    """

    SINGLE = "single"
    DOCUMENT = "document"
    TOGETHER = "together"
    GRID = "grid"

    @classmethod
    def of(cls, *, has_documents: bool, has_systems: bool) -> "Layout":
        """Return the grid of these segments and systems."""
        if has_documents:
            return cls.GRID if has_systems else cls.DOCUMENT
        return cls.TOGETHER if has_systems else cls.SINGLE

    @property
    def has_documents(self) -> bool:
        """Whether a screen shows all segments of a document."""
        return self in (Layout.DOCUMENT, Layout.GRID)

    @property
    def has_systems(self) -> bool:
        """Whether a screen shows several systems."""
        return self in (Layout.TOGETHER, Layout.GRID)

    @property
    def has_several(self) -> bool:
        """Whether a screen shows several items, whose answers are submitted as one."""
        return self != Layout.SINGLE


TARGET, SOURCE = "target", "source"
# Severities as metrics and published data name them, from the lightest.
CRITICAL = "critical"
LEVELS = ("neutral", "minor", "major", CRITICAL)


@dataclass(frozen=True)
class Category:
    """A kind of error. `key` joins the path with slashes: `accuracy/omission`."""

    key: str
    label: str | Promise
    children: Sequence["Category"] = ()


@dataclass(frozen=True)
class Severity:
    """How bad an error is; `weight` is the penalty of a span where no category says otherwise."""

    key: str
    label: str | Promise
    weight: float


@dataclass(frozen=True)
class Span:
    """A marked stretch of a text: [start, end) in Unicode code points of the text as stored.

    `side` is TARGET or SOURCE. A span of length 0 is not allowed; an error that has no place in
    a text, such as an omission, is marked in the source. `category` is empty where the protocol
    has none.
    """

    side: str
    start: int
    end: int
    severity: str
    category: str = ""


@dataclass(frozen=True)
class SpanScheme:
    """Which spans a protocol takes.

    `weights` gives penalties by (category, severity) that differ from the severity's own; a
    category's weight holds for its children too. `tokens` are errors that have no place in the
    output, such as `[missing]`: each follows the output as one more code point, so that token i
    of an output of length n is marked as [n + i, n + i + 1).
    """

    severities: Sequence[Severity]
    categories: Sequence[Category] = ()
    sides: Sequence[str] = (TARGET,)
    weights: Mapping[tuple[str, str], float] | None = None
    tokens: Sequence[str] = ()

    @cached_property
    def severity_keys(self) -> frozenset[str]:
        """All severities by key."""
        return frozenset(severity.key for severity in self.severities)

    @cached_property
    def category_keys(self) -> frozenset[str]:
        """The categories that may be chosen: those without children."""
        return frozenset(_leaves(self.categories))

    def weight(self, span: Span) -> float:
        """Return the penalty of one span, at least 0."""
        path = span.category.split("/")
        for depth in range(len(path), 0, -1):
            found = (self.weights or {}).get(("/".join(path[:depth]), span.severity))
            if found is not None:
                return found
        return next(each.weight for each in self.severities if each.key == span.severity)

    def level(self, severity: str) -> str:
        """Return the usual severity that one of the campaign's own comes nearest to.

        By its name, or else by its weight: without any it is neutral, the lightest of the others
        minor. Pages draw errors so, and spans of metrics are compared with them.
        """
        usual = severity.casefold()
        if usual in LEVELS:
            return usual
        weights = {each.key: each.weight for each in self.severities}
        least = min(filter(None, weights.values()), default=0.0)
        own = weights.get(severity, 0.0)
        return "neutral" if not own else "minor" if own <= least else "major"

    def quote(self, span: Span, text: str) -> str:
        """Return what a span marks in its text, or the name of the token that it marks."""
        token = span.start - len(text)
        if span.side == TARGET and 0 <= token < len(self.tokens):
            return self.tokens[token]
        return text[span.start : span.end]

    def penalty(self, spans: Sequence[Span]) -> float:
        """Return the sum of the weights, 0 for a translation without errors."""
        return sum(self.weight(span) for span in spans)


def _leaves(categories: Sequence[Category]) -> Sequence[str]:
    return [
        key
        for category in categories
        for key in (_leaves(category.children) if category.children else [category.key])
    ]


@dataclass(frozen=True)
class Protocol:
    """A way of judging: what a screen shows (`layout`), and which answers are asked of each output.

    `scales` are the scores that the annotator gives; the first is what controls and z-scores rest
    on unless a reader chooses another. Without any, the score is minus the penalty of the spans, or
    of the edits where there are none. `text` says whether the output is to be post-edited, and what
    the field holds at first, and `choices` are stored beside the score. `anchors` say what scores
    mean, from the lowest, and `length_anchors` where a length is required; a score below
    `errorless_from` without any marked error gets a warning, and is never refused. `template` draws
    the screen and `script` is its JavaScript module: one of each for every layout.
    """

    name: str
    label: str | Promise
    description: str | Promise
    layout: Layout = Layout.SINGLE
    scales: Sequence[Scale] = (Scale(),)
    spans: SpanScheme | None = None
    text: TextField = TextField.NONE
    choices: Sequence[Choice] = ()
    anchors: Sequence[Anchor] = ()
    length_anchors: Sequence[Anchor] = ()
    errorless_from: int = 0

    @property
    def has_score(self) -> bool:
        """Whether the annotator gives any score."""
        return bool(self.scales)

    @property
    def has_usual_score(self) -> bool:
        """Whether the score that controls rest on is one from 0 to 100."""
        return bool(self.scales) and self.scales[0].is_percent

    @property
    def is_silent(self) -> bool:
        """Whether an answer may hold nothing at all, as where there is no error to mark."""
        return bool(self.spans and not self.scales and not self.text and not self.choices)

    @property
    def rates_documents(self) -> bool:
        """Whether a screen ends with the rating of a document as a whole."""
        return self.layout == Layout.DOCUMENT and bool(self.scales)

    @property
    def of_document(self) -> "Protocol":
        """What is asked of a document as a whole: scores alone."""
        return replace(self, spans=None, text=TextField.NONE, choices=())

    @property
    def asks(self) -> Asks:
        """What there is to do first."""
        if self.spans:
            return Asks.MARKED_SCORE if self.scales else Asks.ERRORS
        if not self.scales:
            return Asks.EDIT
        return Asks.SCALES if len(self.scales) > 1 else Asks.SCORE

    @property
    def question(self) -> str:
        """The usual question at full length, in English."""
        return QUESTIONS[self.asks][self.layout.has_systems][0]

    @property
    def length_question(self) -> str:
        """The usual question where a length is required; {percent} stands for it."""
        return QUESTIONS[self.asks][self.layout.has_systems][1]

    def ask(self, ratio: Decimal) -> str:
        """Return the question for outputs of this length ratio."""
        return self.question if ratio == 1 else self.length_question

    def anchors_at(self, ratio: Decimal) -> Sequence[Anchor]:
        """Return what scores of outputs of this length ratio mean."""
        return self.anchors if ratio == 1 else self.length_anchors or self.anchors

    @property
    def is_standardised(self) -> bool:
        """Whether scores are standardised per annotator unless a reader asks for raw ones.

        Penalties are not: most are 0, so that an annotator's mean and spread say which outputs
        they were given rather than how strict they are.
        """
        return self.has_score

    @property
    def template(self) -> str:
        """The template of the screen, whose answer parts follow what is asked."""
        return f"annotation/protocols/{self.layout}.html"

    @property
    def script(self) -> str:
        """The JavaScript module, below `static/`."""
        return f"js/protocols/{self.layout}.js"


@dataclass(frozen=True)
class Piece:
    """A stretch of a text: `classes` are empty where nothing is marked, `words` say what is."""

    text: str
    classes: str = ""
    words: str = ""


def cut(
    scheme: SpanScheme | None, text: str, spans: Iterable[Span], side: str = TARGET
) -> tuple[Piece, ...]:
    """Return the pieces of a text with the errors marked in it; special tokens follow it."""
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
