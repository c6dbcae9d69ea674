"""What a metric is: its description, its input, its protocol and its errors.

Pure: neither Django nor torch, so that the web process and a worker read the same descriptions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from metaeval.messages import Message, MessageError, untranslated

Scores = NDArray[np.float64]
FAMILY_LABELS = {
    "": "Lexical metrics",
    "bertscore": "BERTScore",
    "comet": "COMET",
    "bleurt": "BLEURT",
    "likelihood": "Likelihood",
    "metricx": "MetricX",
    "sentinel": "Sentinels",
    "moverscore": "MoverScore",
    "xmoverscore": "XMoverScore",
    "xbertscore": "XBERTScore",
    "refreeeval": "ReFreeEval",
    "refreeeval-head": "ReFreeEval",
    "sentsim": "SentSim",
    "yisi": "YiSi",
    "yisi-static": "YiSi",
    "yisi-0": "YiSi",
    "cosine": "Cosine",
    "wmd": "Word mover's distance",
    "sentbleu-wmt": "Lexical metrics",
    "lexical": "Lexical metrics",
    "floor": "Floor",
    "trained-sentinel": "Sentinels",
    "judge": "Judges",
    "imported": "Imported scores",
}
# The family of metrics whose scores were computed elsewhere: they are shown, and never run.
IMPORTED = "imported"
# What a metric reads besides the output, by whether it needs the source and a reference.
READS = {
    (False, False): "output only",
    (True, False): "source",
    (False, True): "reference",
    (True, True): "source and reference",
}
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
    "first": "the first by name is read",
    "best": "the best counts, for each value",
    "mean": "the mean over all of them counts",
    "all": "all are read at once",
}
OptionValue = str | int | float | bool


class MetricError(MessageError):
    """A metric cannot score.

    ``permanent`` is true where a retry cannot help (missing reference, missing package), false
    where it may (out of memory). ``index`` is the position in the given inputs of the segment at
    fault, where one segment is.
    """

    def __init__(
        self, message: Message | str, *, permanent: bool, index: int | None = None
    ) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.index = index


class InputError(MetricError):
    """The texts or languages of a run are at fault, on whichever host the metric is loaded."""

    def __init__(self, message: Message | str) -> None:
        super().__init__(message, permanent=True)


class EndpointError(MetricError):
    """The endpoint that a metric asks refused, or did not answer: whichever host asks it."""


class UnfinishedError(MetricError):
    """Scoring ended before the last text, through no fault of the texts.

    ``rows`` (n, width) holds what there is, nan elsewhere, and ``spans`` the same of a metric that
    finds any. The run fails where the error is permanent; else the rest is tried again later.
    """

    def __init__(
        self,
        message: Message | str,
        rows: "Scores",
        spans: "Sequence[Any] | None",
        *,
        permanent: bool,
    ) -> None:
        super().__init__(message, permanent=permanent)
        self.rows, self.spans = rows, spans


class MetricWarning(UserWarning):
    """Values are defined, but not by the usual computation.

    ``about`` says how, with ``{n}`` where the number of texts stands; a run adds up ``n`` over its
    texts, and its page shows the sentence.
    """

    def __init__(self, about: str, n: int = 1) -> None:
        super().__init__(about.replace("{n}", f"{n:,}"))
        self.about, self.n = about, n


@dataclass(frozen=True)
class ScoreWarning:
    """What a reader of scores must know; ``code`` names its kind for programs."""

    code: str
    message: Message

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", untranslated(self.message))


@dataclass(frozen=True)
class MetricInfo:
    """One row of the registry.

    ``measures`` are the keys of the segment-level values in column order, unique over all metrics,
    and ``measure_labels`` their names for people. ``statistics`` name the sufficient statistics
    that are added over segments before :meth:`Metric.corpus`; where empty, a system's score is the
    mean of its segments. ``shown`` are the measures that tables show, where there are many more.
    Where a segment's score ``depends_on_set``, it hangs on all references of its test set, and the
    metric is an :class:`OnTestSet`. One that ``expects_raw_text`` cuts it into words itself.
    ``remarks`` are for its page alone, where ``description`` stands in lists.
    One that ``compares_systems`` judges an output beside the others of its segment: its signature
    names the systems of a run.
    ``checkpoint`` is the hub's name, or the directory, of the model that scores. ``family`` and
    ``options`` are those of a metric that an admin configured (:mod:`metrics.options`).
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
    description: str = ""
    citation: str = ""
    shown: tuple[str, ...] = ()
    checkpoint: str = ""
    family: str = ""
    depends_on_set: bool = False
    expects_raw_text: bool = False
    compares_systems: bool = False
    remarks: str = ""
    options: tuple[tuple[str, OptionValue], ...] = ()

    def __post_init__(self) -> None:
        if not set(self.shown) <= set(self.measures):
            raise ValueError(f"shown of {self.name!r} names an unknown measure")
        if len(self.measures) != len(self.measure_labels):
            raise ValueError(f"measure_labels of {self.name!r}: one label per measure is needed")

    def option(self, name: str) -> OptionValue:
        """Return an option of a configured metric; KeyError where it has none of that name."""
        return dict(self.options)[name]

    @property
    def is_imported(self) -> bool:
        """Whether its scores were computed elsewhere, so that it cannot be run here."""
        return self.family == IMPORTED

    @property
    def reads(self) -> str:
        """What it reads besides the output, in words."""
        if self.is_imported:
            return "not known here"
        return READS[self.needs_source, self.needs_reference]

    @property
    def references(self) -> str:
        """How several references are read: ``first``, ``best``, ``mean``, or ``all`` at once.

        Empty where none is read.
        """
        if not self.needs_reference:
            return ""
        chosen = dict(self.options).get("references")
        return str(chosen or READINGS.get(self.family or self.name, "all"))

    @property
    def reading(self) -> str:
        """The same in words."""
        return READING_WORDS.get(self.references, "")

    @property
    def family_label(self) -> str:
        """The heading under which lists show it."""
        return FAMILY_LABELS.get(self.family, self.family.capitalize())

    @property
    def table_measures(self) -> tuple[str, ...]:
        """The measures that tables show: all, unless some are chosen."""
        return self.shown or self.measures

    @property
    def width(self) -> int:
        """Number of columns that :meth:`Metric.score` returns."""
        return len(self.measures) + len(self.statistics)


