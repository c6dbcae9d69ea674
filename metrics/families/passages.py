"""Score segments in their documents: windows, aligned passages, or the segments before a segment.

Imports neither Django nor torch. The families that offer :data:`OPTIONS` score the texts that are
built here, as they score those of segments.

``windows`` (SLIDE, Raunak et al. 2024): ``window`` segments, joined by blanks, are one text. The
next window begins ``stride`` segments later, until one reaches the end of the document; the last
may be shorter. ``whole`` is one window over the document, which the model truncates at its limit.
The score of a segment is the mean of the windows that contain it. That of a document or a system is
the mean of its windows: each adds equal shares of its score and of its count to its segments.

``aligned`` is for outputs that move sentences between segments (the idea of SEGALE, Wang et al.
2025, whose alignment of vectors and whose penalties are not used): all sentences of a system's
document are aligned with those of the references, or of the sources without them
(:mod:`.sentences`), and the passages between cuts that fall on ends of segments are scored as
windows are. A segment without an output of its own is in one passage with its neighbours.

``context`` (Vernikos et al. 2022, COMET's ``--enable-context``): ``context`` segments before it,
joined by the separator of the model, are read with a segment, and the vector of a text is the mean
over the tokens of the segment itself.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from metaeval.messages import Message, message
from metrics.base import (
    SEGMENTS,
    TRUNCATE,
    Metric,
    MetricError,
    MetricInfo,
    OptionValue,
    Scores,
    SegmentInput,
)
from metrics.families.long_texts import OPTION as LONG_TEXTS
from metrics.families.long_texts import Around
from metrics.families.sentences import align, split
from metrics.options import Option, OptionError

WINDOWS, WHOLE, ALIGNED, CONTEXT = "windows", "whole", "aligned", "context"
OF_OUTPUT, OF_REFERENCE = "output", "reference"
# The statistic that counts windows; those before it are the sums of the measures.
COUNT = "windows"
_CHOICE = Option(
    "documents",
    message("option.documents", "Documents"),
    "choice",
    SEGMENTS,
    choices=(SEGMENTS, WINDOWS, WHOLE, ALIGNED),
    help=message(
        "option.documents-help",
        "With segments, each segment is scored alone, and a document has the mean of its segments. "
        "With windows, several segments in a row are scored as one text (SLIDE). With whole, the "
        "document is one text. With aligned, sentences of the output are first aligned with the "
        "segments of the document, for systems that move text between segments.",
    ),
    is_rare=True,
)
_WINDOW = Option(
    "window",
    message("option.window", "Segments of a window"),
    "integer",
    6,
    minimum=2,
    is_rare=True,
)
_STRIDE = Option(
    "stride",
    message("option.stride", "Segments between the beginnings of two windows"),
    "integer",
    6,
    minimum=1,
    is_rare=True,
)
OPTIONS = (_CHOICE, _WINDOW, _STRIDE)
OPTIONS_WITH_CONTEXT = (
    replace(_CHOICE, choices=(*_CHOICE.choices, CONTEXT)),
    _WINDOW,
    _STRIDE,
    Option(
        "context",
        message("option.context", "Segments of context"),
        "integer",
        2,
        minimum=1,
        help=message(
            "option.context-help",
            "With documents set to context, the model reads this number of segments before "
            "(COMET's enable-context).",
        ),
        is_rare=True,
    ),
    Option(
        "context_of",
        message("option.context-of", "Context of an output"),
        "choice",
        OF_OUTPUT,
        choices=(OF_OUTPUT, OF_REFERENCE),
        help=message(
            "option.context-of-help",
            "The outputs before it, or their references, as in Vernikos et al. (2022).",
        ),
        is_rare=True,
    ),
)


def reading_of(info: MetricInfo) -> str:
    """Return how a metric reads documents: the value of the option ``documents``."""
    return str(dict(info.options).get(_CHOICE.name, SEGMENTS))


def described(info: MetricInfo) -> MetricInfo:
    """Add the statistics of windows to a description; raise OptionError for unsuitable options."""
    options, reading = dict(info.options), reading_of(info)
    if reading == WINDOWS and int(options["stride"]) > int(options["window"]):
        problem = message(
            "documents.gaps",
            "Enter at most {window}, the segments of a window; otherwise segments between two "
            "windows are not scored.",
            window=options["window"],
        )
        raise OptionError(problem, _STRIDE.name)
    if reading == CONTEXT and info.reads_long_texts:
        problem = message(
            "documents.context-in-parts",
            "Texts are not cut where context is read. Set this option to {choice}.",
            choice=TRUNCATE,
        )
        raise OptionError(problem, LONG_TEXTS.name)
    is_of_reference = options.get("context_of") == OF_REFERENCE
    if reading == CONTEXT and is_of_reference and not info.needs_reference:
        problem = message(
            "documents.context-of-reference",
            "The metric uses no reference. Set this option to {choice}.",
            choice=OF_OUTPUT,
        )
        raise OptionError(problem, "context_of")
    if reading == SEGMENTS:
        return info
    info = replace(info, notes=info.notes or _NOTES[reading](options))
    if reading == CONTEXT:
        return info
    return replace(info, statistics=(*(f"{key}-sum" for key in info.measures), COUNT))


_NOTES: dict[str, Callable[[Mapping[str, OptionValue]], Message]] = {
    WINDOWS: lambda options: message(
        "documents.windows",
        "Scores windows of {window} segments of a document as one text each. The next window "
        "begins {stride} segments later. A segment has the mean of its windows.",
        window=options["window"],
        stride=options["stride"],
    ),
    WHOLE: lambda options: message(
        "documents.whole",
        "Scores each document as one text. All segments of a document have its score.",
    ),
    ALIGNED: lambda options: message(
        "documents.aligned",
        "Aligns the sentences of a document with its segments by their lengths, and scores the "
        "aligned passages. A segment has the score of its passage.",
    ),
    CONTEXT: lambda options: message(
        "documents.context",
        "Reads up to {context} segments before a segment as context. The score is of the segment "
        "alone.",
        context=options["context"],
    ),
}


def of_segments(info: MetricInfo) -> MetricInfo:
    """Return the description of the scorer itself, which knows no windows."""
    return replace(info, statistics=()) if info.reads_documents else info


def corpus(summed: Scores) -> Scores:
    """Return the means (h, measures) over windows from (h, measures + 1) sums."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(summed[:, :-1] / summed[:, -1:])


