"""What can go wrong in a training: it ends with a sentence, and what was whole stays whole."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from training.kinds import Corpus, JobError
from training.refreeeval.levels import WordLevel
from training.refreeeval.student import Student
from training.refreeeval.train import make_metric
from training.saving import current


def quiet(progress: dict[str, Any]) -> None:
    """Nobody watches."""


def test_a_loss_that_is_no_number_stops_with_its_batch(recipe, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(
        WordLevel, "loss", lambda self, places: (torch.tensor(float("nan")), {"word": 0.0})
    )
    with pytest.raises(JobError, match="update 1 is no number"):
        make_metric(recipe(variant="word-level"), [corpus], tmp_path, quiet)
    saved = json.loads((tmp_path / "word" / "batch-without-loss.json").read_text())
    assert len(saved["places"]) == 5


def test_weights_that_are_no_numbers_are_not_kept(recipe, corpus, tmp_path):
    """The last update may spoil them: nothing is learned from a batch after it."""
    chosen = recipe(variant="fluency", rate=1e38, warmup=0, steps=1, evaluate_every=1)
    told: list[dict[str, Any]] = []
    with pytest.raises(JobError, match="update 1 is no number"):
        make_metric(chosen, [corpus], tmp_path, told.append)
    assert "NaN" not in json.dumps(told)
    kept = current(tmp_path / "sentence", "last")
    assert json.loads((kept / "meta.json").read_text())["step"] == 0


def test_a_full_disk_leaves_the_old_checkpoint_whole(recipe, corpus, tmp_path, monkeypatch):
    def full(self: Student, folder: Path, meta: dict[str, Any]) -> None:
        if meta["step"] >= 4:
            (folder / "half").write_text("x")
            raise OSError(28, "No space left on device")
        original(self, folder, meta)

    original = Student.save
    monkeypatch.setattr(Student, "save", full)
    with pytest.raises(JobError, match=r"No space left.*is whole"):
        make_metric(recipe(variant="word-level"), [corpus], tmp_path, quiet)
    kept = current(tmp_path / "word", "last")
    assert json.loads((kept / "meta.json").read_text())["step"] == 2
    assert not list((tmp_path / "word").rglob("half"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder": "/nowhere"}, "no checkpoint in /nowhere"),
        ({"layer": 7}, "has 3 layers, not 7"),
        ({"teacher": "missing/model"}, "missing/model is not on this machine"),
    ],
)
def test_what_cannot_be_trained_says_why(recipe, corpus, tmp_path, changes, message):
    with pytest.raises(JobError, match=message):
        make_metric(recipe(**changes), [corpus], tmp_path, quiet)


def test_a_folder_holds_one_training(recipe, corpus, tmp_path):
    make_metric(recipe(variant="word-level", steps=1), [corpus], tmp_path, quiet)
    with pytest.raises(JobError, match="other settings"):
        make_metric(recipe(variant="word-level", steps=2), [corpus], tmp_path, quiet)


def test_too_little_data(recipe, corpus, tmp_path):
    few = Corpus("few", "de", "en", corpus.pairs[:7], "2")
    with pytest.raises(JobError, match="7 pairs are too few"):
        make_metric(recipe(), [few], tmp_path, quiet)


def test_texts_that_cannot_be_perturbed(recipe, tmp_path):
    """One token a side: there is no other order."""
    words = Corpus("words", "de", "en", [(f"Wort{n}", f"word{n}") for n in range(40)], "4")
    with pytest.raises(JobError, match="more parallel text"):
        make_metric(recipe(), [words], tmp_path, quiet)
