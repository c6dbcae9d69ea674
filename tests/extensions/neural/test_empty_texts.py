"""Empty texts under encoders whose begin and end are not BERT's: the worst score, with a warning.

Other texts keep the scores of bert-score, to which T5's end and NLLB's language are words.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from bert_score import BERTScorer
from transformers import (
    M2M100Config,
    M2M100Model,
    MBart50Tokenizer,
    MBartConfig,
    MBartModel,
    NllbTokenizer,
    T5Config,
    T5Model,
)

from benchmarks.gpu import small
from metrics.base import MetricWarning, SegmentInput
from tests.extensions.neural.reference_free import OUTPUTS, REFERENCES, SOURCES, TEXTS, make

SIZES = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 1, "encoder_attention_heads": 2,
         "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}  # fmt: skip
KINDS = ["t5", "nllb", "mbart", "gpt2"]
BLANKS = ["", " \u3000"]


def t5(folder: Path) -> None:
    """The end alone, which is not the tokenizer's ``sep``."""
    small.mt5_tokenizer(folder, TEXTS * 4)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_heads": 2, "num_layers": 2}
    T5Model(T5Config(vocab_size=300, **sizes)).save_pretrained(folder)


def nllb(folder: Path) -> None:
    """The language first, then the text, then the end."""
    pieces = small.mt5_tokenizer(folder, TEXTS * 4) / "spiece.model"
    tokenizer = NllbTokenizer(str(pieces), src_lang="eng_Latn")
    tokenizer.save_pretrained(folder)
    M2M100Model(M2M100Config(vocab_size=len(tokenizer) + 5, **SIZES)).save_pretrained(folder)


def mbart(folder: Path) -> None:
    """As NLLB, with other languages."""
    pieces = small.mt5_tokenizer(folder, TEXTS * 4) / "spiece.model"
    tokenizer = MBart50Tokenizer(str(pieces), src_lang="en_XX")
    tokenizer.save_pretrained(folder)
    MBartModel(MBartConfig(vocab_size=len(tokenizer) + 5, **SIZES)).save_pretrained(folder)


def gpt2(folder: Path) -> None:
    """Nothing around a text."""
    small.gpt2(folder, TEXTS * 4)


@pytest.fixture(scope="module", params=KINDS)
def checkpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An encoder of each kind."""
    folder = tmp_path_factory.mktemp("models") / str(request.param)
    torch.manual_seed(6)
    globals()[request.param](folder)
    return str(folder)


def pairs(text: str) -> list[SegmentInput]:
    """An empty text on either side, on both, and on none."""
    sides = [(OUTPUTS[0], text), (text, OUTPUTS[0]), (text, text), (REFERENCES[0], OUTPUTS[0])]
    return [SegmentInput(other, output, (other,)) for other, output in sides]


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("text", BLANKS)
@pytest.mark.parametrize("family", ["bertscore", "xbertscore", "yisi"])
def test_similarities_are_zero(checkpoint: str, family: str, text: str) -> None:
    *empty, real = make(family, checkpoint=checkpoint, layer=1).score(pairs(text))
    assert (np.array(empty) == 0).all()
    assert (real != 0).all()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("family", "options", "worst"),
    [("moverscore", {}, 1 / 3), ("xmoverscore", {"layer": 1, "definition": "paper"}, -1)],
)
def test_transport_is_as_far_as_can_be(
    checkpoint: str, family: str, options: dict[str, Any], worst: float
) -> None:
    """1 / (1 + 2) and 1 - 2: no vectors of length one are farther apart than 2."""
    metric = make(family, checkpoint=checkpoint, **options)
    with pytest.warns(MetricWarning, match="3 pairs have an empty text"):
        *empty, real = metric.score(pairs(""))
    np.testing.assert_allclose(empty, worst)
    assert (real > worst).all()


@pytest.mark.usefixtures("fresh")
def test_sentsim_gives_the_largest_distance(checkpoint: str) -> None:
    metric = make("sentsim", checkpoint=checkpoint, encoder=checkpoint, layer=1)
    *empty, real = metric.score(pairs(""))
    assert (np.array(empty)[:, :2] == 0).all()
    assert (np.array(empty)[:, 2:] < real[2:4]).all()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("kind", ["nllb", "mbart"])
def test_other_texts_are_scored_as_bert_score_does(kind: str, tmp_path: Path) -> None:
    globals()[kind](tmp_path / kind)
    peer = BERTScorer(model_type=str(tmp_path / kind), num_layers=2, device="cpu")
    inputs = [
        SegmentInput("", *pair) for pair in zip(OUTPUTS, zip(REFERENCES, strict=True), strict=True)
    ]
    theirs = [
        torch.cat(peer.score([each.hypothesis], [each.references[0]])).numpy() for each in inputs
    ]
    options = {"checkpoint": str(tmp_path / kind), "layer": 2}
    ours = make("xbertscore", **options, compare="reference").score(inputs)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    all_layers = make("bertscore", **options).score(inputs)
    np.testing.assert_allclose(all_layers[:, 6:], theirs, atol=1e-5)


@pytest.mark.usefixtures("fresh")
def test_what_has_no_piece_is_empty(tmp_path: Path) -> None:
    """NLLB's SentencePiece drops an invisible character."""
    nllb(tmp_path / "nllb")
    row = make("xbertscore", checkpoint=str(tmp_path / "nllb"), layer=1).score(
        [SegmentInput(SOURCES[0], "\u200b", ())]
    )
    assert (row == 0).all()
