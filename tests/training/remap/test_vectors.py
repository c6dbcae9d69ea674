"""Vectors of words: the encoder's own states of the whole sentence, averaged by word."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from benchmarks.gpu import small
from extensions.neural.encoding import encoders
from training.remap import vectors

TEXTS = ["The harbour was quiet all morning.", "港口很安静。"]
WORDS = ("The", "harbour", "was", "quiet", ".")


@pytest.fixture(params=["bert", "xlm_roberta"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    make = getattr(small, request.param)
    return Path(make(tmp_path / "encoder", TEXTS * 3))


def test_a_word_is_the_mean_of_its_pieces(folder: Path) -> None:
    """By transformers alone: one sentence, its words split by the tokenizer's own call."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    read = tokenizer(list(WORDS), is_split_into_words=True, return_tensors="pt")
    model = AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        states = model(**read, output_hidden_states=True).hidden_states[1][0]
    expected = [
        states[[n for n, word in enumerate(read.word_ids()) if word == k]].mean(0)
        for k in range(len(WORDS))
    ]
    found = vectors.encode(encoders.get(str(folder)), [WORDS, ("quiet",)], 1)
    np.testing.assert_allclose(found[WORDS], torch.stack(expected).numpy(), atol=1e-5)


def test_each_sentence_is_encoded_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, rows = encoders.get(str(folder)), []
    inner = encoder.hidden_states
    monkeypatch.setattr(encoder, "hidden_states", lambda ids: rows.extend(ids) or inner(ids))
    vectors.encode(encoder, [WORDS, WORDS, ("quiet",)], 1)
    assert len(rows) == 2


def test_long_sentences_are_left_out(tmp_path: Path) -> None:
    """At 175 pieces, special ones included, a sentence is still read."""
    encoder = encoders.get(str(small.bert(tmp_path / "b", TEXTS, positions=512)))
    fits, too_long = ("quiet",) * 60, ("quiet",) * 500
    assert set(vectors.encode(encoder, [fits, too_long], 1)) == {fits}
