"""Signatures that are known without loading the metric, and hosts that could not load it.

A signature that was learnt by loading is kept under a key of all that it hangs on, so that it is
asked for again where any of that changes:

- the description of the metric, with its options and its precision;
- the languages of the test set and, where the metric depends on the set, its references, or where
  it compares systems, the outputs of the run;
- the contents of every checkpoint that it names, of the encoder that such a checkpoint names, and
  of every file or folder among its options. Files whose size and time are the same are believed to
  be the same (:mod:`metrics.checkpoints.hashes`);
- the installed packages with their versions, and Touchstone's own code.

Nothing is kept of a process below which packages or code were replaced, nor of metrics whose code
is not Touchstone's.
"""

import json
import socket
import sys
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet

from core.work.models import Now
from metrics import catalogue
from metrics.base import EndpointError, InputError, Metric, MetricError, MetricInfo
from metrics.checkpoints import hashes, places
from metrics.contents import outputs_of, references_of
from metrics.models import Loading, MetricRun, MetricSignature
from metrics.stock import inventory
from metrics.workers import versions

# After so long a host tries again, though nothing has changed: what others took of a GPU, or a
# permission, is no part of a key.
HELD, HELD_BRIEFLY = timedelta(minutes=10), timedelta(seconds=30)
KEPT = timedelta(days=90)


class HostError(Exception):
    """This host cannot load a metric; another may. It is held against the host, not the run."""


# Packages that are imported later add folders of their own (setuptools does).
SEARCHED = list(dict.fromkeys(sys.path))


def installed() -> list[str]:
    """Return the names of all installed distributions, which hold their versions."""
    folders = [Path(entry) for entry in SEARCHED if entry and Path(entry).is_dir()]
    names = {file.name for folder in folders for file in folder.glob("*.dist-info")}
    return sorted(names | {file.name for folder in folders for file in folder.glob("*.egg-info")})


# Read when the process starts, as versions.CODE.
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
    """Load the metric of a run, and keep its signature with all that it hangs on.

    Raises :class:`HostError` for whatever keeps this host from it, :class:`InputError` where the
    texts or languages of the run are at fault, and :class:`EndpointError` where an endpoint is.
    """
    key = _key_or_blank(run)
    try:
        metric = _load(run)
        signature = _stored(metric)
    except (InputError, EndpointError, OperationalError, InterfaceError):
        raise
    except MetricError as error:
        raise _hold(run, key, error.message, HELD if error.permanent else HELD_BRIEFLY) from error
    except Exception as error:
        message = f"{run.label} cannot be loaded. {type(error).__name__}: {error}"
        raise _hold(run, key, message, HELD_BRIEFLY) from error
    if key and _is_ours(metric) and _is_as_started() and key == _key_or_blank(run):
        _keep(run, key, signature=signature)
    return metric, signature


def _load(run: MetricRun) -> Metric:
    test_set = run.test_set
    return catalogue.load(
        run.metric,
        source_language=test_set.source_language,
        target_language=test_set.target_language,
        references=partial(references_of, test_set),
        outputs=partial(outputs_of, run),
        run=run.pk,
    )


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


def held(run: MetricRun) -> str:
    """Say why this host could not load the metric lately; empty where it could, or may try."""
    rows = _holds().filter(metric=run.metric, host=socket.gethostname(), key=_key_or_blank(run))
    return rows.values_list("problem", flat=True).first() or ""


def metrics_held() -> set[str]:
    """Return the metrics that this host could not load lately, for some test set at least."""
    return set(_holds().filter(host=socket.gethostname()).values_list("metric", flat=True))


def problems() -> dict[str, dict[str, list[str]]]:
    """Return, by metric and host, why it could not be loaded lately. One query."""
    found: dict[str, dict[str, list[str]]] = {}
    for metric, host, problem in _holds().values_list("metric", "host", "problem").distinct():
        found.setdefault(metric, {}).setdefault(host, []).append(problem)
    return found


def _holds() -> QuerySet[Loading]:
    return Loading.objects.filter(until__gte=Now())


def key_of(run: MetricRun) -> str:
    """Return the key of a run's metric; MetricError where something of it cannot be read."""
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
    """Return 64 digits that change with all that the signature of a metric hangs on."""
    parts = [
        repr(info),
        languages,
        list(references),
        list(outputs),
        [*_checkpoints(info), *_files(info)],
        INSTALLED,
        versions.CODE,
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
    return type(metric).__module__.partition(".")[0] in versions.PACKAGES


def _is_as_started() -> bool:
    return installed() == INSTALLED and versions.code_hash() == versions.CODE


def _hold(run: MetricRun, key: str, problem: str, time: timedelta) -> HostError:
    """Hold against this host, and not against the run, that it cannot load the metric."""
    _keep(run, key, problem=problem, until=Now() + time)
    return HostError(problem)


def _keep(run: MetricRun, key: str, **found: Any) -> None:
    Loading.objects.filter(at__lt=Now() - KEPT).delete()
    Loading.objects.update_or_create(
        key=key,
        host=socket.gethostname(),
        metric=run.metric,
        defaults={"signature": None, "problem": "", "until": None, "at": Now(), **found},
    )
