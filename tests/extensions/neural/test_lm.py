"""The language model's term against the literal check and transformers' own loss."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import GPT2LMHeadModel, GPT2Tokenizer

from benchmarks.gpu import small
from extensions.neural import lm
from extensions.neural.encoding import encoders
from extensions.neural.mover.xmoverscore import couple
from metrics.base import MetricError
from tests.extensions.neural.mover.published import CHECKS
from tests.refusals import refused

TEXTS = [
    "The harbour was quiet all morning.",
    "quiet",
    "Ships left early; nobody saw them, they said, and nobody asked.",
    "港口整个上午都很安静。",
    "Nobody",
    "they said",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(small.gpt2_with_head(tmp_path_factory.mktemp("models") / "gpt2", TEXTS[:3] * 4))


@pytest.fixture
def model(folder: str) -> lm.LanguageModel:
    encoders.forget()
    return lm.get(folder)


def test_published_terms() -> None:
    inputs, expected = CHECKS["C5"]["inputs"], CHECKS["C5"]["expected"]
    nll = np.array([-np.mean(inputs["token_logprobs"])])
    count, similarity = np.array([inputs["n_tokens"]]), np.array([[inputs["similarity"]]])
    assert np.exp(nll[0]) == pytest.approx(expected["perplexity"], abs=1e-5)
    for form, version in (("log-probability", "v1"), ("probability", "v2")):
        term = lm.term(nll, count, form)
        assert term[0] == pytest.approx(expected[version], abs=1e-6)
        coupled = couple(similarity, term[:, None], *inputs["weights"])
        assert coupled[0, 0] == pytest.approx(expected[f"combined_{version}"], abs=1e-6)


def test_equal_to_the_loss_of_transformers(model: lm.LanguageModel, folder: str) -> None:
    nll, counts = model.read(TEXTS)
    official = GPT2LMHeadModel.from_pretrained(folder).eval()
    tokenizer = GPT2Tokenizer.from_pretrained(folder)
    for text, value, count in zip(TEXTS, nll, counts, strict=True):
        ids = torch.tensor([tokenizer.encode(text)[:48]])
        assert count == ids.shape[1]
        if count < 2:
            continue
        with torch.inference_mode():
            expected = float(official(ids, labels=ids).loss)
        assert value == pytest.approx(expected, abs=1e-4)


def test_values_do_not_depend_on_the_batch(model: lm.LanguageModel, folder: str) -> None:
    together, _ = model.read(TEXTS)
    encoders.forget()
    again = lm.get(folder)
    again.budget = 1
    np.testing.assert_allclose(again.read(TEXTS)[0], together, atol=1e-5)


@pytest.mark.parametrize("text", ["", "  ", "q"])
def test_nothing_to_predict_is_never_the_best(model: lm.LanguageModel, text: str) -> None:
    nll, counts = model.read([text])
    assert nll[0] == pytest.approx(math.log(model.vocabulary_size))
    assert counts[0] == len(text.strip())
    # Anything that the model predicts better than blindly scores higher, whatever its length.
    better, many = np.array([nll[0] - 0.01]), np.array([2])
    for form in ("log-probability", "probability"):
        assert lm.term(nll, counts, form)[0] < lm.term(better, many, form)[0]


def test_probability_of_an_empty_text_is_that_of_a_blind_draw(model: lm.LanguageModel) -> None:
    term = lm.term(*model.read([""]), "probability")
    assert term[0] == pytest.approx(1 / model.vocabulary_size)


def test_long_texts_are_cut(model: lm.LanguageModel) -> None:
    nll, counts = model.read(["harbour " * 2_000])
    assert counts.tolist() == [48]
    assert np.isfinite(nll).all()


def test_each_distinct_text_is_read_once(model: lm.LanguageModel) -> None:
    seen: list[int] = []
    model.model.register_forward_hook(lambda _, inputs, __: seen.append(len(inputs[0])))
    model.read([*TEXTS, *TEXTS])
    model.read(TEXTS)
    assert sum(seen) == len(TEXTS) - 1  # one is a single piece: there is nothing to predict


def test_no_more_is_kept_than_allowed(
    model: lm.LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lm, "KEPT", 2)
    expected, _ = model.read(TEXTS)
    assert len(model._known) == 2
    np.testing.assert_allclose(model.read(TEXTS)[0], expected, atol=1e-5)


def test_an_encoder_is_no_language_model(tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "bert", TEXTS)
    with refused("lm.not-loaded", kind=MetricError, error="lm.weights-missing") as caught:
        lm.get(str(folder))
    assert caught.value.message.code == "lm.not-loaded"


def test_a_tokenizer_with_more_pieces_than_embeddings(tmp_path: Path) -> None:
    folder = small.gpt2_with_head(tmp_path / "gpt2", TEXTS[:3] * 4)
    model = GPT2LMHeadModel.from_pretrained(folder)
    model.resize_token_embeddings(100)
    model.save_pretrained(folder)
    with pytest.raises(MetricError) as caught:
        lm.get(str(folder))
    assert caught.value.message.code == "checkpoint.tokenizer-of-other-model"
    assert caught.value.message.parameters["rows"] == 100


def test_one_that_its_hashes_do_not_vouch_for_is_refused(tmp_path: Path) -> None:
    folder = small.gpt2_with_head(tmp_path / "gpt2", TEXTS[:3] * 4)
    (folder / "SHA256SUMS").write_text(f"{'0' * 64}  model.safetensors\n")
    with pytest.raises(MetricError) as caught:
        lm.get(str(folder))
    assert caught.value.message.code == "checkpoint.damaged"


def test_a_missing_model_says_how_to_get_it() -> None:
    with refused("checkpoint.missing", kind=MetricError, checkpoint="gpt2") as caught:
        lm.get("gpt2")
    assert caught.value.permanent
