"""The interface between kinds of trainings and jobs. Imports no torch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from metaeval.messages import Message, MessageError, message
from metrics.options import Option

SEED = message("training.seed", "Seed")


# What is trained, as reports name it.
LEVELS = {
    "teacher": message("level.teacher", "cosines of the sentence encoder"),
    "sentence": message("level.sentence", "sentence level"),
    "word": message("level.word", "word level"),
    "distilled": message("level.distilled", "distillation"),
}


def no_campaign(slug: str) -> Message:
    """Return the message that a campaign does not exist."""
    return message("head.no-campaign", "There is no campaign {campaign}.", campaign=slug)


@dataclass(frozen=True)
class TrainingKind:
    """A kind of training: its options as data, and the function that does the work.

    Attributes
    ----------
    path
        The dotted path of the function.
    queue
        The queue of its jobs; an option `queue` has precedence.
    options
        The options, which :func:`metrics.options.clean_all` checks one by one.
    conflicts
        Returns the errors of options that do not fit together, by the name of an option.
    settle
        Returns the options with those that one of them sets.
    main
        The options that the form always shows; it folds the others. If empty, it shows all.
    has_form
        False if jobs are not started with the form of trainings.
    has_folder
        False if a job stores rows only and no files.
    packages, checkpoints, metrics
        What a worker needs: packages, checkpoints that options name, and all that the metrics need
        which options name.
    """

    key: str
    label: Message
    description: Message
    path: str
    queue: str
    needs_corpus: bool
    options: tuple[Option, ...]
    main: tuple[str, ...] = ()
    has_form: bool = True
    has_folder: bool = True
    conflicts: Callable[[Mapping[str, Any]], dict[str, Message]] = lambda chosen: {}
    settle: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    packages: tuple[str, ...] = ()
    checkpoints: Callable[[Mapping[str, Any]], Sequence[str]] = lambda chosen: ()
    metrics: Callable[[Mapping[str, Any]], Sequence[str]] = lambda chosen: ()


@dataclass(frozen=True)
class NewMetric:
    """A metric that a job made: a family of the registry and its options."""

    family: str
    label: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The result of a job as plain JSON values, and the metric that it made, if any.

    A result may contain messages.
    """

    result: Mapping[str, Any]
    metric: NewMetric | None = None


class StoppedError(Exception):
    """The job was asked to stop; it has saved what it needs to continue."""


class JobError(MessageError):
    """The job cannot be done; the messages say why. A retry would not help."""

    def __init__(self, *messages: Message) -> None:
        super().__init__(reduce(_joined, messages))


def _joined(first: Message, second: Message) -> Message:
    return message("job.errors", "{first} {second}", first=first, second=second)


def other_training(folder: Path) -> Message:
    """Return the message that a folder cannot be continued with these settings."""
    return message(
        "job.other-training",
        "{folder} has a training with other settings or other text.",
        folder=str(folder),
    )


@dataclass(frozen=True)
class Corpus:
    """Parallel text of one direction: `pairs` of (source, target) and their SHA-256."""

    name: str
    source_language: str
    target_language: str
    pairs: Sequence[tuple[str, str]]
    sha256: str


@dataclass(frozen=True)
class Work:
    """The input of the function of a kind, and a callback for progress.

    `pk` is the key of the job, for rows that belong to it. `folder` is its own folder and may hold
    what an earlier attempt saved. `report` stores plain JSON for the page (`step` and `total` if
    known, `stage` as a message) and raises StoppedError once the job is cancelled or its worker is
    about to end.
    """

    options: Mapping[str, Any]
    folder: Path
    corpora: Sequence[Corpus] = ()
    report: Callable[[dict[str, Any]], None] = lambda progress: None
    pk: int = 0


class Run(Protocol):
    """The function of a kind."""

    def __call__(self, work: Work) -> Outcome:
        """Do the job; raises JobError or StoppedError."""
        ...


# Filled by `training.kinds` when the app is ready.
KINDS: dict[str, TrainingKind] = {}


def load(kind: str) -> Run:
    """Import the function of a kind; KeyError for an unknown one."""
    module, _, name = KINDS[kind].path.partition(":")
    run: Run = getattr(import_module(module), name)
    return run
