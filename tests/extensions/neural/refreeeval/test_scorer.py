"""ReFreeEval loads what training saves and what was released, and nothing that is not there."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from benchmarks.gpu import small
from metrics.base import MetricError
from tests.extensions.neural.reference_free import INPUTS, TEXTS, make
from tests.refusals import refused

ABSENT = "encoder.layer.2."


@pytest.fixture
def trained(xlmr: str, tmp_path: Path) -> Path:
    """A directory as training writes it."""
    folder = tmp_path / "trained"
    shutil.copytree(xlmr, folder)
    (folder / "meta.json").write_text(json.dumps({"layer": 2}))
    return folder


def drop(folder: Path, start: str, *, pickled: bool = False, prefix: str = "") -> None:
    """Remove weights from a checkpoint, as the released ones lack their upper layers."""
    path = folder / "model.safetensors"
    kept = {
        prefix + name: value
        for name, value in load_file(path).items()
        if not name.startswith(start)
    }
    path.unlink()
    if pickled:
        torch.save(kept, folder / "pytorch_model.bin")
    else:
        save_file(kept, path, metadata={"format": "pt"})


@pytest.mark.usefixtures("fresh")
def test_f1_at_the_layer_that_was_trained(trained: Path, xlmr: str) -> None:
    metric = make("refreeeval", checkpoint=str(trained))
    assert metric.info.table_measures == ("small-f",)
    expected = make("xbertscore", checkpoint=xlmr, layer=2).score(INPUTS)
    np.testing.assert_allclose(metric.score(INPUTS), expected, atol=1e-5)
    assert "layer:2" in metric.signature()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(("pickled", "prefix"), [(False, ""), (True, ""), (True, "roberta.")])
def test_layers_above_may_be_missing(trained: Path, xlmr: str, pickled: bool, prefix: str) -> None:
    drop(trained, ABSENT, pickled=pickled, prefix=prefix)
    metric = make("refreeeval", checkpoint=str(trained))
    assert metric.encoder.n_layers == 2 + 1  # type: ignore[attr-defined]
    values = metric.score(INPUTS)
    expected = make("xbertscore", checkpoint=xlmr, layer=2).score(INPUTS)
    np.testing.assert_allclose(values, expected, atol=1e-5)


@pytest.mark.usefixtures("fresh")
def test_a_layer_that_is_needed_may_not(trained: Path) -> None:
    drop(trained, "encoder.layer.1.")
    with pytest.raises(MetricError) as caught:
        make("refreeeval", checkpoint=str(trained))
    assert caught.value.message.code == "checkpoint.weights-missing"


@pytest.mark.usefixtures("fresh")
def test_weights_of_another_model_are_not_taken_for_random_ones(trained: Path) -> None:
    drop(trained, ABSENT, prefix="student.")
    with pytest.raises(MetricError) as caught:
        make("refreeeval", checkpoint=str(trained))
    assert caught.value.message.code == "checkpoint.weights-missing"


@pytest.mark.usefixtures("fresh")
def test_without_meta_the_layer_is_that_of_the_released_models(tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "released", TEXTS, layers=10)
    assert make("refreeeval", checkpoint=str(folder)).info.option("layer") == 9


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *((text, "no-layer") for text in ("{", "{}", "[]")),
        *((f'{{"layer": {value}}}', "wrong-layer") for value in ('"nine"', "true", "0")),
    ],
)
def test_a_meta_that_names_no_layer(trained: Path, text: str, code: str) -> None:
    (trained / "meta.json").write_text(text)
    with refused("option.problem", kind=ValueError, problem=f"refreeeval.{code}"):
        make("refreeeval", checkpoint=str(trained))


def test_a_layer_that_the_encoder_lacks(trained: Path) -> None:
    (trained / "meta.json").write_text('{"layer": 7}')
    with refused(
        "option.problem", kind=ValueError, option="layer", problem="checkpoint.layers", last=3
    ):
        make("refreeeval", checkpoint=str(trained))