def one_measure(name: str, label: str, **fields: Any) -> MetricInfo:
    """Describe a metric of one value a segment, which is called as the metric."""
    return MetricInfo(name, label, measures=(name,), measure_labels=(label,), **fields)


@dataclass(frozen=True)
class SegmentInput:
    """One output of one system: source, hypothesis and any number of references."""

    source: str
    hypothesis: str
    references: tuple[str, ...]


class Metric(Protocol):
    """What the registry loads."""

    info: MetricInfo

    def signature(self) -> str:
        """Everything that changes a value, as ``name|key:value|…|version:…``."""
        ...

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return float64 (n, measures + statistics); :class:`MetricError` where impossible."""
        ...

    def corpus(self, summed: Scores) -> Scores:
        """Turn (h, statistics) sums into (h, measures) scores of h (hybrid) systems."""
        ...


@runtime_checkable
class ComparesSystems(Protocol):
    """A metric that judges outputs beside the others of their segment."""

    def compare(self, outputs: Iterable[tuple[str, tuple[str, ...], Sequence[str]]]) -> None:
        """Take in source, references and the distinct outputs of each segment."""
        ...


@runtime_checkable
class OnTestSet(Protocol):
    """A metric that reads the references of a test set before anything else."""

    def fit(self, references: Iterable[tuple[str, ...]]) -> None:
        """Take in the references of every segment; the signature names them from then on."""
        ...


class Telemetry(Protocol):
    """What a metric may tell of its work, for the log of a run. Every part is optional.

    Where ``device`` is missing the log says ``cpu``. ``budget`` is the padded tokens of one
    forward pass, as it stands after the last one; ``batch_size`` the same in texts.
    ``peak_bytes`` is the most memory of the device since the metric was made; where it is missing
    and the device is a CUDA one, torch is asked.
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

    missing: Mapping[int, str]


@dataclass(frozen=True)
class Scored:
    """What became of a text: its row (width,), its spans, or why it has neither.

    ``is_truncated`` says whether a part of the texts was not read; None where that is not known.
    """

    row: Scores
    spans: Sequence[Any] = ()
    problem: str = ""
    is_truncated: bool | None = None


class Feed(Protocol):
    """Texts that come while others are scored, numbered from 0 in the order in which they come."""

    def more(self, n: int) -> Sequence[SegmentInput]:
        """Return further texts, about n; none where no more come."""
        ...

    def done(self, scored: Mapping[int, Scored]) -> None:
        """Take what became of texts, in any order, by their numbers."""
        ...


@runtime_checkable
class ScoresAsTextsCome(Protocol):
    """A metric that begins with further texts while it waits for what it needs for others.

    ``stream_seconds`` is for how long it takes in texts while other runs wait, ``first_slice`` how
    many it takes at first.
    """

    stream_seconds: float
    first_slice: int

    def score_from(self, feed: Feed) -> None:
        """Score all that comes; :class:`UnfinishedError` where it ended early."""
        ...


@runtime_checkable
class HearsOfScores(Protocol):
    """A metric that is told when scores of its run were stored.

    Now and then while the run goes, at its end, and when scoring ended early. What it raises is
    logged and changes nothing.
    """

    def stored(self) -> None:
        """Do what is to be done with the scores so far."""
        ...


class MeanOfSegments:
    """The corpus side of a metric without sufficient statistics."""

    info: MetricInfo

    def corpus(self, summed: Scores) -> Scores:
        """Refuse: the system score is the mean of the segment scores."""
        raise MetricError(
            f"{self.info.label} has no corpus statistics: its system score is the mean of segments",
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
                f"{info.label}: segment {index} of the batch has no reference",
                permanent=True,
                index=index,
            )
        for field, text in _texts(segment):
            if not _is_encodable(text):
                raise MetricError(
                    f"{info.label}: {field} of segment {index} of the batch holds a lone surrogate",
                    permanent=True,
                    index=index,
                )


def _texts(segment: SegmentInput) -> Iterator[tuple[str, str]]:
    yield "source", segment.source
    yield "hypothesis", segment.hypothesis
    for number, reference in enumerate(segment.references, start=1):
        yield f"reference {number}", reference


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def group_by_references(inputs: Sequence[SegmentInput]) -> dict[tuple[str, ...], list[int]]:
    """Map each set of references to the positions that use it, so it is prepared only once."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, segment in enumerate(inputs):
        groups.setdefault(segment.references, []).append(index)
    return groups
