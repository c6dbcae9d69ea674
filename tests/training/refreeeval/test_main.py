"""The command line: errors, and continuing in a folder."""

import sys
from pathlib import Path

import pytest

from metaeval.messages import message
from tests.refusals import has
from training.jobs.saving import locked
from training.parallel.reading import write_pairs
from training.refreeeval import __main__ as command


@pytest.fixture
def call(monkeypatch, corpus, tmp_path):
    text = tmp_path / "corpus.tsv"
    text.write_bytes(write_pairs(corpus.pairs))

    def run(*given: str, corpus: str = f"{text}:de:en") -> int:
        fixed = ["--corpus", corpus, "--output", str(tmp_path / "out")]
        monkeypatch.setattr(sys, "argv", ["training.refreeeval", *fixed, *given])
        return command.main()

    return run


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--set", "beta=1"], "beta"),
        (["--set", "layer=0"], "at least 1"),
        (["--recipe", "/nowhere.json"], "/nowhere.json"),
        (["--set", "encoder=/nowhere"], "checkpoint.not-in-folder"),
    ],
)
def test_wrong_settings_are_named(call, capsys, given, message):
    assert call(*given) == 1
    assert has(capsys.readouterr().err, message)


@pytest.mark.parametrize(
    ("name", "message"),
    [("text.tsv", "FILE:SOURCE:TARGET"), ("/no/text.tsv:de:en", "No such file")],
)
def test_wrong_text_is_named(call, capsys, name, message):
    assert call(corpus=name) == 1
    assert message in capsys.readouterr().err


def test_a_folder_in_use_is_refused_by_name(call, capsys, tmp_path):
    with locked(tmp_path / "out", message("test.other", "another job")):
        assert call() == 1
    assert f"{tmp_path}/out is in use by another job, process" in capsys.readouterr().err


def test_a_training_from_the_command_line(call, recipe, capsys, tmp_path):
    chosen = recipe(variant="sent-level").as_json()
    given = [part for name, value in chosen.items() for part in ("--set", f"{name}={value}")]
    assert call(*given) == 0
    shown = capsys.readouterr().out
    assert "corpus.tsv: 60 of 60 pairs" in shown
    assert "sentence 6/6" in shown
    metric = Path(shown.strip().split("The metric is in ")[1].rstrip("."))
    assert (metric / "model.safetensors").is_file()
    assert call(*given) == 0
    assert len(list((tmp_path / "out").glob("metric-*"))) == 1
