"""Cache signatures of metrics, so that a plan needs no loading, and failures to load on a host.

A signature is stored under a key of everything that it depends on, so that it is computed again
when any of that changes:

- the description of the metric, with its options and its precision;
- the languages of the test set and, where the metric depends on the set, its references, or where
  it compares systems, the outputs of the run;
- the contents of every checkpoint that it names, of the encoder that such a checkpoint names, and
  of every file or folder among its options. Files whose size and time are the same are believed to
  be the same (:mod:`metrics.checkpoints.hashes`);
- the installed packages with their versions, and Touchstone's own code.

Nothing is stored by a process whose packages or code were replaced on disk, nor of metrics whose
code is not Touchstone's.
"""

import hashlib
import json
import os
import platform
import socket
import sys
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet

from core.work.kinds import unexpected
from core.work.models import Now
from metaeval import __version__
from metaeval.messages import Message, MessageError, message
from metrics import catalogue
from metrics.base import EndpointError, InputError, Metric, MetricError, MetricInfo
from metrics.checkpoints import hashes, places
from metrics.contents import outputs_of, references_of
from metrics.models import Loading, MetricRun, MetricSignature
from metrics.stock import inventory

ROOT = Path(__file__).resolve().parents[2]
OUR_PACKAGES = (
    "annotation",
    "config",
    "core",
    "dashboards",
    "extensions",
    "lifecycle",
    "metaeval",
    "metrics",
    "training",
)


def code_hash(root: Path = ROOT) -> str:
    """Return eight digits of a SHA-256 over the Python files of the app.

    They are read anew where one has another size or time than when they were read last.
    """
    return _hash_of(tuple(_package_files(root)), root)


def _package_files(root: Path) -> Iterator[tuple[str, int, int]]:
    for package in OUR_PACKAGES:
        for folder, _, names in os.walk(root / package):
            for path in (os.path.join(folder, name) for name in names if name.endswith(".py")):
                found = os.stat(path)
                yield path, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=1)
def _hash_of(files: tuple[tuple[str, int, int], ...], root: Path) -> str:
    total = hashlib.sha256()
    for path, *_ in sorted(files):
        total.update(f"{path.removeprefix(f'{root}/')}\0".encode())
        with open(path, "rb") as file:
            total.update(file.read())
    return total.hexdigest()[:8]


# Read when the process starts: the files may be replaced below a process that goes on.
CODE_HASH = code_hash()


