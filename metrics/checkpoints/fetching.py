"""Get a checkpoint from the hub into TOUCHSTONE_MODELS; only the command `models` does this.

What is fetched arrives under a name that nobody looks for, is compared with the hub's hashes, gets
a SHA256SUMS, and then takes its place at once: a fetch that breaks off leaves no half checkpoint.
"""

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from core import disk
from metrics.base import MetricError
from metrics.checkpoints import hashes, places

SUFFIXES = (".safetensors", ".bin", ".ckpt", ".json", ".yaml", ".txt", ".model")
# Weights for other runtimes, in the same repository.
OTHERS = {"onnx", "openvino", "coreml", "rust_model", "flax_model", "tf_model"}
BESIDES = ("training_args.bin", "optimizer.bin", "scheduler.bin")
Tell = Callable[[str], None]


def fetch(name: str, tell: Tell) -> Path:
    """Fetch a checkpoint and return its folder; MetricError with a sentence where it cannot be."""
    folder = places.models_folder()
    if folder is None:
        raise _refusal("Set TOUCHSTONE_MODELS to the folder that shall hold checkpoints.")
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise _refusal(f"{name} is no name on the hub, such as facebook/bart-large-mnli.")
    target = folder / name
    if target.exists():
        raise _refusal(f"{target} is there already. Move it away to fetch it again.")
    waiting = folder / ".fetching" / name.replace("/", "--")
    revision, files = _listing(name)
    tell(f"{name}: {len(files)} files, revision {revision[:12]}")
    _download(name, revision, files, waiting)
    _write_sums(name, waiting, files)
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(waiting, target)
    return target


def choose(names: Iterable[str]) -> list[str]:
    """Return the files of a repository that a checkpoint needs: each weight once, no code."""
    kept = [name for name in names if _is_wanted(Path(name))]
    folders = {Path(name).parent for name in kept if name.endswith(".safetensors")}
    return [name for name in kept if not _is_doubled(Path(name), folders)]


def _is_wanted(path: Path) -> bool:
    is_other = bool(OTHERS & set(path.parts)) or any(part.startswith(".") for part in path.parts)
    return path.suffix in SUFFIXES and path.name not in BESIDES and not is_other


def _is_doubled(path: Path, has_safetensors: set[Path]) -> bool:
    """Whether these weights are there as safetensors too, which need no unpickling."""
    is_pickled = path.name.startswith("pytorch_model")
    return is_pickled and path.suffix in (".bin", ".json") and path.parent in has_safetensors


def _listing(name: str) -> tuple[str, dict[str, str | None]]:
    """Return the newest revision, and the chosen files with the SHA-256 that the hub tells."""
    try:
        from huggingface_hub import HfApi
    except ModuleNotFoundError:
        message = "Fetching needs the package huggingface_hub: pip install -r requirements.txt"
        raise _refusal(message) from None
    with _Hub(name):
        info = HfApi().model_info(name, files_metadata=True)
    hashes = {file.rfilename: file.lfs.sha256 if file.lfs else None for file in info.siblings or []}
    chosen = choose(hashes)
    if not any(Path(file).name in ("config.json", "hparams.yaml") for file in chosen):
        raise _refusal(f"{name} holds neither config.json nor hparams.yaml: it is no checkpoint.")
    return str(info.sha), {file: hashes[file] for file in chosen}


def _download(name: str, revision: str, files: Iterable[str], target: Path) -> None:
    from huggingface_hub import snapshot_download

    with _Hub(name):
        snapshot_download(name, revision=revision, allow_patterns=list(files), local_dir=target)


def _write_sums(name: str, folder: Path, files: dict[str, str | None]) -> None:
    lines = []
    for file, told in sorted(files.items()):
        found = hashes.of_file(folder / file, again=True)
        if told and found != told:
            (folder / file).unlink()
            message = f"{name}: {file} arrived damaged. Start the command again to get it anew."
            raise _refusal(message)
        lines.append(f"{found}  {file}\n")
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # the hub client's own notes
    (folder / places.SUMS).write_text("".join(lines), encoding="utf-8")


class _Hub:
    """Turns what the hub and the network answer into a sentence."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> None:
        if error is None or not isinstance(error, Exception):
            return
        raise _refusal(_sentence(self.name, error)) from error


def _sentence(name: str, error: Exception) -> str:
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return f"{name} is gated: accept its licence on the hub, then set HF_TOKEN."
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"The hub has no {name}, or shows it only to those who set HF_TOKEN."
    if isinstance(error, errors.OfflineModeIsEnabled):
        return (
            f"HF_HUB_OFFLINE is set. Run: HF_HUB_OFFLINE=0 python manage.py models --fetch {name}"
        )
    if isinstance(error, errors.HFValidationError):
        return f"{name} is no name on the hub, such as facebook/bart-large-mnli."
    if full := disk.refusal(error, places.models_folder() or Path(name)):
        return f"{full} What has arrived waits there for the next fetch."
    return (
        f"The hub cannot be reached from here ({type(error).__name__}). Fetch {name} on a machine "
        "that reaches it, and copy the folder below TOUCHSTONE_MODELS to this one."
    )


def _refusal(message: str) -> MetricError:
    return MetricError(message, permanent=True)
