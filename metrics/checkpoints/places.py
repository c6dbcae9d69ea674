"""Find checkpoints: local directories first, then the hub's cache, never the network.

A checkpoint is named as on the hub (``facebook/bart-large-mnli``), by a local directory, or as
``package:NAME`` if an installed Python package contains it. Below ``TOUCHSTONE_MODELS`` it may be
in ``facebook/bart-large-mnli`` or ``facebook--bart-large-mnli``. Does not import torch.
"""

import json
import os
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from metaeval.messages import Message, message
from metrics.base import MetricError
from metrics.checkpoints import hashes

# Functions that name the checkpoints in memory; modules that load models add theirs.
RESIDENT: list[Callable[[], list[str]]] = []
SUMS = "SHA256SUMS"
_FORBIDDEN = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"
_PACKAGE = "package:"
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".npz", ".npy")
_SETTINGS = (".json", ".txt", ".model", ".yaml", ".yml", ".vocab")
# Where one of these is, there is a checkpoint.
LASER = ("laser2.pt", "laser2.spm")
MARKS = ("config.json", "hparams.yaml", LASER[0])
_SUM_LINE = re.compile(r"([0-9a-fA-F]{64}) [ *](.+)")


def models_folder() -> Path | None:
    """Return the admin's folder of checkpoints, where one is set."""
    folder = os.environ.get("TOUCHSTONE_MODELS", "")
    return Path(folder) if folder else None


def find(name: str) -> str:
    """Return the local directory of a checkpoint.

    If it is missing, raises a permanent :class:`MetricError` with the command that fetches it.
    """
    refuse_pickles()
    if not name.strip():  # the folder of all checkpoints is none
        raise MetricError(missing_message(name), permanent=True)
    try:
        for candidate in _candidates(name):
            if any((candidate / file).is_file() for file in MARKS):
                return str(candidate)
        cached = _in_hub_cache(name)
    except (OSError, ValueError):  # neither a path nor a hub's name can read like this
        cached = None
    if cached is None:
        raise MetricError(missing_message(name), permanent=True)
    return cached


def missing_message(name: str) -> Message:
    """Return the message that a checkpoint is missing, and how to get it."""
    if not name.strip():
        return message("checkpoint.unnamed", "The checkpoint has no name. Enter one.")
    if Path(name).is_absolute():
        return message(
            "checkpoint.not-in-folder", "There is no checkpoint in {folder}.", folder=name
        )
    if name.startswith(_PACKAGE):
        return message(
            "checkpoint.not-in-package",
            "There is no installed Python package {package} with a checkpoint (docs/metrics.md).",
            package=name.removeprefix(_PACKAGE),
        )
    return message(
        "checkpoint.missing",
        "The checkpoint {checkpoint} is not on this machine. If the machine can reach the hub, "
        "run: hf download {checkpoint}. Otherwise copy its files to a folder {checkpoint} below "
        "TOUCHSTONE_MODELS.",
        checkpoint=name,
    )


def refuse_pickles() -> None:
    """Raise an error if the environment would let torch run code from a checkpoint."""
    if os.environ.get(_FORBIDDEN, "").lower() in {"1", "y", "yes", "true"}:
        problem = message(
            "checkpoint.code-allowed",
            "{variable} is set, so a checkpoint could run code. Unset it.",
            variable=_FORBIDDEN,
        )
        raise MetricError(problem, permanent=True)


def fingerprint(path: str | Path, *, weights: bool = True) -> str:
    """Return twelve digits of a SHA-256 over names and contents of a checkpoint's files.

    Settings, vocabularies and weights are included, other files are not. Without ``weights`` they
    are excluded: this identifies an encoder of which only settings and tokenizer are used. Raises a
    permanent :class:`MetricError` if a file cannot be read.
    """
    folder = Path(path)
    lines = [
        f"{hashes.of_file(file)}  {file.relative_to(folder).as_posix()}\n"
        for file in files(folder)
        if weights or file.suffix not in _WEIGHTS
    ]
    return hashes.of_text("".join(lines))[:12]


