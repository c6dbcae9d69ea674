"""BLEURT against bleurt-pytorch itself, on a small checkpoint in its format."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from benchmarks.gpu import small
from extensions.neural.checkpoints.bleurt import Bleurt
from extensions.neural.encoding import encoders
from metrics.base import MetricError, SegmentInput, one_measure
from tests.extensions.neural.checkpoints.test_bertscore import TEXTS, Run
from tests.refusals import refused

INPUTS = [SegmentInput("", left, (right,)) for left in TEXTS for right in TEXTS[:2]]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.bleurt(tmp_path_factory.mktemp("bleurt") / "small", TEXTS * 4)


@pytest.fixture(autouse=True)
def _no_resident_models() -> None:
    encoders.forget()


def make(checkpoint: Path | str) -> Bleurt:
    info = one_measure(
        "small",
        "Small",
        needs_source=False,
        needs_reference=True,
        queue="gpu",
        family="bleurt",
        checkpoint=str(checkpoint),
    )
    return Bleurt(info, source_language="en", target_language="zh")


def official(checkpoint: Path, reference: str, output: str, longest: int = 512) -> float:
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

    model = BleurtForSequenceClassification.from_pretrained(checkpoint).eval()
    tokenizer = BleurtTokenizer.from_pretrained(checkpoint)
    inputs = tokenizer(reference, output, return_tensors="pt", truncation=True, max_length=longest)
    with torch.no_grad():
        return float(model(**inputs).logits.flatten())


def test_equal_to_bleurt_pytorch(checkpoint: Path) -> None:
    ours = make(checkpoint).score(INPUTS)
    theirs = [official(checkpoint, each.references[0], each.hypothesis) for each in INPUTS]
    assert np.ptp(ours) > 1e-4
    np.testing.assert_allclose(ours[:, 0], theirs, atol=1e-5)


# BLEURT-20-D12, -D6 and -D3 are distilled: fewer layers, which may be as wide as the embeddings;
# the first BLEURT had no projection of the embeddings.
@pytest.mark.parametrize(
    "sizes",
    [
        {"layers": 2, "embedding_size": 8, "hidden_size": 48, "intermediate_size": 96},
        {"layers": 1, "embedding_size": 32},
        {"layers": 2, "embedding_size": None},
    ],
)
def test_equal_whatever_the_shape(tmp_path: Path, sizes: dict[str, Any]) -> None:
    folder = small.bleurt(tmp_path / "model", TEXTS * 4, **sizes)
    ours = make(folder).score(INPUTS)
    theirs = [official(folder, each.references[0], each.hypothesis) for each in INPUTS]
    assert np.ptp(ours) > 1e-5
    np.testing.assert_allclose(ours[:, 0], theirs, atol=1e-5)


def test_a_pair_is_cut_to_the_positions_that_there_are(tmp_path: Path) -> None:
    folder = small.bleurt(tmp_path / "model", TEXTS * 4, layers=1, max_position_embeddings=16)
    ours = make(folder).score(INPUTS[:3])
    theirs = [official(folder, each.references[0], each.hypothesis, 16) for each in INPUTS[:3]]
    np.testing.assert_allclose(ours[:, 0], theirs, atol=1e-5)


def test_several_references_are_averaged(checkpoint: Path) -> None:
    metric = make(checkpoint)
    both = metric.score([SegmentInput("", TEXTS[0], (TEXTS[1], TEXTS[2]))])
    alone = metric.score([SegmentInput("", TEXTS[0], (TEXTS[n],)) for n in (1, 2)])
    assert both[0, 0] == pytest.approx(alone.mean(), abs=1e-5)


def test_values_do_not_depend_on_the_batch(checkpoint: Path) -> None:
    metric = make(checkpoint)
    together = metric.score(INPUTS)
    metric.loaded.budget = 1
    np.testing.assert_allclose(metric.score(INPUTS), together, atol=1e-5)


def test_out_of_memory_halves_the_batch(checkpoint: Path) -> None:
    metric = make(checkpoint)
    expected, forward = metric.score(INPUTS), metric.loaded.model.forward
    failed: list[int] = []

    def small_memory(**tokens: torch.Tensor) -> object:
        if len(tokens["input_ids"]) > 3:
            failed.append(len(tokens["input_ids"]))
            raise torch.cuda.OutOfMemoryError
        return forward(**tokens)

    metric.loaded.model.forward = small_memory
    np.testing.assert_allclose(metric.score(INPUTS), expected, atol=1e-5)
    assert 0 < len(failed) < 5


def test_the_model_stays_in_memory(checkpoint: Path) -> None:
    assert make(checkpoint).loaded is make(checkpoint).loaded


def test_the_signature_changes_with_the_files(tmp_path: Path) -> None:
    folder = small.bleurt(tmp_path / "model", TEXTS * 4)
    first = make(folder)
    weights = load_file(folder / "model.safetensors")
    weights["classifier.bias"] += 1
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    retrained = make(folder)
    assert "|weights:" in first.signature()
    assert retrained.signature() != first.signature()
    np.testing.assert_allclose(retrained.score(INPUTS), first.score(INPUTS) + 1, atol=1e-5)


@pytest.mark.parametrize("lost", ["classifier.bias", "bleurt.pooler.dense.weight"])
def test_weights_that_are_not_there_are_not_made_up(tmp_path: Path, lost: str) -> None:
    folder = small.bleurt(tmp_path / "model", TEXTS * 4)
    weights = load_file(folder / "model.safetensors")
    del weights[lost]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with refused("checkpoint.weights-missing", kind=MetricError, count=1, name=lost):
        make(folder)


def test_a_model_of_another_class(tmp_path: Path) -> None:
    """It has a tokenizer and weights, but no classifier."""
    folder = small.bert(tmp_path / "bert", TEXTS)
    with refused(
        "checkpoint.weights-missing", kind=MetricError, count=2, name="classifier.bias"
    ) as caught:
        make(folder)
    assert caught.value.permanent


def test_a_missing_tokenizer(tmp_path: Path) -> None:
    folder = small.bleurt(tmp_path / "model", TEXTS * 4)
    (folder / "spm.model").unlink()
    with refused("bleurt.not-loaded", kind=MetricError, error="checkpoint.no-tokenizer"):
        make(folder)
    (folder / "spm.model").write_bytes(b"\n\x0e\n")
    with refused("bleurt.not-loaded", kind=MetricError, error="checkpoint.tokenizer-unreadable"):
        make(folder)


def test_truncated_weights(tmp_path: Path) -> None:
    weights = small.bleurt(tmp_path / "model", TEXTS * 4) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with refused("bleurt.not-loaded", kind=MetricError):
        make(tmp_path / "model")


def test_a_pickle_is_never_run(tmp_path: Path) -> None:
    folder = small.bleurt(tmp_path / "model", TEXTS * 4)
    (folder / "model.safetensors").unlink()
    torch.save({"weights": Run(tmp_path / "was-run")}, folder / "pytorch_model.bin")
    with refused("bleurt.not-loaded", kind=MetricError):
        make(folder)
    assert not (tmp_path / "was-run").exists()


def test_empty_and_endless_texts_have_scores(checkpoint: Path) -> None:
    texts = ["", "?!", "harbour " * 10_000]
    rows = make(checkpoint).score([SegmentInput("", text, (TEXTS[0],)) for text in texts])
    assert np.isfinite(rows).all()


def test_a_missing_checkpoint_says_how_to_get_it() -> None:
    with refused("checkpoint.missing", kind=MetricError, checkpoint="lucadiliello/BLEURT-20"):
        make("lucadiliello/BLEURT-20")
