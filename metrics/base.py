"""Define what a metric is: description, input, protocol and errors.

Imports neither Django nor torch, so that the web process and workers read the same descriptions.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from metaeval.messages import Message, MessageError, message

Scores = NDArray[np.float64]
_LEXICAL = message("family.lexical", "Lexical metrics")
_SENTINELS = message("family.sentinels", "Sentinels")
# Names of families are text, and words of the interface are messages.
FAMILY_LABELS: dict[str, Message | str] = {
    "": _LEXICAL,
    "bertscore": "BERTScore",
    "comet": "COMET",
    "bleurt": "BLEURT",
    "likelihood": message("family.likelihood", "Likelihood"),
    "metricx": "MetricX",
    "sentinel": _SENTINELS,
    "moverscore": "MoverScore",
    "xmoverscore": "XMoverScore",
    "xbertscore": "XBERTScore",
    "refreeeval": "ReFreeEval",
    "refreeeval-head": "ReFreeEval",
    "sentsim": "SentSim",
    "yisi": "YiSi",
    "yisi-static": "YiSi",
    "yisi-0": "YiSi",
    "cosine": message("family.cosine", "Cosine"),
    "wmd": "Word mover's distance",
    "sentbleu-wmt": _LEXICAL,
    "lexical": _LEXICAL,
    "floor": message("family.baselines", "Baselines"),
    "trained-sentinel": _SENTINELS,
    "judge": message("family.judges", "Judges"),
    "imported": message("family.imported", "Imported scores"),
}
# The family of metrics whose scores were computed elsewhere: they are shown, and never run.
IMPORTED = "imported"
# What a metric reads besides the output, by whether it needs the source and a reference.
READS = {
    (False, False): message("reads.output", "output only"),
    (True, False): message("reads.source", "source"),
    (False, True): message("reads.reference", "reference"),
    (True, True): message("reads.source-and-reference", "source and reference"),
}
UNKNOWN_READS = message("reads.unknown", "unknown")
# How several references are read unless an option says otherwise, by family or, of metrics
# without one, by name. All others read them all at once, as BLEU does.
READINGS = {
    "comet": "first",
    "judge": "first",
    "sentinel": "first",
    "metricx": "first",
    "bleurt": "mean",
    "likelihood": "mean",
    **dict.fromkeys(("bertscore", "xbertscore", "moverscore", "cosine", "wmd"), "best"),
    **dict.fromkeys(("yisi", "yisi-static", "yisi-0"), "best"),
    **dict.fromkeys(("chrf", "chrf++", "rouge", "rouge-characters"), "best"),
}
READING_WORDS = {
    "first": message("references.first", "only the first by name is used"),
    "best": message("references.best", "each value is the best over all references"),
    "mean": message("references.mean", "each value is the mean over all references"),
    "all": message("references.all", "all references are used at once"),
}
OptionValue = str | int | float | bool
# The value of the option `documents` of metrics that score each segment alone, and of the option
# `long_texts` of metrics that leave text beyond their limit unread.
SEGMENTS, TRUNCATE = "segments", "truncate"


class MetricError(MessageError):
    """A metric cannot score.

    Attributes
    ----------
    permanent
        True where a retry cannot help (missing reference, missing package), False where it may
        (out of memory).
    index
        The position of the segment at fault among the given inputs; None where no single segment
        is at fault.
    """

    def __init__(self, message: Message, *, permanent: bool, index: int | None = None) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.index = index


class InputError(MetricError):
    """The texts or languages of a run are unsuitable: no host can load the metric for it."""

    def __init__(self, message: Message) -> None:
        super().__init__(message, permanent=True)


class EndpointError(MetricError):
    """The endpoint of a metric refused or did not answer; another host would fail as well."""


class UnfinishedError(MetricError):
    """Scoring ended before the last text, and the texts are not at fault.

    ``rows`` (n, width) holds the scores so far, nan elsewhere; ``spans`` holds the spans so far of
    a metric that finds any. The run fails if the error is permanent; otherwise the remaining texts
    are tried again later.
    """

    def __init__(
        self,
        message: Message,
        rows: "Scores",
        spans: "Sequence[Any] | None",
        *,
        permanent: bool,
    ) -> None:
        super().__init__(message, permanent=permanent)
        self.rows, self.spans = rows, spans


class MetricWarning(UserWarning):
    """Values are defined, but not by the usual computation.

    The parameter ``n`` of the message is the number of texts. A run adds it up over all of its
    texts and shows the message on its page.
    """

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class ScoreWarning:
    """What a reader of scores must know; ``code`` names its kind for programs."""

    code: str
    message: Message


@dataclass(frozen=True)
class MetricInfo:
    """Describe a metric.

    Attributes
    ----------
    name, label
        What addresses, files and commands call it; what tables and charts call it.
    measures, measure_labels
        The keys of the segment-level values in column order, unique over all metrics, and their
        labels.
    needs_source, needs_reference
        What it reads besides the output.
    statistics
        The sufficient statistics that are added over segments before :meth:`Metric.corpus`. If
        empty, the score of a system is the mean of its segments.
    description, notes
        What it computes, for lists; what readers of its own page should also know. Text is shown
        as it is, a message in the language of the page.
    shown
        The measures that tables show, where there are many more.
    leading
        The measure that stands for the metric in tables, where its others are folded into the same
        row; by default the first that tables show.
    variant_of, same_segments_as
        The metric in whose row of tables this one is folded: always, or only where a statistic is
        over segments, because the segments of both have the same scores.
    checkpoint
        The hub's name, or the directory, of the model that scores.
    family, options
        Those of a metric that an admin configured (:mod:`metrics.options`).
    depends_on_set
        True if the score of a segment depends on all references of its test set; the metric is
        an :class:`OnTestSet`.
    expects_raw_text
        True if it splits texts into words itself.
    compares_systems
        True if it compares the outputs of a segment; its signature names the systems of a run.
    """

    name: str
    label: str
    measures: tuple[str, ...]
    measure_labels: tuple[str, ...]
    needs_source: bool
    needs_reference: bool
    statistics: tuple[str, ...] = ()
    higher_is_better: bool = True
    queue: str = "cpu"
    description: Message | str = ""
    citation: str = ""
    shown: tuple[str, ...] = ()
    leading: str = ""
    variant_of: str = ""
    same_segments_as: str = ""
    checkpoint: str = ""
    family: str = ""
    depends_on_set: bool = False
    expects_raw_text: bool = False
    compares_systems: bool = False
    notes: Message | str = ""
    options: tuple[tuple[str, OptionValue], ...] = ()

    def __post_init__(self) -> None:
        if not set(self.shown) <= set(self.measures):
            raise ValueError(f"shown of {self.name!r} names an unknown measure")
        if self.leading and self.leading not in self.table_measures:
            raise ValueError(f"leading of {self.name!r} is not among the measures of tables")
        if len(self.measures) != len(self.measure_labels):
            raise ValueError(f"measure_labels of {self.name!r}: one label per measure is needed")

    def option(self, name: str) -> OptionValue:
        """Return an option of a configured metric; KeyError for an unknown name."""
        return dict(self.options)[name]

    @property
    def is_imported(self) -> bool:
        """Whether its scores were computed elsewhere, so that it cannot be run here."""
        return self.family == IMPORTED

    @property
    def reads_documents(self) -> bool:
        """Whether the score of a segment depends on its document (`metrics.families.passages`)."""
        return dict(self.options).get("documents", SEGMENTS) != SEGMENTS

    @property
    def reads_long_texts(self) -> bool:
        """Whether it scores texts beyond its limit in parts (`metrics.families.long_texts`)."""
        return dict(self.options).get("long_texts", TRUNCATE) != TRUNCATE

    @property
    def reads(self) -> Message:
        """The texts that it uses besides the output, as a message."""
        if self.is_imported:
            return UNKNOWN_READS
        return READS[self.needs_source, self.needs_reference]

    @property
    def references(self) -> str:
        """How several references are used: ``first``, ``best``, ``mean``, or ``all`` at once.

        Empty if it uses no reference.
        """
        if not self.needs_reference:
            return ""
        options = dict(self.options)
        chosen = str(options.get("references", "all"))
        own = options["metric"] if self.family == "lexical" else self.family or self.name
        return READINGS.get(str(own), "all") if chosen == "all" else chosen

    @property
    def reading(self) -> Message | None:
        """How several references are used, as a message; None if it uses no reference."""
        return READING_WORDS.get(self.references)

    @property
    def family_label(self) -> Message | str:
        """The heading under which lists show it."""
        return FAMILY_LABELS.get(self.family, self.family.capitalize())

    @property
    def table_measures(self) -> tuple[str, ...]:
        """The measures that tables show: all, unless some are chosen."""
        return self.shown or self.measures

    @property
    def leading_measure(self) -> str:
        """The measure that stands for the metric in tables."""
        return self.leading or self.table_measures[0]

    @property
    def width(self) -> int:
        """Number of columns that :meth:`Metric.score` returns."""
        return len(self.measures) + len(self.statistics)


def one_measure(name: str, label: str, **fields: Any) -> MetricInfo:
    """Describe a metric with one value per segment; the value has the name of the metric."""
    return MetricInfo(name, label, measures=(name,), measure_labels=(label,), **fields)


@dataclass(frozen=True)
class SegmentInput:
    """One output of one system: source, hypothesis and any number of references.

    Metrics that read documents also get the whole document of the same system, in its order, and
    the position in it. All segments of a document then have references of the same names.
    """

    source: str
    hypothesis: str
    references: tuple[str, ...]
    document: "tuple[SegmentInput, ...]" = field(default=(), compare=False, repr=False)
    position: int = field(default=0, compare=False)


class Metric(Protocol):
    """The interface of a scorer, which the registry loads."""

    info: MetricInfo

    def signature(self) -> str:
        """Return everything that changes a value, as ``name|key:value|…|version:…``."""
        ...

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return float64 (n, measures + statistics); raise :class:`MetricError` if not possible."""
        ...

    def corpus(self, summed: Scores) -> Scores:
        """Turn (h, statistics) sums into (h, measures) scores of h (hybrid) systems."""
        ...


