"""What a protocol is: data about a way of judging, from which pages, forms and scores follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cached_property

from django.utils.functional import Promise

TARGET, SOURCE = "target", "source"


class Layout(StrEnum):
    """What one screen shows: a grid of segments (one, or a document) × systems (one, several).

    SINGLE: one item. DOCUMENT: the segments of one document by one system, in order, then the
    document as a whole; each is submitted on its own. TOGETHER: outputs of several systems for
    one segment, submitted as one. GRID: a document with the outputs of several systems as columns,
    alike in all its rows, submitted as one.
    """

    SINGLE = "single"
    DOCUMENT = "document"
    TOGETHER = "together"
    GRID = "grid"

    @property
    def has_documents(self) -> bool:
        """Whether a screen shows all segments of a document."""
        return self in (Layout.DOCUMENT, Layout.GRID)

    @property
    def has_systems(self) -> bool:
        """Whether a screen shows several systems, whose answers are submitted as one."""
        return self in (Layout.TOGETHER, Layout.GRID)


@dataclass(frozen=True)
class Anchor:
    """What scores from `low` upwards mean, up to the next anchor."""

    low: int
    label: str | Promise


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
    output, such as `[missing]`: they stand behind it as one more code point each, so that token
    number i of an output of length n is marked as [n + i, n + i + 1).
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
    """A way of judging.

    `has_score`: the annotator gives 0–100; otherwise the score is minus the penalty of the
    spans. `question` and, for outputs of a required length, `length_question` are stored in
    English and translated where they are shown; {percent} stands for the length. `anchors` say
    what scores mean, from the lowest; a score below `errorless_from` without any marked error is
    doubted, never refused. `template` draws the answer part of an item and `script` is the
    JavaScript module that makes it work.
    """

    name: str
    label: str | Promise
    description: str | Promise
    question: str
    length_question: str
    layout: Layout = Layout.SINGLE
    has_score: bool = True
    spans: SpanScheme | None = None
    anchors: Sequence[Anchor] = ()
    errorless_from: int = 0

    def ask(self, ratio: Decimal) -> str:
        """Return the question for outputs of this length ratio."""
        return self.question if ratio == 1 else self.length_question

    @property
    def is_standardised(self) -> bool:
        """Whether scores are standardised per annotator unless a reader asks for raw ones.

        Penalties are not: most are 0, so that an annotator's mean and spread say which outputs
        they were given rather than how strict they are.
        """
        return self.has_score

    @property
    def template(self) -> str:
        """The template of the answer part."""
        return f"annotation/protocols/{self.name.replace('-', '_')}.html"

    @property
    def script(self) -> str:
        """The JavaScript module, below `static/`."""
        return f"js/protocols/{self.name}.js"
