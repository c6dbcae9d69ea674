"""Vectors of texts: equal to the encoder's own, computed once, to the layer needed and no more."""

from pathlib import Path

import pytest
import torch
from transformers import BertModel, BertTokenizer

from benchmarks.gpu import small
from extensions.neural.encoding import encoders, token_vectors

TEXTS = ["the cat sat", "a dog", "", "the cat sat"]


@pytest.fixture
def encoder(tmp_path: Path) -> encoders.Encoder:
    token_vectors.forget()
    encoders.forget()
    return encoders.get(str(small.bert(tmp_path / "bert", TEXTS)))


def test_vectors_are_those_of_the_model(encoder, tmp_path):
    found = token_vectors.embed(encoder, TEXTS, [1, 2])
    model = BertModel.from_pretrained(encoder.spec.checkpoint).eval()
    tokenizer = BertTokenizer.from_pretrained(encoder.spec.checkpoint)
    for text in TEXTS:
        with torch.inference_mode():
            states = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        for layer in (1, 2):
            expected = states.hidden_states[layer][0]
            torch.testing.assert_close(found[text].states[layer], expected, atol=1e-5, rtol=0)
    assert found["a dog"].pieces[0] == "[CLS]"
    assert found["a dog"].is_special == (True, *(False,) * (len(found["a dog"].ids) - 2), True)


def test_a_text_is_encoded_once_for_all_who_ask(encoder, monkeypatch):
    seen: list[int] = []
    original = encoders.Encoder.pad
    monkeypatch.setattr(
        encoders.Encoder,
        "pad",
        lambda self, ids: (seen.append(len(ids)), original(self, ids))[1],
    )
    token_vectors.embed(encoder, TEXTS, [1])
    token_vectors.embed(encoder, TEXTS, [1])
    token_vectors.embed(encoder, ["a dog", "new"], [1])
    assert sum(seen) == 3 + 1


def test_layers_above_are_not_computed(encoder, monkeypatch):
    whole = token_vectors.embed(encoder, ["the cat"], [1, 2])["the cat"].states[1]
    token_vectors.forget()
    ran: list[int] = []
    for number, layer in enumerate(encoder.model.encoder.layer, start=1):
        layer.register_forward_hook(lambda *_, number=number: ran.append(number))
    found = token_vectors.embed(encoder, ["the cat"], [1])["the cat"].states[1]
    assert ran == [1]
    assert len(encoder.model.encoder.layer) == encoder.n_layers - 1
    torch.testing.assert_close(found, whole)


def test_memory_has_a_limit():
    cache = token_vectors._VectorCache(3000)
    spec = encoders.EncoderSpec("x", "float32", "cpu")
    for number in range(5):
        cache.keep((spec, 1, str(number)), torch.zeros(10, 25))  # 1,000 bytes each
    assert cache.size == 3000
    assert [text for _, _, text in cache.vectors] == ["2", "3", "4"]


@pytest.mark.parametrize("layers", [[], [-1], [99]])
def test_layers_that_are_not_there(encoder, layers):
    with pytest.raises(ValueError, match="layers"):
        token_vectors.embed(encoder, ["a"], layers)


def test_groups_of_texts_hold_little_padding():
    random = torch.Generator().manual_seed(2)
    lengths = torch.randint(1, 200, (300,), generator=random).tolist()
    texts = [tuple(range(length)) for length in lengths]
    groups = list(token_vectors.alike(texts))
    assert sorted(len(text) for group in groups for text in group) == sorted(lengths)
    for group in groups:
        assert len(group) * max(map(len, group)) <= 1.2 * sum(map(len, group))
    assert len(groups) < 25
    assert list(token_vectors.alike([])) == []
