"""Kinds of jobs by name. Importing this module imports no torch: the web process stays light."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from core.extensions import Section
from metrics.options import Option
from training.head import options as head
from training.preferences import options as preferences
from training.refreeeval import recipe as refreeeval
from training.remap import options as remap
from training.translation import options as translation

NEURAL = ("torch", "transformers")


@dataclass(frozen=True)
class Kind:
    """What can be started: its options as data, and the dotted path of the function that works.

    Options are checked as those of metrics are (:func:`metrics.options.clean_all`), then together:
    `conflicts` returns what is wrong beside the others, by the setting's name. The form folds
    all but the `main` ones; without any it shows all. One that has no such form, because it is
    started elsewhere, has `has_form` false; one that keeps rows and no files, `has_folder`. An
    option `queue` chooses another queue than `queue`. A worker needs the `packages`, and the
    `checkpoints` that options name.
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


class JobError(Exception):
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


KINDS: dict[str, Kind] = {
    "remap": Kind(
        key="remap",
        label="Projection for XMoverScore",
        description="Fits a linear map from the source side of an encoder onto its target side, "
        "from parallel text (Zhao et al. 2020). A metric comes of it.",
        path="training.remap.job:run",
        queue="gpu",
        needs_corpus=True,
        options=remap.OPTIONS,
        main=remap.MAIN,
        packages=NEURAL,
        checkpoints=lambda chosen: [chosen["checkpoint"]],
    ),
    "refreeeval": Kind(
        key="refreeeval",
        label="ReFreeEval",
        description="Trains an encoder on parallel text into a metric that needs no reference.",
        path="training.refreeeval.job:run",
        queue="gpu",
        needs_corpus=True,
        options=refreeeval.OPTIONS,
        conflicts=refreeeval.conflicts,
        packages=NEURAL,
        checkpoints=refreeeval.checkpoints,
        main=("encoder", "teacher", "variant", "layer", "sample", "seed"),
    ),
    "head": Kind(
        key="head",
        label="Supervised head",
        description="Fits a small head on the judgments of a campaign, over a frozen encoder.",
        path="training.head.training:run",
        queue="gpu",
        needs_corpus=False,
        options=head.OPTIONS,
        conflicts=head.conflicts,
        packages=NEURAL,
        checkpoints=lambda chosen: [chosen["encoder"]],
    ),
    "sentinel": Kind(
        key="sentinel",
        label="Sentinel",
        description="Fits what can be said of a campaign's scores from the source, the output or "
        "lengths alone: a floor that every metric has to beat (Perrella et al. 2024).",
        path="training.head.sentinel:run",
        queue="gpu",
        needs_corpus=False,
        options=head.SENTINEL,
        packages=NEURAL,
        checkpoints=head.sentinel_checkpoints,
    ),
    translation.KIND: Kind(
        key=translation.KIND,
        label="Translation model",
        description="Trains a Transformer on parallel text that translates, to a wanted length "
        "where it is told one (Cheng et al. 2023). Test sets are translated with it.",
        path="training.translation.learning.job:run",
        queue="gpu",
        needs_corpus=True,
        options=translation.OPTIONS,
        conflicts=translation.conflicts,
        main=translation.MAIN,
        packages=(*NEURAL, "accelerate", "sentencepiece"),
    ),
    preferences.KIND: Kind(
        key=preferences.KIND,
        label="Preference analysis",
        description="Asks metrics whether they prefer texts that are worse by construction "
        "(Zhao et al. 2020). Started from a test set's page.",
        path="training.preferences.job:run",
        queue="gpu",
        needs_corpus=False,
        options=preferences.OPTIONS,
        has_form=False,
        has_folder=False,
    ),
}


def load(kind: str) -> Run:
    """Import the function of a kind; KeyError for an unknown one."""
    module, _, name = KINDS[kind].path.partition(":")
    run: Run = getattr(import_module(module), name)
    return run


def sections() -> Iterator[Section]:
    """Yield what the generated documentation says of trainings."""
    told = "Set by *Start a job*, `manage.py train KIND`, the API."
    yield Section("## Trainings", told)
    for key, kind in KINDS.items():
        module = kind.path.partition(":")[0]
        yield Section(f"### Job `{key}`: {kind.label}", kind.description, module, kind.options)