def files(path: str | Path) -> list[Path]:
    """Return the files that determine a checkpoint's values, sorted by name.

    Hidden folders are skipped, and pickled weights if there are safetensors, which are loaded
    instead.
    """
    folder = Path(path)
    found = sorted(
        file
        for file in folder.rglob("*")
        if (file.suffix in (*_WEIGHTS, *_SETTINGS) or file.name in LASER)
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )
    safe = {file.parent for file in found if file.suffix == ".safetensors"}
    return [file for file in found if not (file.suffix == ".bin" and file.parent in safe)]


def weight_bytes(path: str | Path) -> int:
    """Return the size of a checkpoint's weights on disk."""
    return sum(file.stat().st_size for file in files(path) if file.suffix in _WEIGHTS)


def verify(path: str | Path, *, again: bool = True) -> list[Message]:
    """Compare a checkpoint with its ``SHA256SUMS``; return all problems.

    Without such a file there is no problem. A file that is not listed is a problem. With ``again``
    all files are read; otherwise hashes of files with the same size and time are cached.
    """
    folder = Path(path)
    sums = folder / SUMS
    if not sums.is_file():
        return []
    problems: list[Message] = []
    listed = set()
    for number, line in enumerate(sums.read_text(encoding="utf-8").splitlines(), start=1):
        match = _SUM_LINE.fullmatch(line)
        if match is None:
            problems.append(
                message(
                    "checkpoint.sums-line",
                    "{file}, line {line}: expected a SHA-256 and a file name.",
                    file=SUMS,
                    line=number,
                )
            )
            continue
        digest, name = match.groups()
        listed.add(name.removeprefix("./"))
        problems += _compare(folder / name, digest, name, again=again)
    names = [file.relative_to(folder).as_posix() for file in files(folder)]
    return problems + [
        message("checkpoint.file-not-listed", "{file} does not list {name}.", file=SUMS, name=name)
        for name in names
        if name not in listed
    ]


def check(name: str, path: str | Path) -> None:
    """Refuse a checkpoint that differs from its ``SHA256SUMS``, or that asks to run code.

    Raises a permanent :class:`MetricError`.
    """
    problems = verify(path, again=False)
    if problems:
        untrusted = message(
            "checkpoint.damaged",
            "The checkpoint {checkpoint} differs from its hashes. {problem}",
            checkpoint=name,
            problem=problems[0],
        )
        raise MetricError(untrusted, permanent=True)
    for file in ("config.json", "tokenizer_config.json"):
        if _asks_for_code(Path(path) / file):
            problem = message(
                "checkpoint.runs-code",
                "The checkpoint {checkpoint} asks to run code (auto_map in {file}), which is "
                "never allowed. If transformers has its class, remove that entry.",
                checkpoint=name,
                file=file,
            )
            raise MetricError(problem, permanent=True)


def _asks_for_code(path: Path) -> bool:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # loading the file reports this
        return False
    return isinstance(document, dict) and bool(document.get("auto_map"))


def _compare(file: Path, digest: str, name: str, *, again: bool) -> list[Message]:
    if not file.is_file():
        return [message("checkpoint.file-missing", "{name} is missing.", name=name)]
    if hashes.of_file(file, again=again) != digest.lower():
        return [
            message(
                "checkpoint.hash-differs",
                "The hash of {name} differs from that in {file}.",
                name=name,
                file=SUMS,
            )
        ]
    return []


def _candidates(name: str) -> list[Path]:
    if Path(name).is_absolute():
        return [Path(name)]
    if name.startswith(_PACKAGE):
        return _in_package(name.removeprefix(_PACKAGE))
    folder = models_folder()
    return [folder / name, folder / name.replace("/", "--")] if folder else []


def _in_package(package: str) -> list[Path]:
    """Return the folder of an installed package, without importing it, and its folder ``model``."""
    spec = find_spec(package) if package.isidentifier() else None
    places = spec.submodule_search_locations if spec else None
    return [Path(place) / each for place in places or () for each in ("", "model")]


def _in_hub_cache(name: str) -> str | None:
    if Path(name).is_absolute() or name.startswith(_PACKAGE):
        return None
    try:
        from huggingface_hub import try_to_load_from_cache
    except ModuleNotFoundError:  # a web server does not need it
        return None
    # A COMET repository has no config.json.
    found = (try_to_load_from_cache(name, file) for file in MARKS)
    return next((str(Path(file).parent) for file in found if isinstance(file, str)), None)
