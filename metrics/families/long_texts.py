"""Score a text that is longer than the limit of a model in parts, and average over them.

Imports neither Django nor torch. ``truncate`` leaves the rest of a text unread. With ``sentences``,
an output whose texts are too long is cut into sentences, each with the sentences of source and
references that :mod:`.sentences` aligns with it. With ``halves``, it is cut in the middle, between
aligned sentences. A part that is still too long is cut in halves, between words where no sentence
ends in it, until the model reads all of it. The value is the mean over the parts. Shorter texts are
scored as before.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.messages import message
from metrics.base import TRUNCATE, Metric, MetricError, MetricInfo, Scores, SegmentInput
from metrics.error_spans import FindsSpans, FoundSpan, Spans
from metrics.families import sentences
from metrics.options import Option
from metrics.truncation import read

SENTENCES, HALVES = "sentences", "halves"
OPTION = Option(
    "long_texts",
    message("option.long-texts", "Texts beyond the limit"),
    "choice",
    TRUNCATE,
    choices=(TRUNCATE, SENTENCES, HALVES),
    help=message(
        "option.long-texts-help",
        "What is done where a text is longer than the model reads. With truncate, the rest is not "
        "read. With sentences or halves, source, output and reference are cut at aligned sentences "
        "into parts, and the score is the mean over the parts.",
    ),
    is_rare=True,
)
# Increase it with every change that alters a value.
REVISION = 1
Cut = tuple[int, ...]


class Around:
    """A metric that scores with another one: what logs of runs ask for is that of the other."""

    info: MetricInfo

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.truncated: Collection[int] | None = None

    @property
    def device(self) -> str:
        """Return the device of the scorer."""
        return str(getattr(self.metric, "device", "cpu"))

    @property
    def precision(self) -> str:
        """Return the precision of the scorer."""
        return str(getattr(self.metric, "precision", ""))

    @property
    def budget(self) -> int | None:
        """Return the padded tokens of a batch."""
        return getattr(self.metric, "budget", None)


@dataclass(frozen=True)
class _Part:
    """A part of an input, and where it begins in the output."""

    row: int
    text: SegmentInput
    start: int = 0


class InParts(Around):
    """Score inputs beyond the limit of a metric in parts; ``truncated`` are all that it cuts."""

    def __init__(self, metric: Metric) -> None:
        super().__init__(metric)
        self.info = metric.info
        self.treatment = str(metric.info.option(OPTION.name))

    def signature(self) -> str:
        """Return the signature of the scorer, and what is done with long texts."""
        own = f"long-texts:{self.treatment}|aligned:lengths|parts-revision:{REVISION}"
        return f"{self.metric.signature()}|{own}"

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, measures)."""
        return self.score_with_spans(inputs)[0]

    def score_with_spans(
        self, inputs: Sequence[SegmentInput]
    ) -> tuple[Scores, Sequence[Spans] | None]:
        """Return (n, measures), and the spans of each input if the scorer marks any."""
        parts = [_Part(row, each) for row, each in enumerate(inputs)]
        values: list[list[Scores]] = [[] for _ in inputs]
        marked: list[list[FoundSpan]] | None = [[] for _ in inputs]
        self.truncated = None
        cut = sentences_of if self.treatment == SENTENCES else halves_of
        while parts:
            scores, spans = self._score(parts)
            too_long = frozenset(getattr(self.metric, "truncated", None) or ())
            if self.truncated is None:
                self.truncated = too_long
            waiting = []
            for number, part in enumerate(parts):
                smaller = cut(self.info, part) if number in too_long else []
                if len(smaller) > 1:
                    waiting += smaller
                    continue
                values[part.row].append(scores[number])
                if spans is None:
                    marked = None
                elif marked is not None:
                    # Models mark outputs only.
                    marked[part.row] += [
                        replace(each, start=each.start + part.start, end=each.end + part.start)
                        for each in spans[number]
                    ]
            parts, cut = waiting, halves_of
        rows = np.array([np.mean(each, axis=0) for each in values])
        in_order = marked and [sorted(each, key=lambda span: span.start) for each in marked]
        return rows.reshape(len(inputs), self.info.width), in_order

    def _score(self, parts: Sequence[_Part]) -> tuple[Scores, Sequence[Spans] | None]:
        texts = [each.text for each in parts]
        try:
            if isinstance(self.metric, FindsSpans):
                return self.metric.score_with_spans(texts)
            return self.metric.score(texts), None
        except MetricError as error:
            if error.index is not None:
                error.index = parts[error.index].row
            raise

    def corpus(self, summed: Scores) -> Scores:
        """Return what the scorer returns."""
        return self.metric.corpus(summed)


def sentences_of(info: MetricInfo, part: _Part) -> list[_Part]:
    """Return an input cut at every sentence that is aligned on all sides, or else in halves."""
    cuts = _cuts(read(info, part.text))
    return _cut(info, part, cuts) if cuts else halves_of(info, part)


def halves_of(info: MetricInfo, part: _Part) -> list[_Part]:
    """Return an input cut once: at aligned sentences, or else each text at a blank in its middle.

    Of several cuts, the one nearest to the middle of the output is taken.
    """
    sides = read(info, part.text)
    middle = len(sides[0]) / 2
    if cuts := _cuts(sides):
        return _cut(info, part, [min(cuts, key=lambda cut: abs(cut[0] - middle))])
    if max(map(len, sides)) < 2:
        return [part]
    return _cut(info, part, [tuple(map(_middle, sides))])


def _middle(text: str) -> int:
    """Return the place of the blank nearest to the middle, or the middle of a text without any."""
    blanks = [place for place, letter in enumerate(text.strip(), 1) if letter.isspace()]
    return min(blanks, key=lambda place: abs(2 * place - len(text)), default=len(text) // 2)


def _cuts(sides: Sequence[str]) -> list[Cut]:
    """Return the places in all texts, the output first, where aligned sentences begin."""
    output, *others = [sentences.split(side) for side in sides]
    lengths = [end - start for start, end in output]
    found = {place: [start] for place, (start, _) in enumerate(output) if place}
    for other in others:
        pairs = dict(sentences.align(lengths, [end - start for start, end in other])[:-1])
        found = {
            place: [*starts, other[pairs[place]][0]]
            for place, starts in found.items()
            if place in pairs
        }
    return [tuple(starts) for starts in found.values()]


def _cut(info: MetricInfo, part: _Part, cuts: Sequence[Cut]) -> list[_Part]:
    """Cut the texts that a metric reads at some places; the others stay whole."""
    sides = read(info, part.text)
    ends = [*cuts, tuple(map(len, sides))]
    parts = []
    for begin, end in zip([(0,) * len(sides), *cuts], ends, strict=True):
        pieces = [side[a:b] for side, a, b in zip(sides, begin, end, strict=True)]
        output, *others = [piece.strip() for piece in pieces]
        blanks = len(pieces[0]) - len(pieces[0].lstrip())
        source = others.pop(0) if info.needs_source else part.text.source
        references = tuple(others) or part.text.references
        text = replace(part.text, source=source, hypothesis=output, references=references)
        parts.append(_Part(part.row, text, part.start + begin[0] + blanks))
    return parts
