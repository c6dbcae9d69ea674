"""COSINE alone, mapped, and together with a language model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Tokenizer

from benchmarks.gpu.small import roberta
from extensions.neural.encoding import encoders
from extensions.neural.mover import mapping
from extensions.neural.mover.mapping import About, Mapping
from extensions.neural.sentence_vectors import SentenceEncoder, cosine
from metrics.base import MetricError, SegmentInput
from tests.extensions.neural.reference_free import INPUTS, OUTPUTS, SOURCES, TEXTS, make
from tests.refusals import refused

LONG = "harbour " * 300


@pytest.mark.usefixtures("fresh")
def test_the_metric_is_the_cosine_and_a_blank_text_scores_zero(xlmr: str) -> None:
    metric = make("cosine", checkpoint=xlmr)
    vectors = SentenceEncoder(xlmr).encode(TEXTS)
    expected = [cosine(vectors[each.hypothesis], vectors[each.source]) for each in INPUTS]
    np.testing.assert_allclose(metric.score(INPUTS)[:, 0], expected, rtol=0, atol=1e-5)
    blank = [SegmentInput("", OUTPUTS[0], ()), SegmentInput(" ", "", ())]
    assert (metric.score(blank) == 0).all()
    odd = [SegmentInput(text, OUTPUTS[0], ()) for text in ("?!", "a", LONG, "👩‍👩‍👧")]
    assert np.isfinite(metric.score(odd)).all()
    same = metric.score([SegmentInput(OUTPUTS[0], OUTPUTS[0], ())])
    assert same == pytest.approx(1)


def save_mapping(encoder: str, folder: Path, array: np.ndarray, **changes: object) -> str:
    """A mapping for the last layer of an encoder, Chinese to English."""
    found = encoders.get(encoder)
    fields = {
        "kind": "clp", "encoder": encoder, "fingerprint": mapping.fingerprint(found.model),
        "layer": found.n_layers - 1, "source_language": "zh", "target_language": "en",
        "n_pairs": 4, "data_hash": "0",
    }  # fmt: skip
    Mapping(About(**(fields | changes)), array).save(folder)
    return str(folder)


@pytest.mark.usefixtures("fresh")
def test_sources_are_mapped_and_outputs_are_not(xlmr: str, tmp_path: Path) -> None:
    matrix = np.linalg.qr(np.random.default_rng(4).standard_normal((32, 32)))[0]
    folder = save_mapping(xlmr, tmp_path / "clp", matrix)
    metric = make("cosine", checkpoint=xlmr, mapping=folder)
    vectors = SentenceEncoder(xlmr).encode(TEXTS)
    expected = [cosine(vectors[each.source] @ matrix, vectors[each.hypothesis]) for each in INPUTS]
    np.testing.assert_allclose(metric.score(INPUTS)[:, 0], expected, rtol=0, atol=1e-5)
    assert (metric.score([SegmentInput("", OUTPUTS[0], ())]) == 0).all()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("changes", "width", "code", "facts"),
    [
        ({"layer": 1}, 32, "other-layer", {"fitted": 1, "layer": 3}),
        ({"target_language": "de"}, 32, "other-direction", {"fitted": "zh-de", "used": "zh-en"}),
        ({"fingerprint": "0"}, 32, "other-encoder", {}),
        ({}, 16, "width", {"fitted": 16, "width": 32}),
    ],
)
def test_a_mapping_for_something_else_is_refused(
    xlmr: str,
    tmp_path: Path,
    changes: dict[str, object],
    width: int,
    code: str,
    facts: dict[str, Any],
) -> None:
    folder = save_mapping(xlmr, tmp_path / "clp", np.eye(width), **changes)
    with refused(f"mapping.{code}", kind=MetricError, **facts) as caught:
        make("cosine", checkpoint=xlmr, mapping=folder)
    assert caught.value.permanent


def test_a_mapping_maps_sources_only(tmp_path: Path) -> None:
    with refused(
        "option.problem", kind=ValueError, option="mapping", problem="cosine.mapping-of-sources"
    ):
        make("cosine", checkpoint="any", mapping=str(tmp_path), compare="reference")


@pytest.mark.usefixtures("fresh")
def test_a_language_model_is_added_with_its_weight(xlmr: str, tmp_path: Path) -> None:
    folder = tmp_path / "gpt2"
    roberta(folder, TEXTS)  # its byte pairs are those of GPT-2
    files = str(folder / "vocab.json"), str(folder / "merges.txt")
    tokenizer = GPT2Tokenizer(*files)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(3)
    sizes = {"n_positions": 64, "n_embd": 32, "n_layer": 1, "n_head": 2}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **sizes)).eval()
    model.save_pretrained(folder)
    metric = make("cosine", checkpoint=xlmr, language_model=str(folder), lm_weight=0.5)
    rows = metric.score([SegmentInput(SOURCES[0], text, ()) for text in OUTPUTS])
    alone = make("cosine", checkpoint=xlmr)
    np.testing.assert_allclose(
        rows[:, :1],
        alone.score([SegmentInput(SOURCES[0], text, ()) for text in OUTPUTS]),
        rtol=0,
        atol=1e-5,
    )
    for text, (value, coupled, term) in zip(OUTPUTS, rows, strict=True):
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        with torch.no_grad():
            loss = float(model(ids, labels=ids).loss)
        if ids.shape[1] == 1:  # nothing to predict: as if pieces were drawn blindly
            loss = np.log(len(tokenizer))
        assert term == pytest.approx(-loss, abs=1e-5)
        assert coupled == pytest.approx(value + 0.5 * term)
    assert metric.info.table_measures == ("small-lm",)
