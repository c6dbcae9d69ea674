"""Checkpoints are whole or not there, on file systems that really are full."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from tests.small_disk import SmallDisk
from tests.training.doing import parts_of, refused
from training.contract import JobError
from training.jobs.saving import Stream, current, save_whole, write_whole

ROOM = 200_000
WEIGHTS = torch.zeros(100_000)  # 400 kB


def plain(folder: Path) -> None:
    (folder / "meta.json").write_text("x" * 400_000)


def by_numpy(folder: Path) -> None:
    np.savez(folder / "array.npz", array=WEIGHTS.numpy())


def by_safetensors(folder: Path) -> None:
    save_file({"weights": WEIGHTS}, folder / "model.safetensors")


def by_torch(folder: Path) -> None:
    with Stream(folder / "state.pt") as file:
        torch.save({"weights": WEIGHTS}, file)


def by_tokenizers(folder: Path) -> None:
    from tokenizers import Tokenizer, models

    vocabulary = {f"{n:020}": n for n in range(20_000)}
    Tokenizer(models.WordLevel(vocabulary, unk_token="0")).save(str(folder / "tokenizer.json"))


# numpy's archive complains once more when it is collected.
WRITERS = [plain, by_numpy, by_safetensors, by_torch, by_tokenizers]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("write", WRITERS)
def test_whoever_writes_a_full_disk_is_a_sentence(small_disk: SmallDisk, write) -> None:
    folder = small_disk.folder / "job"
    small_disk.leave(ROOM)
    with pytest.raises(JobError) as refused:
        save_whole(folder, "last", write, 400_000)
    reason, consequence = parts_of(refused.value.message)
    assert reason.code == small_disk.code
    assert reason.parameters["space"].parameters["needed"] == 0.4
    assert consequence.code == "saving.checkpoint"
    assert current(folder, "last") is None
    assert list(folder.iterdir()) == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("write", WRITERS)
def test_the_checkpoint_before_stays_whole(small_disk: SmallDisk, write) -> None:
    def small(folder: Path) -> None:
        (folder / "meta.json").write_text("good")

    first = save_whole(small_disk.folder, "last", small)
    small_disk.leave(ROOM)
    with refused("saving.checkpoint-kept", before="last-1"):
        save_whole(small_disk.folder, "last", write)
    assert current(small_disk.folder, "last") == first
    assert (first / "meta.json").read_text() == "good"
    assert {path.name for path in small_disk.folder.iterdir()} <= {
        "last-1", "last.current", "ballast",
    }  # fmt: skip


def test_a_file_is_whole_or_the_one_before(small_disk: SmallDisk) -> None:
    path = small_disk.folder / "cosines.npy"
    write_whole(path, lambda file: file.write(b"good"))
    small_disk.leave(ROOM)
    with refused(small_disk.code):
        write_whole(path, lambda file: file.write(bytes(400_000)))
    assert path.read_bytes() == b"good"
    assert not list(small_disk.folder.glob("*.partial"))


def test_a_folder_that_is_closed_is_named(tmp_path: Path) -> None:
    """A file where the folder should be: root may write everywhere else."""
    (tmp_path / "job").write_text("")
    with refused("disk.not-writable", JobError):
        save_whole(tmp_path / "job", "last", plain)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_what_was_interrupted_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    def interrupted(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise error

    with pytest.raises(error):
        save_whole(tmp_path, "last", interrupted)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """Half a checkpoint, and one that was replaced but not removed yet."""
    save_whole(tmp_path, "best", plain)
    save_whole(tmp_path, "last", plain)
    for left in ("last-9", "last-2"):
        (tmp_path / left).mkdir()
    made = save_whole(tmp_path, "last", plain)
    assert made == current(tmp_path, "last")
    assert {path.name for path in tmp_path.iterdir()} == {
        "best-1", "best.current", "last.current", made.name,
    }  # fmt: skip
