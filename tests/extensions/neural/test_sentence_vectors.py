"""Sentence vectors against sentence-transformers itself, and the parts that are refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer, models

from benchmarks.gpu import small
from extensions.neural.sentence_vectors import SentenceEncoder, cosine
from metrics.base import MetricError
from tests.extensions.neural.checkpoints.test_bertscore import Run
from tests.extensions.neural.reference_free import TEXTS, read_check
from tests.refusals import refused

LONG = "harbour " * 300


def save(encoder: str, folder: Path, mode: Any, *more: torch.nn.Module, limit: int = 20) -> str:
    """A directory as sentence-transformers saves it."""
    transformer = models.Transformer(encoder, max_seq_length=limit)
    pooling = models.Pooling(transformer.get_word_embedding_dimension(), pooling_mode=mode)
    SentenceTransformer(modules=[transformer, pooling, *more], device="cpu").save(str(folder))
    return str(folder)


def test_cosine(data_dir: Path) -> None:
    check = read_check(data_dir, "C10")
    value = cosine(*(np.array(check["inputs"][key]) for key in "xy"))
    assert value == pytest.approx(check["expected"]["cos"], abs=check["tolerance"])
    assert 1 - value == pytest.approx(check["expected"]["distance"], abs=check["tolerance"])


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("mode", ["mean", "cls", "max", "mean_sqrt_len_tokens"])
def test_equal_to_sentence_transformers(xlmr: str, tmp_path: Path, mode: str) -> None:
    folder = save(xlmr, tmp_path / "model", mode)
    texts = [*TEXTS, LONG]
    theirs = SentenceTransformer(folder, device="cpu").encode(texts)
    ours = SentenceEncoder(folder).encode(texts)
    np.testing.assert_allclose([ours[text] for text in texts], theirs, atol=1e-5)


@pytest.mark.usefixtures("fresh")
def test_the_first_word_of_roberta_is_cut_without_a_space(tmp_path: Path) -> None:
    """bert-score puts a space before it, sentence-transformers does not."""
    encoder = str(small.roberta(tmp_path / "roberta", TEXTS * 4))
    folder = save(encoder, tmp_path / "model", "mean")
    theirs = SentenceTransformer(folder, device="cpu").encode(TEXTS)
    ours = SentenceEncoder(folder).encode(TEXTS)
    np.testing.assert_allclose([ours[text] for text in TEXTS], theirs, atol=1e-5)


@pytest.mark.usefixtures("fresh")
def test_dense_and_normalised(mbert: str, tmp_path: Path) -> None:
    torch.manual_seed(8)
    more = models.Dense(32, 16, activation_function=torch.nn.Tanh()), models.Normalize()
    folder = save(mbert, tmp_path / "model", "mean", *more)
    theirs = SentenceTransformer(folder, device="cpu").encode(TEXTS)
    ours = SentenceEncoder(folder).encode(TEXTS)
    np.testing.assert_allclose([ours[text] for text in TEXTS], theirs, atol=1e-5)


@pytest.mark.usefixtures("fresh")
def test_a_plain_encoder_gives_means(xlmr: str) -> None:
    transformer = models.Transformer(xlmr)
    pooling = models.Pooling(transformer.get_word_embedding_dimension(), pooling_mode="mean")
    theirs = SentenceTransformer(modules=[transformer, pooling], device="cpu").encode(TEXTS)
    ours = SentenceEncoder(xlmr).encode(TEXTS)
    np.testing.assert_allclose([ours[text] for text in TEXTS], theirs, atol=1e-5)


@pytest.mark.usefixtures("fresh")
def test_every_part_is_in_the_signature(xlmr: str, tmp_path: Path) -> None:
    """Also where the transformer lies in a folder of its own."""
    folder = Path(save(xlmr, tmp_path / "model", "mean"))
    listed = json.loads((folder / "modules.json").read_text())
    inner = folder / "0_Transformer"
    inner.mkdir()
    for file in folder.glob("*"):
        if file.is_file() and "sentence_transformers" not in file.name:
            file.rename(inner / file.name)
    listed[0]["path"] = inner.name
    (folder / "modules.json").write_text(json.dumps(listed))
    (folder / "config.json").write_text("{}")
    before = SentenceEncoder(str(folder)).fields()
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text(pooling.read_text().replace("mean", "max"))
    assert before["checkpoint"] == str(folder)
    assert SentenceEncoder(str(folder)).fields() != before


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("name", "change", "code", "facts"),
    [
        ("modules.json", {1: {"type": "x.models.LSTM"}}, "part", {"part": "LSTM"}),
        ("modules.json", {0: {"type": "x.models.CLIP"}}, "first-part", {"part": "CLIP"}),
        (
            "1_Pooling/config.json",
            {"pooling_mode": "lasttoken"},
            "pooling",
            {"modes": ["lasttoken"]},
        ),
        ("config_sentence_transformers.json", {"default_prompt_name": "query"}, "prompt", {}),
    ],
)
def test_what_is_not_known_is_refused(
    xlmr: str,
    tmp_path: Path,
    name: str,
    change: dict[Any, Any],
    code: str,
    facts: dict[str, Any],
) -> None:
    path = Path(save(xlmr, tmp_path / "model", "mean")) / name
    settings = json.loads(path.read_text())
    if isinstance(settings, list):
        for place, fields in change.items():
            settings[place] |= fields
    else:
        settings |= change
    path.write_text(json.dumps(settings))
    with refused(f"sentence-encoder.{code}", kind=MetricError, **facts) as caught:
        SentenceEncoder(str(tmp_path / "model"))
    assert caught.value.permanent


@pytest.mark.usefixtures("fresh")
def test_a_pickle_in_a_part_is_never_run(mbert: str, tmp_path: Path) -> None:
    save(mbert, tmp_path / "model", "mean", models.Dense(32, 16))
    dense = tmp_path / "model" / "2_Dense"
    (dense / "model.safetensors").unlink()
    torch.save({"linear.weight": Run(tmp_path / "was-run")}, dense / "pytorch_model.bin")
    with refused("sentence-encoder.part-not-loaded", kind=MetricError, part="2_Dense"):
        SentenceEncoder(str(tmp_path / "model"))
    assert not (tmp_path / "was-run").exists()


@pytest.mark.usefixtures("fresh")
def test_a_settings_file_that_is_not_json(xlmr: str, tmp_path: Path) -> None:
    folder = save(xlmr, tmp_path / "model", "mean")
    (tmp_path / "model" / "modules.json").write_text("[")
    with refused("file.not-json", kind=MetricError, path=str(tmp_path / "model" / "modules.json")):
        SentenceEncoder(folder)
