"""Find what this host lacks to run a metric, and the command that gets it."""

import os
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from core import shared_files
from metaeval.messages import Message, message
from metaeval.reasons import reason_of
from metrics import catalogue, plugins, registry
from metrics.base import MetricError, MetricInfo
from metrics.families.lexical import tokens
from metrics.models import MetricRun
from metrics.options import count_layers, precision_of
from metrics.stock import hosts, inventory
from metrics.support import support_of
from metrics.workers import devices, signatures

UNKNOWN = message(
    "worker.unknown-metric",
    "The Touchstone version of the worker does not have this metric. Update it to the web server's "
    "version and restart the worker.",
)
INSTALL = "pip install -r requirements.txt"
# Packages that load a checkpoint, besides those that a family names.
_NEURAL = ("torch", "transformers")


def lacking(info: MetricInfo | None, target_language: str = "") -> list[Message]:
    """Return what this host lacks to run a metric, each with the command that gets it.

    Some target languages need more packages than others. Only names and paths are checked: faults
    inside a checkpoint are found by loading it (:mod:`metrics.workers.signatures`).
    """
    if info is None:
        return [UNKNOWN]
    if info.is_imported:
        return []
    if "--" in info.family:
        return [*_plugin(info), *([] if info.family not in plugins.here() else _packages(info))]
    if info.name not in registry.METRICS and not registry.has_family(info.family):
        return [UNKNOWN]
    if own := support_of(info).lacking(info):
        return own
    found = [*_packages(info), *_checkpoints(info), *_layers(info), *_files(info), *_device(info)]
    return list(dict.fromkeys([*found, *_tokenizer(info, target_language)]))


def lacking_here(infos: Iterable[MetricInfo]) -> dict[str, list[Message]]:
    """Return what this host lacks to run metrics, by name, and, by :func:`into`, for languages.

    The latter is what a target language needs in addition.
    """
    found: dict[str, list[Message]] = {}
    for info in infos:
        found[info.name] = lacking(info)
        for language in tokens.NEED_PACKAGES:
            more = [each for each in _tokenizer(info, language) if each not in found[info.name]]
            found[into(info.name, language)] = more
    return {name: missing for name, missing in found.items() if missing}


def into(metric: str, target_language: str) -> str:
    """Name a metric over translations into a language."""
    return f"{metric} → {tokens.base_language(target_language)}"


def lacks(run: MetricRun) -> list[Message]:
    """Return why this host cannot score a run now.

    Either something is missing, or loading the metric failed recently.
    """
    found = lacking(run.info, run.test_set.target_language)
    problem = None if found else signatures.load_problem(run)
    return [problem] if problem else found


def fit() -> set[int]:
    """Return the active runs that this host can score now."""
    runs = list(MetricRun.objects.filter(status__in=MetricRun.ACTIVE).select_related("test_set"))
    infos = catalogue.infos(retired=True)
    able = {about for about in map(_about, runs) if not lacking(infos.get(about[0]), about[1])}
    unloadable = signatures.unloadable_metrics()
    return {
        run.pk
        for run in runs
        if _about(run) in able and not (run.metric in unloadable and signatures.load_problem(run))
    }


def _about(run: MetricRun) -> tuple[str, str]:
    return run.metric, run.test_set.target_language


def _plugin(info: MetricInfo) -> Iterator[Message]:
    """Check the packages of this host; those of other hosts are of no use here."""
    found = plugins.here().get(info.family)
    package = info.family.partition("--")[0]
    if found is None:
        yield message(
            "worker.plugin-missing",
            "The plug-in {package} is not installed or not named in METRIC_PLUGINS: "
            "pip install {package}",
            package=package,
        )
    elif found.plugin is None:
        yield message(
            "worker.plugin-unusable",
            "The plug-in {package} {version} cannot be used. {error}",
            package=package,
            version=found.version,
            error=found.error,
        )


def _packages(info: MetricInfo) -> Iterator[Message]:
    own = registry.get_family(info.family).packages if registry.has_family(info.family) else ()
    for package in (*(_NEURAL if info.checkpoint else ()), *own):
        if find_spec(package) is None:
            yield _package_missing(package)


def _package_missing(package: str) -> Message:
    return message(
        "worker.package-missing",
        "The package {package} is not installed: {command}",
        package=package,
        command=INSTALL,
    )


def _tokenizer(info: MetricInfo, language: str) -> Iterator[Message]:
    """Check the packages that the tokenizer of a metric imports for a target language."""
    for package in tokens.packages(info, language):
        if find_spec(package) is None:
            yield _package_missing(package)


def _checkpoints(info: MetricInfo) -> Iterator[Message]:
    for name in inventory.checkpoints_of(info):
        folder = inventory.fetched(name)
        for each in inventory.companions(folder) if folder else [name]:
            if inventory.find(each) is None:
                yield message(
                    "worker.checkpoint-missing",
                    "The checkpoint {checkpoint} is missing: {command}",
                    checkpoint=each,
                    command=hosts.fetch_command(each),
                )


def _layers(info: MetricInfo) -> Iterator[Message]:
    """Check that an encoder has the layer, or the number of layers of a BERTScore."""
    options = dict(info.options)
    encoder = str(options.get("encoder") or info.checkpoint)
    wanted = len(info.measures) // 3 if info.family == "bertscore" else options.get("layer")
    if not isinstance(wanted, int) or inventory.find(encoder) is None:
        return
    try:
        layers = count_layers(encoder)
    except (ValueError, MetricError) as error:
        yield reason_of(error)
        return
    if info.family == "bertscore" and layers != wanted:
        yield message(
            "worker.other-layers",
            "{metric} was configured with {expected} layers, but {encoder} has {actual} layers on "
            "this host.",
            metric=info.label,
            expected=wanted,
            encoder=encoder,
            actual=layers,
        )
    elif layers <= wanted and info.family != "bertscore":
        yield message(
            "worker.no-such-layer",
            "{encoder} has layers 0 to {last} on this host, but {metric} needs layer {layer}.",
            encoder=encoder,
            last=layers - 1,
            metric=info.label,
            layer=wanted,
        )


def _files(info: MetricInfo) -> Iterator[Message]:
    for path in inventory.files_of(info):
        shared_files.fetch_trained(Path(path))
        if not os.access(path, os.R_OK):
            yield message(
                "worker.file-missing",
                "The file {path} is missing: {command}",
                path=path,
                command=hosts.copy_command(path),
            )


def _device(info: MetricInfo) -> Iterator[Message]:
    if precision_of(info) == "int8" and find_spec("bitsandbytes") is None:
        yield _package_missing("bitsandbytes")
    if precision_of(info) == "tf32" and not devices.may_have_tf32():
        yield message(
            "worker.no-tf32",
            "TF32 needs an NVIDIA GPU (Ampere or later). Start a worker on a host that has one, or "
            "configure the metric with float32.",
        )
