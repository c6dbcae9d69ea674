"""LASER2 from a small checkpoint in the published format, against an LSTM written out in numpy."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import torch

from extensions.neural.laser import normalize
from extensions.neural.sentence_vectors import SentenceEncoder, cosine
from metrics.base import MetricError, SegmentInput
from metrics.checkpoints import places
from metrics.stock import inventory
from tests.extensions.neural.reference_free import INPUTS, SOURCES, TEXTS, make
from tests.refusals import refused

PARAMS = {
    "num_embeddings": 60,
    "padding_idx": 1,
    "embed_dim": 6,
    "hidden_size": 4,
    "num_layers": 5,
    "bidirectional": True,
    "left_pad": True,
    "padding_value": 0.0,
}


def save(folder: Path, **changes: Any) -> str:
    """Write ``laser2.pt`` and ``laser2.spm`` as they are published, with random weights."""
    folder.mkdir()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(normalize(text) for text in TEXTS * 20),
        model_prefix=str(folder / "laser2"),
        vocab_size=56,
        character_coverage=0.98,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (folder / "laser2.model").rename(folder / "laser2.spm")
    (folder / "laser2.vocab").unlink()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "laser2.spm"))
    names = [pieces.id_to_piece(number) for number in range(3, pieces.get_piece_size())]
    names = [each for each in names if each not in ("<s>", "</s>", "<unk>")][:56]
    torch.manual_seed(3)
    embedding = torch.nn.Embedding(60, 6, 1)
    lstm = torch.nn.LSTM(6, 4, num_layers=5, bidirectional=True)
    for weights in lstm.parameters():
        torch.nn.init.normal_(weights, std=0.8)
    state = {f"embed_tokens.{name}": each for name, each in embedding.state_dict().items()}
    state |= {f"lstm.{name}": each for name, each in lstm.state_dict().items()}
    stored = {
        "params": PARAMS,
        "model": state,
        "dictionary": {name: number for number, name in enumerate(names, start=4)},
    }
    torch.save(stored | changes, folder / "laser2.pt")
    return str(folder)


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def plain(folder: str, text: str) -> np.ndarray:
    """Return the vector of a text: the equations of an LSTM, one token and direction at a time."""
    stored = torch.load(Path(folder) / "laser2.pt", weights_only=True)
    weights = {name: each.double().numpy() for name, each in stored["model"].items()}
    model = sentencepiece.SentencePieceProcessor(model_file=str(Path(folder) / "laser2.spm"))
    pieces = model.encode(normalize(text), out_type=str)
    ids = [*(stored["dictionary"].get(piece, 3) for piece in pieces), 2]
    states = weights["embed_tokens.weight"][ids]
    for layer in range(5):
        sides = []
        for suffix in ("", "_reverse"):
            own = {
                name: weights[f"lstm.{name}_l{layer}{suffix}"]
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            }
            hidden, cell, rows = np.zeros(4), np.zeros(4), []
            for state in states[::-1] if suffix else states:
                gates = own["weight_ih"] @ state + own["bias_ih"]
                gates = gates + own["weight_hh"] @ hidden + own["bias_hh"]
                enter, forget, new, out = np.split(gates, 4)
                cell = sigmoid(forget) * cell + sigmoid(enter) * np.tanh(new)
                hidden = sigmoid(out) * np.tanh(cell)
                rows.append(hidden)
            sides.append(np.array(rows[::-1] if suffix else rows))
        states = np.hstack(sides)
    return states.max(axis=0)


@pytest.mark.usefixtures("fresh")
def test_vectors_are_those_of_the_equations(tmp_path: Path) -> None:
    """Also of texts that share a batch with longer ones, and of unknown letters."""
    folder = save(tmp_path / "laser")
    texts = [*TEXTS, "A", "harbour " * 60, "ჟურნალი ☃", "“It’s”, he said — ( fine )"]
    random.Random(1).shuffle(texts)
    found = SentenceEncoder(folder).encode([*texts, " "])
    expected = [plain(folder, text) for text in texts]
    np.testing.assert_allclose([found[text] for text in texts], expected, atol=1e-5)
    assert (found[" "] == 0).all()


@pytest.mark.usefixtures("fresh")
def test_cosine_takes_it(tmp_path: Path) -> None:
    folder = save(tmp_path / "laser")
    metric = make("cosine", checkpoint=folder)
    values = metric.score([*INPUTS, SegmentInput(SOURCES[0], "", ())])[:, 0]
    expected = [cosine(plain(folder, s.source), plain(folder, s.hypothesis)) for s in INPUTS]
    np.testing.assert_allclose(values, [*expected, 0], atol=1e-5)
    with (tmp_path / "laser" / "laser2.spm").open("ab") as file:
        file.write(b"\n")
    assert places.fingerprint(folder) not in metric.signature()


def test_the_folder_is_listed_as_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "laser2")
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(tmp_path))
    assert "laser2" in inventory.names_here()


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("« Ja » (so ) :", '" ja " (so):'),
        ("It’s “fine”, he said —„gut‚ ´´x``", 'it\'s "fine," he said - "gut\' "x "'),
        ("1\u00a0000 nº\u00a05… (a) .", "1.000 nº 5... (a)."),
    ],
)
def test_punctuation_is_that_of_sacremoses(text: str, normalized: str) -> None:
    """Values of sacremoses 0.2.0, in lower case."""
    assert normalize(text) == normalized


@pytest.mark.usefixtures("fresh")
def test_what_is_no_laser_is_refused(tmp_path: Path) -> None:
    without = save(tmp_path / "without")
    (tmp_path / "without" / "laser2.spm").unlink()
    smaller = save(tmp_path / "smaller", params=PARAMS | {"num_layers": 4})
    # An object of a class, as in LASER3's files, is never made.
    other = save(tmp_path / "other", params=Path("x"))
    for folder in (without, smaller, other):
        with refused("laser.not-loaded", kind=MetricError):
            SentenceEncoder(folder)
    with refused("laser.precision", kind=MetricError):
        SentenceEncoder(save(tmp_path / "whole"), "bfloat16")