def versions() -> dict[str, str]:
    """Return the versions that a report carries: the release, the hash of the code, Python's, and
    torch's without importing it."""
    found = {"release": __version__, "touchstone": CODE_HASH, "python": platform.python_version()}
    for package in ("torch", "transformers"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


# After so long a host tries again although the key is the same: memory of a GPU that others took,
# or a permission, is not a part of a key.
PAUSE, SHORT_PAUSE = timedelta(minutes=10), timedelta(seconds=30)
STORED_FOR = timedelta(days=90)


class HostError(MessageError):
    """This host cannot load a metric; another may. The run does not fail."""


# Packages that are imported later add folders of their own (setuptools does).
SEARCHED = list(dict.fromkeys(sys.path))


def installed() -> list[str]:
    """Return the names of all installed distributions, which hold their versions."""
    folders = [Path(entry) for entry in SEARCHED if entry and Path(entry).is_dir()]
    names = {file.name for folder in folders for file in folder.glob("*.dist-info")}
    return sorted(names | {file.name for folder in folders for file in folder.glob("*.egg-info")})


# Read when the process starts, as CODE_HASH is.
INSTALLED = installed()


def known(run: MetricRun) -> MetricSignature | None:
    """Return the signature of a run's metric where it is known without loading it."""
    try:
        key = key_of(run)
    except MetricError:  # loading it says what is missing
        return None
    rows = Loading.objects.filter(key=key, metric=run.metric).exclude(signature=None)
    row = rows.select_related("signature").first()
    return row.signature if row else None


def load(run: MetricRun) -> tuple[Metric, MetricSignature]:
    """Load the metric of a run, and store its signature with everything that it depends on.

    Raises :class:`HostError` where this host cannot load it, :class:`InputError` where the texts or
    languages of the run are at fault, and :class:`EndpointError` where an endpoint is.
    """
    key = _key_or_blank(run)
    try:
        test_set = run.test_set
        metric = catalogue.load(
            run.metric,
            source_language=test_set.source_language,
            target_language=test_set.target_language,
            references=partial(references_of, test_set),
            outputs=partial(outputs_of, run),
            run=run.pk,
        )
        signature = _stored(metric)
    except (InputError, EndpointError, OperationalError, InterfaceError):
        raise
    except MetricError as error:
        pause = PAUSE if error.permanent else SHORT_PAUSE
        raise _pause(run, key, error.message, pause) from error
    except Exception as error:
        problem = message(
            "metric.not-loaded",
            "{metric} could not be loaded. {error}",
            metric=run.label,
            error=unexpected(error),
        )
        raise _pause(run, key, problem, SHORT_PAUSE) from error
    if key and _is_ours(metric) and _is_as_started() and key == _key_or_blank(run):
        _store(run, key, signature=signature)
    return metric, signature


def _stored(metric: Metric) -> MetricSignature:
    info = metric.info
    signature, _ = MetricSignature.objects.get_or_create(
        signature=metric.signature(),
        defaults={
            "metric": info.name,
            "measures": list(info.measures),
            "statistics": list(info.statistics),
        },
    )
    return signature


def load_problem(run: MetricRun) -> Message | None:
    """Return why this host could not load the metric recently; None where it may try."""
    rows = _pauses().filter(metric=run.metric, host=socket.gethostname(), key=_key_or_blank(run))
    return _problem(rows.values_list("problem", flat=True).first() or "")


def _problem(stored: Message | str) -> Message | None:
    if isinstance(stored, str):  # text from an earlier version, or none
        return message("metric.not-loaded-before", "{text}", text=stored) if stored else None
    return stored


def unloadable_metrics() -> set[str]:
    """Return the metrics that this host could not load recently, for one test set at least."""
    return set(_pauses().filter(host=socket.gethostname()).values_list("metric", flat=True))


def problems() -> dict[str, dict[str, list[Message]]]:
    """Return, by metric and host, why it could not be loaded recently. One query."""
    found: dict[str, dict[str, list[Message]]] = {}
    for metric, host, stored in _pauses().values_list("metric", "host", "problem").distinct():
        if problem := _problem(stored):
            found.setdefault(metric, {}).setdefault(host, []).append(problem)
    return found


def _pauses() -> QuerySet[Loading]:
    return Loading.objects.filter(until__gte=Now())


def key_of(run: MetricRun) -> str:
    """Return the key of a run's metric; raise MetricError where a part of it cannot be read."""
    info = run.info
    if info is None:
        raise MetricError(catalogue.refusal(run.metric), permanent=True)
    test_set = run.test_set
    return make_key(
        info,
        languages=(test_set.source_language, test_set.target_language),
        references=references_of(test_set) if info.depends_on_set else (),
        outputs=outputs_of(run) if info.compares_systems else (),
    )


def make_key(
    info: MetricInfo,
    *,
    languages: tuple[str, str],
    references: Iterable[tuple[str, ...]] = (),
    outputs: Iterable[object] = (),
) -> str:
    """Return 64 digits that change with everything that the signature of a metric depends on."""
    parts = [
        repr(info),
        languages,
        list(references),
        list(outputs),
        [*_checkpoints(info), *_files(info)],
        INSTALLED,
        CODE_HASH,
    ]
    return hashes.of_text(json.dumps(parts, ensure_ascii=False))


def _checkpoints(info: MetricInfo) -> Iterator[tuple[str, str]]:
    """Name and contents of each; of an encoder that a checkpoint names, without the weights."""
    for name in inventory.checkpoints_of(info):
        folder = places.find(name)
        yield name, places.fingerprint(folder)
        for encoder in inventory.companions(Path(folder)):
            yield encoder, places.fingerprint(places.find(encoder), weights=False)


def _files(info: MetricInfo) -> Iterator[tuple[str, str]]:
    """Path and contents of the files and folders that options name: absolute, or those in the
    folder of the checkpoint."""
    # An absolute path stays itself when it is joined.
    folder = inventory.find(info.checkpoint) or Path("/nowhere")
    names = set(inventory.checkpoints_of(info))
    for option, value in info.options:
        if not isinstance(value, str) or not value or value in names:
            continue
        path = folder / value
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                yield f"{option} {file.relative_to(path)}", hashes.of_file(file)


def _key_or_blank(run: MetricRun) -> str:
    try:
        return key_of(run)
    except MetricError:
        return ""


def _is_ours(metric: Metric) -> bool:
    return type(metric).__module__.partition(".")[0] in OUR_PACKAGES


def _is_as_started() -> bool:
    return installed() == INSTALLED and code_hash() == CODE_HASH


def _pause(run: MetricRun, key: str, problem: Message, time: timedelta) -> HostError:
    """Record that this host cannot load the metric; the run waits for another host."""
    _store(run, key, problem=problem, until=Now() + time)
    return HostError(problem)


def _store(run: MetricRun, key: str, **found: Any) -> None:
    Loading.objects.filter(at__lt=Now() - STORED_FOR).delete()
    Loading.objects.update_or_create(
        key=key,
        host=socket.gethostname(),
        metric=run.metric,
        defaults={"signature": None, "problem": "", "until": None, "at": Now(), **found},
    )
