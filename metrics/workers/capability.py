"""What a metric requires, what of it this host lacks, and with which command it gets it."""

import os
from collections.abc import Iterable, Iterator
from importlib.util import find_spec

from metrics import catalogue, plugins, registry
from metrics.base import MetricError, MetricInfo
from metrics.families.lexical import tokens
from metrics.models import MetricRun
from metrics.options import count_layers, precision_of
from metrics.stock import hosts, inventory
from metrics.support import support_of
from metrics.workers import devices, signatures

UNKNOWN = (
    "The worker's Touchstone does not know the metric: bring it to the web server's version, and "
    "start it again."
)
INSTALL = "pip install -r requirements.txt"
# What loads a checkpoint, besides the packages that a family names.
_NEURAL = ("torch", "transformers")


def lacking(info: MetricInfo | None, target_language: str = "") -> list[str]:
    """Return what this host lacks to run a metric: a sentence with the command for each.

    Into a language it may lack more than into most. Looks at names and places alone: what is wrong
    inside a checkpoint, loading it shows (:mod:`metrics.workers.signatures`).
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
    return list(dict.fromkeys([*found, *_tokenizer(info, tokens.base_language(target_language))]))


def lacking_here(infos: Iterable[MetricInfo]) -> dict[str, list[str]]:
    """Return what this host lacks to run metrics, by name; and by :func:`into`, what a language
    takes besides."""
    found: dict[str, list[str]] = {}
    for info in infos:
        found[info.name] = lacking(info)
        for language in tokens.BLEU_PACKAGES:
            found[into(info.name, language)] = list(_tokenizer(info, language))
    return {name: sentences for name, sentences in found.items() if sentences}


def into(metric: str, target_language: str) -> str:
    """Name a metric over translations into a language."""
    return f"{metric} into {tokens.base_language(target_language)}"


def lacks(run: MetricRun) -> list[str]:
    """Return why this host cannot take a part in a run now: what it lacks, and what kept it from
    loading the metric lately."""
    language = run.test_set.target_language
    return lacking(run.info, language) or [problem for problem in [signatures.held(run)] if problem]


def fit() -> set[int]:
    """Return the active runs in which this host can take a part now."""
    runs = list(MetricRun.objects.filter(status__in=MetricRun.ACTIVE).select_related("test_set"))
    infos = catalogue.infos(retired=True)
    able = {about for about in map(_about, runs) if not lacking(infos.get(about[0]), about[1])}
    held = signatures.metrics_held()
    return {
        run.pk
        for run in runs
        if _about(run) in able and not (run.metric in held and signatures.held(run))
    }


def _about(run: MetricRun) -> tuple[str, str]:
    return run.metric, run.test_set.target_language


def _plugin(info: MetricInfo) -> Iterator[str]:
    """Only the packages of this host count: what others have does not score here."""
    found = plugins.here().get(info.family)
    package = info.family.partition("--")[0]
    if found is None:
        yield (
            f"The plug-in {package} is not installed, or not named in METRIC_PLUGINS: "
            f"pip install {package}"
        )
    elif found.plugin is None:
        yield f"The plug-in {package} {found.version} is off: {found.error}."


def _packages(info: MetricInfo) -> Iterator[str]:
    own = registry.get_family(info.family).packages if registry.has_family(info.family) else ()
    for package in (*(_NEURAL if info.checkpoint else ()), *own):
        if find_spec(package) is None:
            yield f"The package {package} is not installed: {INSTALL}"


def _tokenizer(info: MetricInfo, language: str) -> Iterator[str]:
    """BLEU cuts some languages with a package of their own."""
    for package in tokens.BLEU_PACKAGES.get(language, ()) if info.expects_raw_text else ():
        if find_spec(package) is None:
            command = tokens.install_command(language)
            yield f"The package {package}, for texts in {language}, is not installed: {command}"


def _checkpoints(info: MetricInfo) -> Iterator[str]:
    for name in inventory.checkpoints_of(info):
        folder = inventory.find(name)
        for each in inventory.companions(folder) if folder else [name]:
            if inventory.find(each) is None:
                yield f"The checkpoint {each} is missing: {hosts.fetch_command(each)}"


def _layers(info: MetricInfo) -> Iterator[str]:
    """Say where an encoder has no such layer, or others than BERTScore was described with."""
    options = dict(info.options)
    encoder = str(options.get("encoder") or info.checkpoint)
    wanted = len(info.measures) // 3 if info.family == "bertscore" else options.get("layer")
    if not isinstance(wanted, int) or inventory.find(encoder) is None:
        return
    try:
        layers = count_layers(encoder)
    except (ValueError, MetricError) as error:
        yield str(error)
        return
    if info.family == "bertscore" and layers != wanted:
        yield f"{info.label} is described with {wanted} layers, and {encoder} has {layers} here."
    elif layers <= wanted and info.family != "bertscore":
        yield f"{encoder} has layers 0 to {layers - 1} here, not {wanted}."


def _files(info: MetricInfo) -> Iterator[str]:
    for path in inventory.files_of(info):
        if not os.access(path, os.R_OK):
            yield f"The file {path} is missing: {hosts.copy_command(path)}"


def _device(info: MetricInfo) -> Iterator[str]:
    if precision_of(info) == "int8" and find_spec("bitsandbytes") is None:
        yield f"The package bitsandbytes is not installed: {INSTALL}"
    if precision_of(info) == "tf32" and not devices.may_have_tf32():
        yield (
            "TF32 needs an NVIDIA GPU (Ampere or later): start a worker on a host that has one, or "
            "configure the metric with float32."
        )
