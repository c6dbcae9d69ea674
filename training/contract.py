"""What kinds of trainings, their functions and the jobs agree on; imports no torch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from metaeval.messages import MessageError
from metrics.options import Option


@dataclass(frozen=True)
class TrainingKind:
    """What can be started: its options as data, and the dotted path of the function that works.

    Options are checked as those of metrics are (:func:`metrics.options.clean_all`), then together:
    `conflicts` returns what is wrong beside the others, by the setting's name. The form folds
    all but the `main` ones; without any it shows all. One that has no such form, because it is
    started elsewhere, has `has_form` false; one that keeps rows and no files, `has_folder`. An
    option `queue` chooses another queue than `queue`. A worker needs the `packages`, the
    `checkpoints` that options name, and what the `metrics` that they name need.
    """

    key: str
    label: str
    description: str
    path: str
    queue: str
    needs_corpus: bool
    options: tuple[Option, ...]
    main: tuple[str, ...] = ()
    has_form: bool = True
    has_folder: bool = True
    conflicts: Callable[[Mapping[str, Any]], dict[str, str]] = lambda chosen: {}
    packages: tuple[str, ...] = ()
    checkpoints: Callable[[Mapping[str, Any]], Sequence[str]] = lambda chosen: ()
    metrics: Callable[[Mapping[str, Any]], Sequence[str]] = lambda chosen: ()


@dataclass(frozen=True)
class NewMetric:
    """A metric that came out of a job: a family of the registry and its options."""

    family: str
    label: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a job found, as plain JSON values, and the metric that it made, where it made one."""

    result: dict[str, Any]
    metric: NewMetric | None = None


class StoppedError(Exception):
    """The job was told to stop; it has saved what it needs to go on."""


class JobError(MessageError):
    """The job cannot be done; the message says why. No retry would help."""


@dataclass(frozen=True)
class Corpus:
    """Parallel text of one direction; `pairs` are (source, target), `sha256` names them."""

    name: str
    source_language: str
    target_language: str
    pairs: Sequence[tuple[str, str]]
    sha256: str


@dataclass(frozen=True)
class Work:
    """What a kind's function gets: everything that it may read, and how it reports.

    `pk` is the job's, for rows that belong to it. `folder` is its own and may hold what an earlier
    attempt saved. `report` stores plain JSON for the page (`step` and `total` where known) and
    raises StoppedError once the job is cancelled or its worker is about to end.
    """

    options: Mapping[str, Any]
    folder: Path
    corpora: Sequence[Corpus] = ()
    report: Callable[[dict[str, Any]], None] = lambda progress: None
    pk: int = 0


class Run(Protocol):
    """The function behind a kind."""

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