@runtime_checkable
class ComparesSystems(Protocol):
    """A metric that compares the outputs of a segment with each other."""

    def compare(self, outputs: Iterable[tuple[str, tuple[str, ...], Sequence[str]]]) -> None:
        """Receive source, references and distinct outputs of each segment."""
        ...


@runtime_checkable
class OnTestSet(Protocol):
    """A metric that reads the references of a test set before anything else."""

    def fit(self, references: Iterable[tuple[str, ...]]) -> None:
        """Receive the references of every segment; afterwards the signature names them."""
        ...


class Telemetry(Protocol):
    """Optional information of a metric for the log of a run.

    Without ``device`` the log says ``cpu``. ``budget`` is the number of padded tokens of one
    forward pass, as of the last one; ``batch_size`` is the same in texts. ``peak_bytes`` is the
    largest memory of the device since the metric was created; without it torch is asked if the
    device is a CUDA device.
    """

    device: str
    precision: str
    budget: int
    batch_size: int

    def peak_bytes(self) -> int:
        """Return bytes."""
        ...


@runtime_checkable
class NamesMissing(Protocol):
    """A metric that knows why a text of the last call has no score: trying again would not help."""

    missing: Mapping[int, Message]


@dataclass(frozen=True)
class Scored:
    """The result for one text: its row (width,) and its spans, or why it has neither.

    ``is_truncated`` is True if a part of the texts was not read; None if that is unknown.
    """

    row: Scores
    spans: Sequence[Any] = ()
    problem: Message | None = None
    is_truncated: bool | None = None


