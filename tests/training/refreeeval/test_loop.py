"""An update: the same gradient in one part, in several, recomputed, and over processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers.models.bert.modeling_bert import BertLayer

from benchmarks.gpu import small
from training.parallel.reading import write_pairs
from training.refreeeval import data, loop, processes
from training.refreeeval.data import examples, prepare
from training.refreeeval.levels import Level, SentenceLevel, WordLevel
from training.refreeeval.student import Student
from training.refreeeval.train import make_metric

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def calm(tmp_path_factory, corpus) -> str:
    """An encoder without dropout."""
    texts = [text for pair in corpus.pairs for text in pair]
    rates = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return str(small.bert(tmp_path_factory.mktemp("calm") / "bert", texts, **rates))


@pytest.fixture
def gradient(recipe, corpus, calm, tmp_path, monkeypatch) -> Callable[..., list[torch.Tensor]]:
    """The gradient of the first update under some settings."""

    def compute(name: str = "sentence", **changes) -> list[torch.Tensor]:
        chosen = recipe(encoder=calm, steps=1, evaluate_every=1, **changes)
        prepared = prepare([corpus], chosen)
        student = Student(chosen.encoder, 2, 48, checkpointing=chosen.checkpointing)
        held, _ = examples(prepared.validation, chosen)
        level: Level = WordLevel(student, chosen, prepared.train, held)
        if name == "sentence":
            found, _ = examples(prepared.train, chosen)
            cosines = data.teacher_cosines(chosen.teacher, found, tmp_path)
            level = SentenceLevel(student, chosen, found, held, cosines)
        level.clip = None
        noted: list[torch.Tensor] = []
        monkeypatch.setattr(torch.optim.AdamW, "step", lambda self: noted.extend(read(student)))
        number = len(list(tmp_path.iterdir()))
        loop.train(level, student, chosen, tmp_path / str(number), lambda progress: None)
        return noted

    return compute


def read(student: Student) -> list[torch.Tensor]:
    parameters = student.model.parameters()
    return [each.grad.clone() for each in parameters if each.grad is not None]


def test_layers_computed_again_take_no_attention_that_plans_for_every_shape(
    gradient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are computed within the backward pass, when the first forward pass has ended."""
    allowed: list[bool] = []
    forward = BertLayer.forward

    def record(self: BertLayer, *given, **named):
        if self.training:
            allowed.append(torch.backends.cuda.cudnn_sdp_enabled())
        return forward(self, *given, **named)

    monkeypatch.setattr(BertLayer, "forward", record)
    gradient(checkpointing=False)
    n_once = len(allowed)
    gradient(checkpointing=True)
    assert len(allowed) > 2 * n_once > 0
    assert not any(allowed)


@pytest.mark.parametrize("level", ["sentence", "word"])
@pytest.mark.parametrize("change", [{"accumulation": 3}, {"checkpointing": True}])
def test_parts_and_recomputing_give_the_same_gradient(gradient, level, change):
    whole, other = gradient(level), gradient(level, **change)
    assert sum(each.abs().sum() for each in whole) > 0
    for left, right in zip(whole, other, strict=True):
        torch.testing.assert_close(left, right, atol=1e-6, rtol=1e-4)


# Processes that hold different weights are noticed; then they train as `-m training.refreeeval`.
# All in one group: a second one finds the keys of the first still in torchrun's store. What only
# scikit-learn brings is never loaded (extensions.neural).
SCRIPT = """
import contextlib, runpy, sys, torch
from training.contract import JobError
from training.refreeeval import processes
joined = processes.joined

@contextlib.contextmanager
def checked():
    with joined():
        model = torch.nn.Linear(2, 2)
        torch.nn.init.ones_(model.weight)
        torch.nn.init.ones_(model.bias)
        processes.check_equal(model)
        torch.nn.init.constant_(model.bias, processes.rank())
        try:
            processes.check_equal(model)
        except JobError:
            print("noticed", flush=True)
        yield
        assert "transformers" in sys.modules and not {"sklearn", "pandas"} & set(sys.modules)

processes.joined = checked
runpy.run_module("training.refreeeval", run_name="__main__", alter_sys=True)
"""


def test_two_processes_train_as_one(recipe, corpus, calm, tmp_path):
    """Gradients are summed, so that without dropout nothing depends on how many there are."""
    text = tmp_path / "corpus.tsv"
    text.write_bytes(write_pairs(corpus.pairs))
    chosen = recipe(encoder=calm, variant="full", batch=5, steps=3)
    settings = tmp_path / "recipe.json"
    settings.write_text(json.dumps(chosen.as_json()))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", script]
    given = ["--corpus", f"{text}:de:en", "--recipe", settings, "--output", tmp_path / "two"]
    done = subprocess.run(
        [sys.executable, *map(str, [*torchrun, *given])],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "two") in done.stdout
    assert done.stdout.count("noticed") == 2, done.stderr
    alone = make_metric(chosen, [corpus], tmp_path / "one", lambda progress: None)
    expected = load_file(alone.folder / "model.safetensors")
    found = load_file(tmp_path / "two" / "metric-1" / "model.safetensors")
    before = load_file(Path(calm) / "model.safetensors")
    name = "encoder.layer.0.output.dense.weight"
    assert (found[name] - before[name]).abs().max() > 1e-4
    for key, values in expected.items():
        torch.testing.assert_close(found[key], values, atol=2e-5, rtol=1e-3)
    manifest = json.loads((tmp_path / "two" / "metric-1" / "manifest.json").read_text())
    assert manifest["machine"]["processes"] == 2


def test_alone_there_is_one_process():
    assert (processes.rank(), processes.world()) == (0, 1)
    assert processes.first_alone(lambda: 7) == 7
