"""Sentinels against a literal computation from their weights."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import XLMRobertaConfig, XLMRobertaModel, XLMRobertaTokenizerFast

from benchmarks.gpu import small
from extensions.neural.checkpoints.comet import Comet
from extensions.neural.encoding import encoders
from metrics import options, registry
from metrics.base import MetricError, SegmentInput
from tests.extensions.neural.checkpoints.test_bertscore import TEXTS
from tests.refusals import refused

SIDES = {"output": "mt", "source": "src", "reference": "ref"}
INPUTS = [SegmentInput(TEXTS[n % 5], TEXTS[n], (TEXTS[8 - n],)) for n in range(9)]
INPUTS.append(SegmentInput("harbour " * 200, "", ("harbour " * 200,)))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.xlm_roberta(tmp_path_factory.mktemp("encoders") / "xlmr", TEXTS * 4)


@pytest.fixture(autouse=True)
def _no_resident_models() -> None:
    encoders.forget()


def make(checkpoint: Path, reads: str) -> Comet:
    family = registry.get_family("sentinel")
    chosen = options.clean(family, {"checkpoint": str(checkpoint), "reads": reads})
    info = family.describe("small", "Small", chosen)
    return Comet(info, source_language="zh", target_language="en")


def published(folder: Path, encoder: Path, text: str) -> float:
    """The last layer's first vector, 512 tokens at most (here 62), through the head."""
    weights = torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)["state_dict"]
    config = XLMRobertaConfig.from_pretrained(encoder)
    model = XLMRobertaModel(config, add_pooling_layer=False).eval()
    prefix = "encoder.model."
    own = {key.removeprefix(prefix): each for key, each in weights.items() if prefix in key}
    model.load_state_dict(own)
    tokenizer = XLMRobertaTokenizerFast.from_pretrained(encoder)
    tokens = tokenizer(text, return_tensors="pt", truncation=True)
    with torch.no_grad():
        state = model(**tokens).last_hidden_state[0, 0]
        for place in ("0", "3", "6"):
            layer = [weights[f"estimator.ff.{place}.{name}"] for name in ("weight", "bias")]
            state = layer[0] @ state + layer[1]
            state = state if place == "6" else torch.tanh(state)
    return float(state)


@pytest.mark.parametrize("reads", SIDES)
def test_equal_to_the_published_definition(encoder: Path, tmp_path: Path, reads: str) -> None:
    folder = small.sentinel(tmp_path / "model", encoder, SIDES[reads])
    metric = make(folder, reads)
    texts = {
        "output": [each.hypothesis for each in INPUTS],
        "source": [each.source for each in INPUTS],
        "reference": [each.references[0] for each in INPUTS],
    }[reads]
    ours = metric.score(INPUTS)[:, 0]
    assert np.ptp(ours) > 1e-3
    np.testing.assert_allclose(
        ours, [published(folder, encoder, text) for text in texts], atol=1e-5
    )
    assert metric.n_encoded == len(set(texts))


@pytest.mark.parametrize("reads", ["output", "source"])
def test_it_needs_no_more_than_it_reads(encoder: Path, tmp_path: Path, reads: str) -> None:
    metric = make(small.sentinel(tmp_path / "model", encoder, SIDES[reads]), reads)
    bare = [SegmentInput(each.source, each.hypothesis, ()) for each in INPUTS]
    np.testing.assert_array_equal(metric.score(bare), metric.score(INPUTS))


def test_a_checkpoint_that_reads_another_text(encoder: Path, tmp_path: Path) -> None:
    folder = small.sentinel(tmp_path / "model", encoder, "src")
    with refused("sentinel.other-side", kind=MetricError, choice="source"):
        make(folder, "output")


def test_weights_that_are_not_there_are_not_made_up(encoder: Path, tmp_path: Path) -> None:
    folder = small.sentinel(tmp_path / "model", encoder)
    weights = folder / "checkpoints" / "model.ckpt"
    document = torch.load(weights, weights_only=True)
    del document["state_dict"]["estimator.ff.6.bias"]
    torch.save(document, weights)
    with refused("checkpoint.weights-missing", kind=MetricError, count=1):
        make(folder, "output")
