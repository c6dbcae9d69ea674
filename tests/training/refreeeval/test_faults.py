"""What can go wrong in a training: it ends with a sentence, and what was whole stays whole."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.small_disk import SmallDisk
from tests.training.doing import parts_of, refused
from training.contract import Corpus, JobError, StoppedError
from training.jobs.saving import current
from training.refreeeval import loop
from training.refreeeval.data import prepare
from training.refreeeval.levels import Validation, WordLevel
from training.refreeeval.train import make_metric, take


def quiet(progress: dict[str, Any]) -> None:
    """Nobody watches."""


def test_a_loss_that_is_no_number_stops_with_its_batch(recipe, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(
        WordLevel,
        "loss",
        lambda self, places: (torch.tensor(float("nan"), requires_grad=True), {"word": 0.0}),
    )
    with refused("refreeeval.loss-undefined", update=1):
        make_metric(recipe(variant="word-level"), [corpus], tmp_path, quiet)
    saved = json.loads((tmp_path / "word" / "batch-without-loss.json").read_text())
    assert len(saved["places"]) == 5


def test_weights_that_are_no_numbers_are_not_kept(recipe, corpus, tmp_path):
    """The last update may spoil them: nothing is learned from a batch after it."""
    chosen = recipe(variant="fluency", rate=1e38, warmup=0, steps=1, evaluate_every=1)
    reports: list[dict[str, Any]] = []
    with refused("refreeeval.loss-undefined", update=1):
        make_metric(chosen, [corpus], tmp_path, reports.append)
    assert "NaN" not in json.dumps(reports)
    kept = current(tmp_path / "sentence", "last")
    assert json.loads((kept / "meta.json").read_text())["step"] == 0


class Full:
    """Takes the room away at an update."""

    def __init__(self, disk: SmallDisk, n_left: int) -> None:
        self.disk, self.n_left, self.is_full = disk, n_left, False

    def __call__(self, progress: dict[str, Any]) -> None:
        if progress["step"] == 3 and not self.is_full:
            self.disk.leave(self.n_left)
            self.is_full = True


@pytest.mark.parametrize("share", [0.2, 1.2], ids=["weights", "optimizer"])
def test_a_full_disk_leaves_the_old_checkpoint_whole(
    recipe, corpus, small_disk, tmp_path, monkeypatch, share
):
    """Where the weights do not fit, and where they do but the optimizer's state does not; once
    there is room, the training goes on to what it would have become."""
    monkeypatch.setattr(loop, "REPORT_SECONDS", 0)
    chosen = recipe(variant="word-level")
    weights = sum(each.stat().st_size for each in Path(chosen.encoder).glob("*.safetensors"))
    full = Full(small_disk, int(share * weights))
    monkeypatch.setattr(WordLevel, "validate", lambda self: Validation(1.0, [False]))
    with pytest.raises(JobError) as stopped:
        make_metric(chosen, [corpus], small_disk.folder / "job", full)
    reason, consequence = parts_of(stopped.value.message)
    assert reason.code == small_disk.code
    assert consequence.code == "saving.checkpoint-kept"
    assert consequence.parameters["before"] == "last-2"
    word = small_disk.folder / "job" / "word"
    kept = current(word, "last")
    assert json.loads((kept / "meta.json").read_text())["step"] == 2
    assert [each.name for each in word.glob("last-*")] == ["last-2"]
    small_disk.leave(100 * weights)
    resumed = make_metric(chosen, [corpus], small_disk.folder / "job", quiet)
    whole = make_metric(chosen, [corpus], tmp_path / "whole", quiet)
    left, right = (load_file(each.folder / "model.safetensors") for each in (resumed, whole))
    assert all(torch.equal(left[name], right[name]) for name in right)


@pytest.mark.parametrize("name", ["training.json.partial", "teacher"])
def test_what_else_is_written_says_so_too(recipe, corpus, small_disk, name):
    """The note of what is trained, and the cosines of the sentence encoder."""
    folder = small_disk.folder / "job"
    chosen = recipe(sample=60)
    if name == "teacher":
        folder.mkdir()
        take(
            folder,
            {"recipe": chosen.as_json(), "data_hash": prepare([corpus], chosen).data_hash},
        )
    small_disk.leave(100)
    with refused(small_disk.code):
        make_metric(chosen, [corpus], folder, quiet)
    assert not list(folder.rglob("*.partial"))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"encoder": "/nowhere"}, "checkpoint.not-in-folder"),
        ({"layer": 7}, "refreeeval.too-few-layers"),
        ({"teacher": "missing/model"}, "checkpoint.missing"),
    ],
)
def test_what_cannot_be_trained_says_why(recipe, corpus, tmp_path, changes, code):
    with refused(code, kind=JobError):
        make_metric(recipe(**changes), [corpus], tmp_path, quiet)


def test_a_folder_holds_one_training(recipe, corpus, tmp_path):
    make_metric(recipe(variant="word-level", steps=1), [corpus], tmp_path, quiet)
    with refused("job.other-training"):
        make_metric(recipe(variant="word-level", steps=2), [corpus], tmp_path, quiet)


def test_too_little_data(recipe, corpus, tmp_path):
    few = Corpus("few", "de", "en", corpus.pairs[:7], "2")
    with refused("refreeeval.too-few-pairs", n=7):
        make_metric(recipe(), [few], tmp_path, quiet)


def test_texts_that_cannot_be_perturbed(recipe, tmp_path):
    """One token a side: there is no other order."""
    words = Corpus("words", "de", "en", [(f"Wort{n}", f"word{n}") for n in range(40)], "4")
    with refused("refreeeval.too-few-perturbed"):
        make_metric(recipe(), [words], tmp_path, quiet)


@pytest.mark.parametrize("role", ["encoder", "teacher"])
def test_a_checkpoint_without_a_tokenizer(recipe, corpus, encoder, tmp_path, role):
    folder = tmp_path / "bare"
    shutil.copytree(encoder, folder)
    for name in ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink()
    with refused("encoder.not-loaded", kind=JobError):
        make_metric(recipe(**{role: str(folder)}), [corpus], tmp_path / "job", quiet)


def stop_after_three(progress: dict[str, Any]) -> None:
    if progress["level"] == "sentence" and progress["step"] >= 3:
        raise StoppedError


@pytest.fixture
def stopped(recipe, corpus, tmp_path, monkeypatch) -> Path:
    """The folder of a training that was stopped."""
    monkeypatch.setattr(loop, "REPORT_SECONDS", 0)
    with pytest.raises(StoppedError):
        make_metric(recipe(), [corpus], tmp_path / "job", stop_after_three)
    return tmp_path / "job"


@pytest.mark.parametrize("name", ["state.pt", "model.safetensors"])
@pytest.mark.parametrize("size", [0, 50])
def test_a_checkpoint_that_the_disk_damaged_says_what_to_do(recipe, corpus, stopped, name, size):
    (file,) = (stopped / "sentence").glob(f"last-*/{name}")
    file.write_bytes(file.read_bytes()[:size])
    with refused("refreeeval.checkpoint-unreadable", folder=str(stopped / "sentence")):
        make_metric(recipe(), [corpus], stopped, quiet)
    shutil.rmtree(stopped / "sentence")
    assert make_metric(recipe(), [corpus], stopped, quiet).folder.is_dir()


def test_cosines_that_the_disk_damaged_are_computed_again(recipe, corpus, stopped):
    (file,) = stopped.glob("teacher-*.npy")
    whole = file.read_bytes()
    file.write_bytes(whole[:60])
    make_metric(recipe(), [corpus], stopped, quiet)
    assert file.read_bytes() == whole


def test_a_pointer_that_a_power_cut_emptied_is_none(stopped):
    (stopped / "sentence" / "last.current").write_text("")
    assert current(stopped / "sentence", "last") is None


def test_a_folder_that_is_a_file(recipe, corpus, tmp_path):
    (tmp_path / "job").write_text("")
    with refused("disk.not-writable", JobError):
        make_metric(recipe(), [corpus], tmp_path / "job", quiet)


def test_one_pair(recipe, corpus, tmp_path):
    one = Corpus("one", "de", "en", corpus.pairs[:1], "2")
    with refused("refreeeval.too-few-pairs", n=1, fewest=20):
        make_metric(recipe(), [one], tmp_path, quiet)
