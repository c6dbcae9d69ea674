"""Fetch a checkpoint from the hub into TOUCHSTONE_MODELS; only the command `models` does this.

Files arrive in a hidden folder, are compared with the hub's hashes, and get a SHA256SUMS. Then the
folder is renamed at once, so that an interrupted fetch leaves no half checkpoint.
"""

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from core import disk
from metaeval.messages import Message, message
from metaeval.reasons import reason_of
from metrics.base import MetricError
from metrics.checkpoints import hashes, places

SUFFIXES = (".safetensors", ".bin", ".ckpt", ".json", ".yaml", ".txt", ".model")
# Weights for other runtimes, in the same repository.
OTHERS = {"onnx", "openvino", "coreml", "rust_model", "flax_model", "tf_model"}
BESIDES = ("training_args.bin", "optimizer.bin", "scheduler.bin")
Report = Callable[[str], None]


def fetch(name: str, report: Report) -> Path:
    """Fetch a checkpoint and return its folder; raise MetricError where that is not possible."""
    folder = places.models_folder()
    if folder is None:
        raise _refusal(
            message(
                "checkpoint.no-models-folder",
                "Set TOUCHSTONE_MODELS to the folder for checkpoints.",
            )
        )
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise _refusal(_not_a_name(name))
    target = folder / name
    if target.exists():
        raise _refusal(
            message(
                "checkpoint.folder-exists",
                "{folder} already exists. Move it to fetch the checkpoint again.",
                folder=str(target),
            )
        )
    waiting = folder / ".fetching" / name.replace("/", "--")
    revision, files = _listing(name)
    report(f"{name}: {len(files)} files, revision {revision[:12]}")
    _download(name, revision, files, waiting)
    _write_sums(name, waiting, files)
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(waiting, target)
    return target


def choose(names: Iterable[str]) -> list[str]:
    """Return the files of a repository that a checkpoint needs: each weight once, no code."""
    wanted = [name for name in names if _is_wanted(Path(name))]
    folders = {Path(name).parent for name in wanted if name.endswith(".safetensors")}
    return [name for name in wanted if not _is_doubled(Path(name), folders)]


def _is_wanted(path: Path) -> bool:
    is_other = bool(OTHERS & set(path.parts)) or any(part.startswith(".") for part in path.parts)
    return path.suffix in SUFFIXES and path.name not in BESIDES and not is_other


def _is_doubled(path: Path, has_safetensors: set[Path]) -> bool:
    """Return True if there are safetensors of these weights, which need no unpickling."""
    is_pickled = path.name.startswith("pytorch_model")
    return is_pickled and path.suffix in (".bin", ".json") and path.parent in has_safetensors


def _listing(name: str) -> tuple[str, dict[str, str | None]]:
    """Return the newest revision, and the chosen files with their SHA-256 on the hub."""
    try:
        from huggingface_hub import HfApi
    except ModuleNotFoundError:
        problem = message(
            "checkpoint.hub-package",
            "Fetching needs the package huggingface_hub: pip install -r requirements.txt",
        )
        raise _refusal(problem) from None
    with _Hub(name):
        info = HfApi().model_info(name, files_metadata=True)
    hashes = {file.rfilename: file.lfs.sha256 if file.lfs else None for file in info.siblings or []}
    chosen = choose(hashes)
    if not any(Path(file).name in ("config.json", "hparams.yaml") for file in chosen):
        raise _refusal(
            message(
                "checkpoint.no-config",
                "{checkpoint} is not a checkpoint: it has neither config.json nor hparams.yaml.",
                checkpoint=name,
            )
        )
    return str(info.sha), {file: hashes[file] for file in chosen}


def _download(name: str, revision: str, files: Iterable[str], target: Path) -> None:
    from huggingface_hub import snapshot_download

    with _Hub(name):
        snapshot_download(name, revision=revision, allow_patterns=list(files), local_dir=target)


def _write_sums(name: str, folder: Path, files: dict[str, str | None]) -> None:
    lines = []
    for file, expected in sorted(files.items()):
        actual = hashes.of_file(folder / file, again=True)
        if expected and actual != expected:
            (folder / file).unlink()
            problem = message(
                "checkpoint.arrived-damaged",
                "{checkpoint}: {file} was damaged on the way. Run the command again to fetch it "
                "again.",
                checkpoint=name,
                file=file,
            )
            raise _refusal(problem)
        lines.append(f"{actual}  {file}\n")
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # of the hub's client
    (folder / places.SUMS).write_text("".join(lines), encoding="utf-8")


class _Hub:
    """Turn errors of the hub and the network into refusals."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> None:
        if error is None or not isinstance(error, Exception):
            return
        raise _refusal(_problem(self.name, error)) from error


def _not_a_name(name: str) -> Message:
    return message(
        "checkpoint.not-a-name",
        "{name} is not a name on the hub, such as facebook/bart-large-mnli.",
        name=name,
    )


def _problem(name: str, error: Exception) -> Message:
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return message(
            "checkpoint.gated",
            "{checkpoint} is gated. Accept its licence on the hub, then set HF_TOKEN.",
            checkpoint=name,
        )
    if isinstance(error, errors.RepositoryNotFoundError):
        return message(
            "checkpoint.not-on-hub",
            "The hub has no {checkpoint}, or it is private. For a private one set HF_TOKEN.",
            checkpoint=name,
        )
    if isinstance(error, errors.OfflineModeIsEnabled):
        return message(
            "checkpoint.offline",
            "HF_HUB_OFFLINE is set. Run: HF_HUB_OFFLINE=0 python manage.py models --fetch "
            "{checkpoint}",
            checkpoint=name,
        )
    if isinstance(error, errors.HFValidationError):
        return _not_a_name(name)
    if full := disk.refusal(error, places.models_folder() or Path(name)):
        return message(
            "checkpoint.disk-full",
            "{problem} The files that have arrived are used by the next fetch.",
            problem=full,
        )
    return message(
        "checkpoint.hub-unreachable",
        "The hub cannot be reached from this machine ({error}). Fetch {checkpoint} on a machine "
        "that can reach it, and copy the folder below TOUCHSTONE_MODELS to this one.",
        error=reason_of(error),
        checkpoint=name,
    )


def _refusal(problem: Message) -> MetricError:
    return MetricError(problem, permanent=True)