class Feed(Protocol):
    """Texts that arrive while others are scored, numbered from 0 in order of arrival."""

    def more(self, n: int) -> Sequence[SegmentInput]:
        """Return about n further texts; none if no more come."""
        ...

    def done(self, scored: Mapping[int, Scored]) -> None:
        """Receive the results of texts by their numbers, in any order."""
        ...


@runtime_checkable
class ScoresAsTextsCome(Protocol):
    """A metric that starts further texts while it waits for results of others.

    ``stream_seconds`` is for how long it takes texts while other runs wait, ``first_slice`` how
    many texts it takes at first.
    """

    stream_seconds: float
    first_slice: int

    def score_from(self, feed: Feed) -> None:
        """Score all texts of a feed; raise :class:`UnfinishedError` if it ends early."""
        ...


@runtime_checkable
class HearsOfScores(Protocol):
    """A metric with a callback after scores of its run were stored.

    It is called from time to time during the run, at its end, and when scoring ended early.
    Exceptions are logged and change nothing.
    """

    def stored(self) -> None:
        """Process the scores so far."""
        ...


class MeanOfSegments:
    """The corpus side of a metric without sufficient statistics."""

    info: MetricInfo

    def corpus(self, summed: Scores) -> Scores:
        """Refuse: the system score is the mean of the segment scores."""
        raise MetricError(
            message(
                "metric.no-corpus-statistics",
                "{metric} has no corpus statistics: its system score is the mean of segments.",
                metric=self.info.label,
            ),
            permanent=True,
        )


def format_signature(name: str, fields: Mapping[str, str | int]) -> str:
    """Join a metric's name and its settings, in the given order, as sacrebleu does."""
    return "|".join([name, *(f"{key}:{value}" for key, value in fields.items())])


def check_inputs(info: MetricInfo, inputs: Sequence[SegmentInput]) -> None:
    """Raise a permanent :class:`MetricError` for the first segment that ``info`` cannot score."""
    for index, segment in enumerate(inputs):
        if info.needs_reference and not segment.references:
            raise MetricError(
                message(
                    "metric.segment-without-reference",
                    "{metric}: segment {number} of the batch has no reference.",
                    metric=info.label,
                    number=index,
                ),
                permanent=True,
                index=index,
            )
        texts = (segment.source, segment.hypothesis, *segment.references)
        try:
            "".join(texts).encode()
        except UnicodeEncodeError:
            raise MetricError(
                message(
                    "metric.lone-surrogate",
                    "{metric}: the {field} of segment {number} of the batch contains a lone "
                    "surrogate.",
                    metric=info.label,
                    field=next(
                        _name_of_text(position)
                        for position, text in enumerate(texts)
                        if re.search("[\ud800-\udfff]", text)
                    ),
                    number=index,
                ),
                permanent=True,
                index=index,
            ) from None


def _name_of_text(position: int) -> Message:
    if position == 0:
        return message("metric.field-source", "source")
    if position == 1:
        return message("metric.field-output", "output")
    return message("metric.field-reference", "reference {number}", number=position - 1)


def group_by_references(inputs: Sequence[SegmentInput]) -> dict[tuple[str, ...], list[int]]:
    """Map each set of references to the positions that use it, to prepare each set once."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, segment in enumerate(inputs):
        groups.setdefault(segment.references, []).append(index)
    return groups