def windows(n: int, window: int, stride: int) -> Iterator[range]:
    """Return the segments of each window over a document of ``n`` segments."""
    for start in range(0, n, stride):
        yield range(start, min(start + window, n))
        if start + window >= n:
            return


Passage = tuple[range, SegmentInput]


@dataclass(frozen=True)
class _Joined:
    """The texts that are scored, and for each input the (text, share) pairs that cover it."""

    texts: Sequence[SegmentInput]
    parts: Sequence[Sequence[tuple[int, float]]]


class InDocuments(Around):
    """Score inputs that name their document by the texts that a metric of segments then scores."""

    def __init__(self, metric: Metric, info: MetricInfo) -> None:
        super().__init__(metric)
        self.info = info
        self.options: Mapping[str, OptionValue] = dict(info.options)
        self.reading = reading_of(info)
        # Set by metrics that read context (extensions.neural.checkpoints.comet).
        self.separator = str(getattr(metric, "separator", ""))

    def signature(self) -> str:
        """Return the signature of the scorer, and how it reads documents."""
        fields: dict[str, Any] = {"documents": self.reading}
        if self.reading == WINDOWS:
            fields |= {key: self.options[key] for key in ("window", "stride")}
        if self.reading == ALIGNED:
            fields["aligned"] = "lengths"
        if self.reading == CONTEXT:
            fields |= {key: self.options[key] for key in ("context", "context_of")}
        else:
            fields["joined"] = "blank"
        own = "|".join(f"{key}:{value}" for key, value in fields.items())
        return f"{self.metric.signature()}|{own}"

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, measures), with sums and counts of windows after them."""
        joined = self._in_context(inputs) if self.reading == CONTEXT else self._in_windows(inputs)
        try:
            scores = self.metric.score(joined.texts)
        except MetricError as error:
            if error.index is not None:
                covering = [[text for text, _ in each] for each in joined.parts]
                error.index = next(i for i, each in enumerate(covering) if error.index in each)
            raise
        cut = getattr(self.metric, "truncated", None)
        if cut is not None:
            cut = frozenset(cut)
            parts = enumerate(joined.parts)
            cut = {row for row, each in parts if any(text in cut for text, _ in each)}
        self.truncated = cut
        if self.reading == CONTEXT:
            return scores
        rows = np.empty((len(inputs), self.info.width))
        for row, each in zip(rows, joined.parts, strict=True):
            own, shares = scores[[text for text, _ in each]], np.array([s for _, s in each])
            row[:] = [*own.mean(axis=0), *(shares @ own), shares.sum()]
        return rows

    def corpus(self, summed: Scores) -> Scores:
        """Return the means over windows."""
        return corpus(summed)

    def _in_windows(self, inputs: Sequence[SegmentInput]) -> _Joined:
        texts: dict[SegmentInput, int] = {}
        known: dict[int, list[Passage]] = {}
        parts = []
        for each in inputs:
            passages = known.get(id(each.document)) if each.document else None
            if passages is None:
                passages = known[id(each.document)] = self._passages(each.document or (each,))
            parts.append(
                [
                    (texts.setdefault(text, len(texts)), 1 / len(span))
                    for span, text in passages
                    if each.position in span
                ]
            )
        return _Joined(list(texts), parts)

    def _passages(self, document: Sequence[SegmentInput]) -> list[Passage]:
        """Return the texts that a document is scored as, and the segments that each covers."""
        if self.reading == ALIGNED:
            return _aligned(self.info, document)
        spans = [range(len(document))]
        if self.reading == WINDOWS:
            window, stride = int(self.options["window"]), int(self.options["stride"])
            spans = list(windows(len(document), window, stride))
        return [(span, _joined(document[span.start : span.stop])) for span in spans]

    def _in_context(self, inputs: Sequence[SegmentInput]) -> _Joined:
        return _Joined(
            [self._with_context(each) for each in inputs], [[(n, 1.0)] for n in range(len(inputs))]
        )

    def _with_context(self, each: SegmentInput) -> SegmentInput:
        first = max(0, each.position - int(self.options["context"]))
        before = each.document[first : each.position]
        is_of_reference = self.options["context_of"] == OF_REFERENCE

        def join(texts: Sequence[str]) -> str:
            return f" {self.separator} ".join(texts)

        outputs = [one.references[0] if is_of_reference else one.hypothesis for one in before]
        return SegmentInput(
            join([*(one.source for one in before), each.source]),
            join([*outputs, each.hypothesis]),
            tuple(
                join([*(one.references[n] for one in before), text])
                for n, text in enumerate(each.references)
            ),
        )


def _joined(segments: Sequence[SegmentInput]) -> SegmentInput:
    """Return some segments as one, each text joined by blanks, as SLIDE does."""
    return SegmentInput(
        " ".join(each.source for each in segments),
        " ".join(each.hypothesis for each in segments),
        tuple(map(" ".join, zip(*(each.references for each in segments), strict=True))),
    )


def _aligned(info: MetricInfo, document: Sequence[SegmentInput]) -> list[Passage]:
    """Return the passages of a document between the cuts that end segments of the other side."""
    outputs = [each.hypothesis[a:b] for each in document for a, b in split(each.hypothesis)]
    lengths, ends = list[int](), dict[int, int]()
    for number, each in enumerate(document, 1):
        other = each.references[0] if info.needs_reference else each.source
        lengths += [b - a for a, b in split(other)]
        # Empty segments belong with those before them.
        ends[len(lengths)] = number
    pairs = {other: own for own, other in align(list(map(len, outputs)), lengths)}
    cuts = [(ends[n], pairs[n]) for n in ends if n in pairs]
    # Without any sentence on one side the document is one passage.
    cuts = cuts or [(len(document), len(outputs))]
    passages = []
    for (first, start), (last, end) in pairwise([(0, 0), *cuts]):
        text = replace(_joined(document[first:last]), hypothesis=" ".join(outputs[start:end]))
        passages.append((range(first, last), text))
    return passages
